"""Mean centering: subtract what all vectors of a model have in common.

The local model's cosines lie between 0.7 and 0.95 whatever the texts say, because every vector has a large part in
common with all others, one part in queries and another in passages. Without it the order depends more on what the texts
say: `docs/decisions/0050-mean-centering.md` has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from knowledge.embedding.base import normalize_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from knowledge.embedding.base import Vectors

E5_FILE: Final = Path(__file__).with_name("centering_e5.npy")
"""Two rows of float32: what is subtracted from queries, and from passages."""

SUBTRACTED_SHARE: Final = 0.75
"""How much of the mean is subtracted: with all of it, texts of an unforeseen kind would be off center."""


@dataclass(frozen=True, slots=True)
class Centering:
    """Offsets that are subtracted from vectors of length 1; both have shape (dimensions,)."""

    queries: Vectors
    passages: Vectors

    @staticmethod
    def load(path: Path = E5_FILE) -> Centering:
        """Read the offsets that were measured on the sample base and saved beside this module."""
        queries, passages = np.load(path)
        return Centering(queries, passages)

    @staticmethod
    def measure(queries: Iterable[Vectors], passages: Iterable[Vectors]) -> Centering:
        """From vectors of shape (n, dimensions), one array for each language: every language has the same weight."""
        return Centering(SUBTRACTED_SHARE * _mean(queries), SUBTRACTED_SHARE * _mean(passages))

    def save(self, path: Path = E5_FILE) -> None:
        """Write what `load` reads."""
        np.save(path, np.stack([self.queries, self.passages]).astype(np.float32))

    def center_queries(self, vectors: Vectors) -> Vectors:
        """Rows of length 1 from rows of length 1."""
        return normalize_rows(vectors - self.queries)

    def center_passages(self, vectors: Vectors) -> Vectors:
        """Rows of length 1 from rows of length 1."""
        return normalize_rows(vectors - self.passages)


def _mean(languages: Iterable[Vectors]) -> Vectors:
    return np.asarray(np.mean([rows.mean(axis=0) for rows in languages], axis=0), dtype=np.float32)
