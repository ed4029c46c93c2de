"""German compounds: which words a long word is made of, so that `Versicherung` finds `Krankenversicherung`.

Only texts are split, when they are published; a query is not, because who asks for the whole rarely means its parts. A
word is split where both parts are in a dictionary, into the two that are most alike in length.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

LANGUAGE: Final = "de"

_SHORTEST_PART: Final = 4
"""Shorter ones are more often endings than words."""

_SHORTEST_WORD: Final = 2 * _SHORTEST_PART

_LINKS: Final = ("s", "es", "n", "en", "er", "e", "")
"""What may stand between two parts; the empty one comes last, so that `Urlaubsantrag` is made of `Urlaub`."""

_ENDINGS: Final = frozenset({"schaft", "schaften", "heit", "heiten", "keit", "keiten", "haft", "mals", "weise"})
"""Words of the dictionary that at the end of another are only endings."""


def none(_word: str) -> tuple[str, ...]:
    """No parts, for languages whose compounds are written apart."""
    return ()


@lru_cache(maxsize=65_536)
def parts(word: str) -> tuple[str, ...]:
    """The two words that a German compound is made of, in lower case; empty for any other word."""
    lowered = word.lower()
    if len(lowered) < _SHORTEST_WORD or not lowered.isalpha():
        return ()
    found = list(_splits(lowered))
    return max(found, key=lambda pair: min(map(len, pair))) if found else ()


def _splits(word: str) -> Iterator[tuple[str, str]]:
    for at in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
        head, tail = _without_link(word[:at]), word[at:]
        if head and tail not in _ENDINGS and _known(tail):
            yield head, tail


def _without_link(head: str) -> str:
    bare = (head[: len(head) - len(link)] for link in _LINKS if head.endswith(link))
    return next((word for word in bare if len(word) >= _SHORTEST_PART and _known(word)), "")


@lru_cache(maxsize=65_536)
def _known(word: str) -> bool:
    from simplemma import is_known  # noqa: PLC0415 - its dictionary takes seconds to read, and only German needs it

    return is_known(word, LANGUAGE) or is_known(word.capitalize(), LANGUAGE)
