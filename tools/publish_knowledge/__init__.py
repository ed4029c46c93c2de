"""The publishing face: from files to searchable passages in the dataset."""
