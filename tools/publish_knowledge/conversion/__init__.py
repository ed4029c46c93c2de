"""Conversion of documents in other formats to Markdown, in processes with limits. Needs the extra `formats`."""
