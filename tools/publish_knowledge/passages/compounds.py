"""German compounds: the words that a long word consists of, so that `Versicherung` finds `Krankenversicherung`.

Compounds are split in texts, when they are published, and not in queries: whoever searches for the whole word rarely
means its parts. A word is split where both parts are in a dictionary; of several splits the one with the longest
shorter part counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from knowledge.search.word_cache import WordCache

LANGUAGE: Final = "de"

_SHORTEST_PART: Final = 4
"""Shorter ones are more often endings than words."""

_SHORTEST_WORD: Final = 2 * _SHORTEST_PART
_LONGEST_WORD: Final = 100
"""Longer ones are no words: looking for their parts takes the square of their length. German's longest have 80."""

_LINKS: Final = ("s", "es", "n", "en", "er", "e", "")
"""Linking elements between two parts; the empty one comes last, so that `Urlaubsantrag` yields `Urlaub`."""

_ENDINGS: Final = frozenset({"schaft", "schaften", "heit", "heiten", "keit", "keiten", "haft", "mals", "weise"})
"""Words of the dictionary that are suffixes at the end of another word."""

_CACHED_WORDS: Final = 65_536
"""More than the distinct words of most texts; words repeat, and each look-up asks the dictionary several times."""


def split_compound(word: str) -> tuple[str, ...]:
    """The two words that a German compound consists of, in lower case; empty for any other word."""
    return _SPLITS[word]


def _split(word: str) -> tuple[str, ...]:
    lowered = word.lower()
    if not _SHORTEST_WORD <= len(lowered) <= _LONGEST_WORD or not lowered.isalpha():
        return ()
    return max(_find_splits(lowered), key=lambda pair: min(map(len, pair)), default=())


def _find_splits(word: str) -> Iterator[tuple[str, str]]:
    for at in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
        head, tail = _strip_link(word[:at]), word[at:]
        if head and tail not in _ENDINGS and _is_word(tail):
            yield head, tail


def _strip_link(head: str) -> str:
    """The dictionary word that a head is, with or without a linking element; empty if it is none."""
    stripped = (head[: len(head) - len(link)] for link in _LINKS if head.endswith(link))
    return next((word for word in stripped if len(word) >= _SHORTEST_PART and _is_word(word)), "")


@lru_cache(maxsize=_CACHED_WORDS)
def _is_word(word: str) -> bool:
    from simplemma import is_known  # noqa: PLC0415 - its dictionary takes seconds to read, and only German needs it

    return is_known(word, LANGUAGE) or is_known(word.capitalize(), LANGUAGE)


_SPLITS: Final = WordCache(_split)
