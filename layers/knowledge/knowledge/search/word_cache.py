"""A cache of words and their terms, bounded in bytes: words of unknown texts may be of any length."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_CACHE_BYTES: Final = 8 * 1024 * 1024
"""What one cache may hold: about 25,000 words, more than most bases have. An analysis has five caches."""

_MAX_ENTRY_BYTES: Final = 2_048
"""A longer word is not worth a place: it hardly occurs again."""

_SLOT_BYTES: Final = 128
"""A dictionary's own bytes for an entry, at most, while it grows."""


class WordCache(dict[str, tuple[str, ...]]):
    """`cache[word]` computes what is missing; a full cache is emptied. Safe in threads that share it.

    A dictionary, because looking a word up is the innermost step of publishing: `lru_cache` takes twice as long and
    counts entries, `cachetools` takes ten times as long.
    """

    def __init__(self, compute: Callable[[str], tuple[str, ...]], max_bytes: int = MAX_CACHE_BYTES) -> None:
        super().__init__()
        self._compute = compute
        self._max_bytes = max_bytes
        self.bytes_held = 0

    def __missing__(self, word: str) -> tuple[str, ...]:
        terms = self._compute(word)
        size = _SLOT_BYTES + sum(map(sys.getsizeof, (word, terms, *terms)))
        if size > _MAX_ENTRY_BYTES:
            return terms
        if self.bytes_held + size > self._max_bytes:
            self.clear()
            self.bytes_held = 0
        self[word] = terms
        self.bytes_held += size
        return terms
