"""Embed passages: each distinct text once, from the cache where it is there, the rest in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from knowledge.embedding.base import EmbeddingProvider, Vectors
from publish_knowledge.embedding.cache import VectorCache

BATCH: Final = 16
"""Passages embedded at once: a few seconds with the slow model, so that progress shows and a stop loses little."""


class EmbeddingError(Exception):
    """The embedding model failed; the message gives its reason."""


class Embedder:
    """One provider behind a cache. `embed` blocks: call it from a thread."""

    def __init__(
        self,
        provider: EmbeddingProvider,
        cache: VectorCache | None = None,
        on_progress: Callable[[int, int], None] = lambda _done, _total: None,
        on_load: Callable[[], None] = lambda: None,
    ) -> None:
        self.provider = provider
        self._cache = cache
        self._on_progress = on_progress
        self._on_load = on_load
        self._loaded = False
        self._expects = False
        self._done = 0
        self._total = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions), float32, rows of length 1; raises `EmbeddingError`.

        Every batch is cached at once, so that an interrupted run resumes where it stopped. Progress counts the texts of
        all calls so far or, after `expect`, those that the model embeds.
        """
        distinct = list(dict.fromkeys(texts))
        known = self._cache.get(distinct) if self._cache else {}
        missing = [text for text in distinct if text not in known]
        if not self._expects:
            self._report_progress(len(known), len(distinct))
        for first in range(0, len(missing), BATCH):
            new = self._embed_batch(missing[first : first + BATCH])
            known |= new
            self._report_progress(len(new), 0)
        if not texts:
            return np.empty((0, self.provider.dimensions), np.float32)
        return np.stack([known[text] for text in texts])

    def count_missing(self, texts: Sequence[str]) -> int:
        """Count the distinct texts that are not in the cache."""
        distinct = list(dict.fromkeys(texts))
        return len(distinct) - len(self._cache.get(distinct) if self._cache else ())

    def expect(self, total: int) -> None:
        """Set how many texts the model will have to embed in all: the total of the progress no longer grows.

        Cached texts are no longer counted, so that a rate tells when the rest will be done.
        """
        self._expects, self._done, self._total = True, 0, total
        self._report_progress(0, 0)

    def advance_to(self, done: int) -> None:
        """Set the progress to a number of texts: some that were expected turned out to be known."""
        self._report_progress(max(0, done - self._done), 0)

    def _report_progress(self, done: int, total: int) -> None:
        self._done += done
        self._total += total
        if self._expects:
            self._done = min(self._done, self._total)
        self._on_progress(self._done, self._total)

    def _embed_batch(self, texts: Sequence[str]) -> dict[str, Vectors]:
        if not self._loaded:
            self._loaded = True
            self._on_load()
        try:
            vectors = self.provider.embed_passages(texts)
        except ValueError as error:
            raise EmbeddingError(f"The embedding model {self.provider.model} failed: {error}.") from error
        new = dict(zip(texts, vectors, strict=True))
        if self._cache:
            self._cache.put(new)
        return new
