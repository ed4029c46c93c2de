"""Split what is written into commits of a bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

T = TypeVar("T")

COMMIT_ITEMS: Final = 200
COMMIT_CHARS: Final = 1_000_000
"""About 2,500 passages, which are written in half a second; an interruption loses at most that."""


def split_into_commits(items: Iterable[T], count_chars: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield lists of at most `COMMIT_ITEMS` items and `COMMIT_CHARS` characters, in order; a larger item is alone."""
    batch: list[T] = []
    chars = 0
    for item in items:
        size = count_chars(item)
        if batch and (len(batch) == COMMIT_ITEMS or chars + size > COMMIT_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(item)
        chars += size
    if batch:
        yield batch
