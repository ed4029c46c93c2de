"""Sources of documents: files are found, decoded, and read with their front matter."""
