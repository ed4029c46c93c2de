"""What the product promises, checked from outside: through events, the command line and the server's own log."""
