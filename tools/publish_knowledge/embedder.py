"""Vectors for passages: each distinct text once, known ones from the cache, the rest in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knowledge.embedding import EmbeddingProvider, Vectors


class Embedder:
    """One provider with a cache before it. `embed` blocks: call it from a thread."""

    def __init__(self, provider: EmbeddingProvider) -> None:
        self.provider = provider

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] = lambda _: None) -> Vectors:
        """Shape (len(texts), dimensions), float32, rows of length 1; `on_done` hears how many texts more are done."""
        raise NotImplementedError
