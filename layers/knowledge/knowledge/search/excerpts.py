"""Excerpts: an exact slice of a passage, centered on the words that match the query, cut between words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from knowledge.search.analysis import STEMMERS, token_terms, tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knowledge.search.analysis import Token

EXCERPT_CHARS: Final = 600
"""Longest excerpt: enough to judge a hit, short enough that 50 of them fit into a model's context."""

_LANGUAGES: Final = tuple(STEMMERS)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`text` is the slice of the passage that begins at `offset`, in code points."""

    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class _Match:
    """A word of the text, and those terms of the query that it has."""

    start: int
    end: int
    terms: frozenset[str]


def extract_excerpt(text: str, terms: frozenset[str], limit: int = EXCERPT_CHARS) -> Excerpt:
    """Choose the window of at most `limit` characters with the most distinct terms, earliest on a tie."""
    if len(text) <= limit:
        return _strip(text, 0, len(text))
    words = list(tokenize(text))
    start, end = _center(_find_matches(words, terms), len(text), limit)
    return _strip(text, *_move_off_words(words, start, end))


def _find_matches(words: Sequence[Token], terms: frozenset[str]) -> list[_Match]:
    found = ((word, token_terms(word, _LANGUAGES)) for word in words)
    return [_Match(word.start, word.end, terms.intersection(its)) for word, its in found if not terms.isdisjoint(its)]


def _center(matches: Sequence[_Match], length: int, limit: int) -> tuple[int, int]:
    if not matches:
        return 0, limit
    first, last = _find_densest(matches, limit)
    middle = (matches[first].start + matches[last].end) // 2
    start = min(max(0, middle - limit // 2), length - limit)
    return start, start + limit


def _find_densest(matches: Sequence[_Match], limit: int) -> tuple[int, int]:
    """First and last match in the window that holds the most distinct terms, then the most matches."""
    best, chosen, end = (0, 0), (0, 0), 0
    inside: Counter[str] = Counter()
    for first, match in enumerate(matches):
        # The first is inside even where it is longer than the window.
        while end <= first or (end < len(matches) and matches[end].end - match.start <= limit):
            inside.update(matches[end].terms)
            end += 1
        value = (len(inside), end - first)
        if value > best:
            best, chosen = value, (first, end - 1)
        inside.subtract(match.terms)
        for term in match.terms:
            if not inside[term]:
                del inside[term]
    return chosen


def _move_off_words(words: Sequence[Token], start: int, end: int) -> tuple[int, int]:
    """Move both ends inwards to word boundaries; a word longer than the window is cut."""
    for word in words:
        if not word.unspaced and word.start < start < word.end:
            start = word.end if word.end < end else start
        if not word.unspaced and word.start < end < word.end:
            end = word.start if word.start > start else end
    return start, end


def _strip(text: str, start: int, end: int) -> Excerpt:
    part = text[start:end]
    kept = part.strip()
    offset = start + len(part) - len(part.lstrip()) if kept else start
    return Excerpt(kept, offset)
