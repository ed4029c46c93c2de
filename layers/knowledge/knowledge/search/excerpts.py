"""Excerpts: an exact slice of a passage, centered on the words that match the query, cut between words."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from knowledge.search.analysis import STEMMERS, token_terms, tokenize
from knowledge.search.unreadable import find_readable, find_unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    FindWords = Callable[[str], Sequence["FoundWord"]]

EXCERPT_CHARS: Final = 600
"""Longest excerpt: enough to judge a hit, short enough that 50 of them fit into a model's context."""

_LANGUAGES: Final = tuple(STEMMERS)
_LINE: Final = re.compile(r"[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`text` is the slice of the passage that begins at `offset`, in code points."""

    text: str
    offset: int


class FoundWord(NamedTuple):
    """A word of a text, at its exact range, with the terms under which it is found."""

    start: int
    end: int
    unspaced: bool
    terms: Iterable[str]


@dataclass(frozen=True, slots=True)
class _Match:
    """A word of the text, and those terms of the query that it has."""

    start: int
    end: int
    terms: frozenset[str]


def find_words(text: str) -> list[FoundWord]:
    """The words of a text by the first analysis, in order."""
    return [FoundWord(one.start, one.end, one.unspaced, token_terms(one, _LANGUAGES)) for one in tokenize(text)]


def extract_excerpt(
    text: str, terms: frozenset[str], limit: int = EXCERPT_CHARS, find: FindWords = find_words
) -> Excerpt:
    """Choose the window of at most `limit` characters with the most distinct terms, earliest on a tie."""
    if len(text) <= limit:
        return _strip(text, 0, len(text))
    words = find(text)
    start, end = _center(_find_matches(words, terms), len(text), limit)
    return _strip(text, *_move_off_words(words, start, end))


def extract_readable_excerpt(
    text: str, terms: frozenset[str], limit: int = EXCERPT_CHARS, find: FindWords = find_words
) -> Excerpt:
    """Choose as `extract_excerpt`, but show no unreadable run, and of a table whole rows; empty where nothing is read.

    Of several readable parts, the one with the most distinct terms is shown, the longest on a tie.
    """
    if not find_unreadable(text):
        return _extract_rows(text, terms, limit, find) or extract_excerpt(text, terms, limit, find)
    parts = find_readable(text)
    if not parts:
        return Excerpt("", 0)
    start, end = max(parts, key=lambda part: (_count_terms(text[slice(*part)], terms, find), part[1] - part[0]))
    own = text[start:end]
    chosen = _extract_rows(own, terms, limit, find) or extract_excerpt(own, terms, limit, find)
    return Excerpt(chosen.text, start + chosen.offset)


def _count_terms(text: str, terms: frozenset[str], find: FindWords) -> int:
    return len(frozenset().union(*(match.terms for match in _find_matches(find(text), terms))))


def _extract_rows(text: str, terms: frozenset[str], limit: int, find: FindWords) -> Excerpt | None:
    """The row of a table that has the most distinct terms, with whole rows around it; `None` where there is none."""
    rows = [match.span() for match in _LINE.finditer(text)]
    if len(text) <= limit or 2 * sum(_is_row(text[slice(*row)]) for row in rows) < len(rows):
        return None
    counts = [_count_terms(text[slice(*row)], terms, find) if _is_row(text[slice(*row)]) else 0 for row in rows]
    best = counts.index(max(counts))
    if not counts[best] or rows[best][1] - rows[best][0] > limit:
        return None
    first, last = _widen(rows, best, limit)
    return _strip(text, rows[first][0], rows[last][1])


def _is_row(line: str) -> bool:
    return line.count("|") > 1 or "<td" in line


def _widen(rows: Sequence[tuple[int, int]], best: int, limit: int) -> tuple[int, int]:
    """First and last of the rows around one that fit, as many before as after it where there are."""
    first = last = best
    while True:
        room = limit - (rows[last][1] - rows[first][0])
        before = first > 0 and rows[first][0] - rows[first - 1][0] <= room
        after = last + 1 < len(rows) and rows[last + 1][1] - rows[last][1] <= room
        if not before and not after:
            return first, last
        if before and (not after or best - first <= last - best):
            first -= 1
        else:
            last += 1


def _find_matches(words: Sequence[FoundWord], terms: frozenset[str]) -> list[_Match]:
    return [
        _Match(word.start, word.end, terms.intersection(word.terms))
        for word in words
        if not terms.isdisjoint(word.terms)
    ]


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
    inside: defaultdict[str, int] = defaultdict(int)
    for first, match in enumerate(matches):
        # The first is inside even where it is longer than the window.
        while end <= first or (end < len(matches) and matches[end].end - match.start <= limit):
            for term in matches[end].terms:
                inside[term] += 1
            end += 1
        value = (len(inside), end - first)
        if value > best:
            best, chosen = value, (first, end - 1)
        for term in match.terms:
            if inside[term] == 1:
                del inside[term]
            else:
                inside[term] -= 1
    return chosen


def _move_off_words(words: Sequence[FoundWord], start: int, end: int) -> tuple[int, int]:
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
