"""Where documents come from: files found, decoded, and read with their front matter."""
