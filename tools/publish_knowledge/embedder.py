"""Vectors for passages: each distinct text once, known ones from the cache, the rest in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np

from knowledge.embedding import EmbeddingProvider, Vectors
from publish_knowledge.cache import VectorCache

BATCH: Final = 16
"""Passages embedded at once: a few seconds with the slow model, so that progress moves and little is lost on a stop."""


class EmbeddingError(Exception):
    """The embedding model gave no usable vectors; the message says for what."""


class Embedder:
    """One provider with a cache before it. `embed` blocks: call it from a thread."""

    def __init__(self, provider: EmbeddingProvider, cache: VectorCache | None = None) -> None:
        self.provider = provider
        self._cache = cache

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] = lambda _: None) -> Vectors:
        """Shape (len(texts), dimensions), float32, rows of length 1; `on_done` hears how many texts more are done.

        Every batch is kept in the cache at once, so that a stopped run goes on where it was.
        """
        uses = Counter(texts)
        known = self._cache.get(list(uses)) if self._cache else {}
        on_done(_total(uses, known))
        missing = [text for text in uses if text not in known]
        for first in range(0, len(missing), BATCH):
            made = self._made(missing[first : first + BATCH])
            known |= made
            on_done(_total(uses, made))
        return (
            np.stack([known[text] for text in texts]) if texts else np.empty((0, self.provider.dimensions), np.float32)
        )

    def _made(self, texts: Sequence[str]) -> dict[str, Vectors]:
        try:
            vectors = self.provider.embed_passages(texts)
        except ValueError as error:
            raise EmbeddingError(f"The embedding model {self.provider.model} failed: {error}.") from error
        made = dict(zip(texts, vectors, strict=True))
        if self._cache:
            self._cache.put(made)
        return made


def _total(uses: Counter[str], some: Iterable[str]) -> int:
    return sum(uses[text] for text in some)
