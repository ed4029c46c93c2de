"""Vectors for passages: each distinct text once, known ones from the cache, the rest in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from knowledge.embedding.base import EmbeddingProvider, Vectors
from publish_knowledge.embedding.cache import VectorCache

BATCH: Final = 16
"""Passages embedded at once: a few seconds with the slow model, so that progress moves and little is lost on a stop."""


class EmbeddingError(Exception):
    """The embedding model gave no usable vectors; the message says for what."""


class Embedder:
    """One provider with a cache before it. `embed` blocks: call it from a thread."""

    def __init__(
        self,
        provider: EmbeddingProvider,
        cache: VectorCache | None = None,
        on_progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> None:
        self.provider = provider
        self._cache = cache
        self._on_progress = on_progress
        self._done = 0
        self._total = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions), float32, rows of length 1; raises `EmbeddingError`.

        Every batch is kept in the cache at once, so that a stopped run goes on where it was. Progress counts the
        texts of all calls so far.
        """
        distinct = list(dict.fromkeys(texts))
        known = self._cache.get(distinct) if self._cache else {}
        missing = [text for text in distinct if text not in known]
        self._progress(len(known), len(distinct))
        for first in range(0, len(missing), BATCH):
            made = self._made(missing[first : first + BATCH])
            known |= made
            self._progress(len(made), 0)
        if not texts:
            return np.empty((0, self.provider.dimensions), np.float32)
        return np.stack([known[text] for text in texts])

    def _progress(self, done: int, total: int) -> None:
        self._done += done
        self._total += total
        self._on_progress(self._done, self._total)

    def _made(self, texts: Sequence[str]) -> dict[str, Vectors]:
        try:
            vectors = self.provider.embed_passages(texts)
        except ValueError as error:
            raise EmbeddingError(f"The embedding model {self.provider.model} failed: {error}.") from error
        made = dict(zip(texts, vectors, strict=True))
        if self._cache:
            self._cache.put(made)
        return made
