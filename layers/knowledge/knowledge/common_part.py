"""What a model puts into all its vectors alike, and how it is taken out.

The local model's cosines lie between 0.7 and 0.95 whatever the texts say, because every vector has a large part in
common with all others, another one for questions than for passages, and a part that tells only the language. Without
them the order depends more on what is said: `docs/decisions/0050-common-part.md` has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from knowledge.vectors import directions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knowledge.vectors import Vectors

KEPT: Final = Path(__file__).with_name("common_part_e5.npy")
"""Rows: the common part of questions, that of passages, then the directions of languages."""

SHARE: Final = 0.75
"""How much of the common part is taken out: without all of it, texts of an unforeseen kind would be off centre."""

LANGUAGES: Final = 4
"""Directions between five languages."""


@dataclass(frozen=True, slots=True)
class CommonPart:
    """`questions` and `passages` have shape (dimensions,), `languages` shape (n, dimensions), rows orthonormal."""

    questions: Vectors
    passages: Vectors
    languages: Vectors

    @staticmethod
    def of_e5() -> CommonPart:
        """As measured on the sample base and kept beside this module."""
        rows = np.load(KEPT)
        return CommonPart(rows[0], rows[1], rows[2:])

    @staticmethod
    def measured(questions: Sequence[Vectors], passages: Sequence[Vectors]) -> CommonPart:
        """From vectors of shape (n, dimensions), one array for each language: every language counts alike."""
        means = [np.stack([rows.mean(axis=0) for rows in kind]) for kind in (questions, passages)]
        centres = [kind.mean(axis=0) for kind in means]
        apart = np.concatenate([kind - centre for kind, centre in zip(means, centres, strict=True)])
        languages = np.linalg.svd(apart, full_matrices=False)[2][:LANGUAGES]
        return CommonPart(SHARE * centres[0], SHARE * centres[1], languages)

    def keep(self, path: Path = KEPT) -> None:
        """Write what `of_e5` reads."""
        np.save(path, np.stack([self.questions, self.passages, *self.languages]).astype(np.float32))

    def out_of_question(self, vectors: Vectors) -> Vectors:
        """Rows of length 1 from rows of length 1."""
        return self._out(vectors - self.questions)

    def out_of_passages(self, vectors: Vectors) -> Vectors:
        """Rows of length 1 from rows of length 1."""
        return self._out(vectors - self.passages)

    def _out(self, vectors: Vectors) -> Vectors:
        return directions(vectors - (vectors @ self.languages.T) @ self.languages)
