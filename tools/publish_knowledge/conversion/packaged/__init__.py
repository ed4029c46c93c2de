"""Formats that are packages of files in a ZIP archive: of Office, and books."""
