"""The `knowledge` command: one module for each group of subcommands."""
