"""The publisher: from files to searchable passages in the dataset."""
