"""Analysis of texts and queries into terms, version 3 of the analyzer.

* A text is normalized before its words are cut: compatibility forms, invisible characters, hyphens and apostrophes,
  Markdown's escapes, character entities and simple inline tags.
* Words are stemmed in the language of the text, those of a query in several, because its own is unknown.
* Unspaced scripts become overlapping pairs of characters, besides single Han and Hangul characters.
* A chain (`RULE-A002`, `python:3.11-slim`, `process.env.NODE_ENV`) is indexed by its pieces and its runs of pieces; a
  query's code is searched for as a whole, so that no other is found by a part.
* A number beside its unit or its name is indexed as if it were joined to it: `16 GB`, `Python 3.11`.
"""

from __future__ import annotations

from knowledge.search.excerpts import EXCERPT_CHARS, Excerpt, extract_readable_excerpt
from knowledge.search.words.query import analyze_query
from knowledge.search.words.text import analyze_text, find_words

__all__ = ["analyze_query", "analyze_text", "extract_excerpt"]


def extract_excerpt(text: str, terms: frozenset[str], limit: int = EXCERPT_CHARS) -> Excerpt:
    """Choose the excerpt of a passage by its words as this version finds them."""
    return extract_readable_excerpt(text, terms, limit, find_words)
