"""Build the engine layer: install the locked packages for Lambda, leave out what a reader never uses, pack the rest."""
