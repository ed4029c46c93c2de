"""Vectors for passages: cached, batched, by the fastest engine there is."""
