"""Choose a scope's vector index by its size: none, one of whole vectors, or one of quantized vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from knowledge.store.schema import EXACT_INDEX, SHORT_INDEX

INDEX_FROM: Final = 2_000
"""Passages from which an index pays: it is kept in a warm process, the bare column is read at every query."""

PARTITION_ROWS: Final = 4_096
"""Passages in one partition. All are probed, so more partitions only make more reads."""

EXACT_BYTES: Final = 96 * 1024 * 1024
"""Up to this size vectors are indexed whole, and searches are exact: they fit a reader's cache beside all else.

Above it they are quantized, and the best candidates of a search are scored again by the whole vectors.
"""

SHORT_BITS: Final = 2
"""Bits for each number of a quantized vector, of 16 in a whole one. One bit loses more than scoring again recovers."""

_NUMBER_BYTES: Final = 2
_OUTGROWN: Final = 4
"""Partitions are rebuilt when there should be this many times more, so their number is a power of this."""


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """A vector index as its name describes it: the number of its partitions, and whether it has the whole vectors."""

    partitions: int
    exact: bool

    @property
    def name(self) -> str:
        """Name of the index in its table."""
        return f"{EXACT_INDEX if self.exact else SHORT_INDEX}{self.partitions}"

    def is_outgrown_by(self, wanted: VectorIndex) -> bool:
        """Whether `wanted` is for more vectors; an index for fewer never replaces this one."""
        return (wanted.partitions, not wanted.exact) > (self.partitions, not self.exact)


def parse_index_name(name: str) -> VectorIndex | None:
    """Parse the name of an index; `None` where it is none of these."""
    prefix = next((each for each in (EXACT_INDEX, SHORT_INDEX) if name.startswith(each)), None)
    return VectorIndex(int(name.removeprefix(prefix)), prefix == EXACT_INDEX) if prefix else None


def choose_index(passages: int, dimensions: int) -> VectorIndex | None:
    """Choose the index for this number of vectors; `None` where an index does not pay."""
    if passages < INDEX_FROM:
        return None
    partitions = 1
    while partitions * _OUTGROWN * PARTITION_ROWS <= passages:
        partitions *= _OUTGROWN
    return VectorIndex(partitions, exact=passages * dimensions * _NUMBER_BYTES <= EXACT_BYTES)
