"""What a model puts into all its vectors alike, and how it is taken out.

The local model's cosines lie between 0.7 and 0.95 whatever the texts say, because every vector has a large part in
common with all others, another one for questions than for passages. Without it the order depends more on what is said:
`docs/decisions/0050-common-part.md` has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from knowledge.embedding.base import directions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from knowledge.embedding.base import Vectors

KEPT: Final = Path(__file__).with_name("centering_e5.npy")
"""Two rows: what is taken out of questions, and out of passages."""

SHARE: Final = 0.75
"""How much of the common part is taken out: without all of it, texts of an unforeseen kind would be off centre."""


@dataclass(frozen=True, slots=True)
class CommonPart:
    """What is taken out of vectors of length 1; both have shape (dimensions,)."""

    questions: Vectors
    passages: Vectors

    @staticmethod
    def of_e5() -> CommonPart:
        """As measured on the sample base and kept beside this module."""
        questions, passages = np.load(KEPT)
        return CommonPart(questions, passages)

    @staticmethod
    def measured(questions: Iterable[Vectors], passages: Iterable[Vectors]) -> CommonPart:
        """From vectors of shape (n, dimensions), one array for each language: every language counts alike."""
        return CommonPart(SHARE * _centre(questions), SHARE * _centre(passages))

    def keep(self, path: Path = KEPT) -> None:
        """Write what `of_e5` reads."""
        np.save(path, np.stack([self.questions, self.passages]).astype(np.float32))

    def out_of_question(self, vectors: Vectors) -> Vectors:
        """Rows of length 1 from rows of length 1."""
        return directions(vectors - self.questions)

    def out_of_passages(self, vectors: Vectors) -> Vectors:
        """Rows of length 1 from rows of length 1."""
        return directions(vectors - self.passages)


def _centre(languages: Iterable[Vectors]) -> Vectors:
    return np.asarray(np.mean([rows.mean(axis=0) for rows in languages], axis=0), dtype=np.float32)
