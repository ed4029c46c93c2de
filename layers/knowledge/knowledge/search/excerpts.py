"""The part of a passage that is shown: an exact slice, centred on the evidence, cut between words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from knowledge.search.analysis import STEMMERS, token_terms, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knowledge.search.analysis import Token

EXCERPT_CHARS: Final = 600
"""Longest excerpt: enough to judge a hit by, short enough that 50 of them fit a model's context."""

_LANGUAGES: Final = tuple(STEMMERS)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`text` is the slice of the passage that begins at `offset`, in code points."""

    text: str
    offset: int


def excerpt(text: str, terms: frozenset[str], limit: int = EXCERPT_CHARS) -> Excerpt:
    """Choose the window of at most `limit` characters with the most distinct evidence, earliest on a tie."""
    if len(text) <= limit:
        return _trimmed(text, 0, len(text))
    words = list(tokens(text))
    start, end = _centred(_evidence(words, terms), len(text), limit)
    return _trimmed(text, *_between_words(words, start, end))


@dataclass(frozen=True, slots=True)
class _Evidence:
    start: int
    end: int
    terms: frozenset[str]


def _evidence(words: Sequence[Token], terms: frozenset[str]) -> list[_Evidence]:
    found = ((word, token_terms(word, _LANGUAGES)) for word in words)
    return [
        _Evidence(word.start, word.end, terms.intersection(its)) for word, its in found if not terms.isdisjoint(its)
    ]


def _centred(evidence: Sequence[_Evidence], length: int, limit: int) -> tuple[int, int]:
    if not evidence:
        return 0, limit
    first, last = _densest(evidence, limit)
    middle = (evidence[first].start + evidence[last].end) // 2
    start = min(max(0, middle - limit // 2), length - limit)
    return start, start + limit


def _densest(evidence: Sequence[_Evidence], limit: int) -> tuple[int, int]:
    """First and last piece of the window that holds the most distinct terms, then the most pieces."""
    best, chosen, last = (0, 0), (0, 0), 0
    for first, piece in enumerate(evidence):
        last = max(first, last)
        while last + 1 < len(evidence) and evidence[last + 1].end - piece.start <= limit:
            last += 1
        held = evidence[first : last + 1]
        value = (len(frozenset().union(*(one.terms for one in held))), len(held))
        if value > best:
            best, chosen = value, (first, last)
    return chosen


def _between_words(words: Sequence[Token], start: int, end: int) -> tuple[int, int]:
    """Move both ends inwards off any word they cut; a word longer than the window is cut after all."""
    for word in words:
        if not word.unspaced and word.start < start < word.end:
            start = word.end if word.end < end else start
        if not word.unspaced and word.start < end < word.end:
            end = word.start if word.start > start else end
    return start, end


def _trimmed(text: str, start: int, end: int) -> Excerpt:
    part = text[start:end]
    kept = part.strip()
    offset = start + len(part) - len(part.lstrip()) if kept else start
    return Excerpt(kept, offset)
