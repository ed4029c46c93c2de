"""Compute passage vectors: cached, in batches, with the fastest engine installed."""
