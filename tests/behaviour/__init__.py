"""Long tests of what the product promises, from outside: through events, commands and the log of the S3 server."""
