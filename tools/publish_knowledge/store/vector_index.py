"""Which vector index a scope should have: none, one of the vectors as they are, or one of shortened vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from knowledge.store.schema import EXACT_INDEX, SHORT_INDEX

INDEX_FROM: Final = 2_000
"""Passages from which an index pays: it is kept in a warm process, the bare column is read at every query."""

PARTITION_ROWS: Final = 4_096
"""Passages in one partition. All are probed, so more partitions only make more reads."""

EXACT_BYTES: Final = 96 * 1024 * 1024
"""Vectors up to here are indexed as they are, and searches are exact: they fit a reader's cache beside all else.

More are shortened, and the best that a search finds among them are measured again by the whole vectors.
"""

SHORT_BITS: Final = 2
"""Of each number of a shortened vector, a sixteenth of a whole one. One alone loses more than refining finds again."""

_NUMBER_BYTES: Final = 2
_OUTGROWN: Final = 4
"""Partitions are rebuilt when there should be this many times more, so their number is a power of this."""


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """A vector index as its name tells it: in how many partitions, and whether of the vectors as they are."""

    partitions: int
    exact: bool

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{EXACT_INDEX if self.exact else SHORT_INDEX}{self.partitions}"

    def is_outgrown_by(self, wanted: VectorIndex) -> bool:
        """Whether one for more vectors is wanted; one for fewer never is."""
        return (wanted.partitions, not wanted.exact) > (self.partitions, not self.exact)


def parse_index_name(name: str) -> VectorIndex | None:
    """The index of that name; `None` where it is not one of these."""
    prefix = next((each for each in (EXACT_INDEX, SHORT_INDEX) if name.startswith(each)), None)
    return VectorIndex(int(name.removeprefix(prefix)), prefix == EXACT_INDEX) if prefix else None


def choose_index(passages: int, dimensions: int) -> VectorIndex | None:
    """The index for so many vectors; `None` where none pays."""
    if passages < INDEX_FROM:
        return None
    partitions = 1
    while partitions * _OUTGROWN * PARTITION_ROWS <= passages:
        partitions *= _OUTGROWN
    return VectorIndex(partitions, exact=passages * dimensions * _NUMBER_BYTES <= EXACT_BYTES)
