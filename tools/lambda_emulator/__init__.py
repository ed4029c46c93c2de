"""Inspect what `sam build` made, and run it on this machine as Lambda would, without a cloud and without containers."""
