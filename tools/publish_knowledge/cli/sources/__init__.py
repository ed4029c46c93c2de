"""Commands that take sources of any kind: how they are opened, and `knowledge sync`."""
