"""Write access to a dataset: tables, rows, the marker, retries."""
