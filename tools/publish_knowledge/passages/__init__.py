"""From a document's text to its passages and their terms."""
