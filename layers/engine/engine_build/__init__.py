"""Build the engine layer: install the locked packages for Lambda, delete what reading never uses, pack the rest."""
