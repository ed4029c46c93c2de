"""Ranked search: text analysis, retrieval from each scope, BM25 over all of them, fusion, excerpts."""
