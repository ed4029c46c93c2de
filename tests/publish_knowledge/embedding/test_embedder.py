"""Embedding behind a cache: each text once, in batches, with progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from knowledge.embedding.base import Vectors
from publish_knowledge.embedding.cache import VectorCache
from publish_knowledge.embedding.embedder import BATCH, Embedder, EmbeddingError
from tests.support.datasets import embedding

TEXTS = [f"The passage number {number}." for number in range(BATCH + 3)]


def make_embedder(folder: Path, progress: list[tuple[int, int]] | None = None) -> Embedder:
    model = embedding()
    vectors = VectorCache(folder, model.model, model.dimensions)
    return Embedder(model, vectors, lambda done, total: None if progress is None else progress.append((done, total)))


def count_embedded(embedder: Embedder, texts: Sequence[str]) -> int:
    before = embedding().embedded
    embedder.embed(texts)
    return embedding().embedded - before


def test_vectors_are_those_of_the_model_in_the_order_asked_for() -> None:
    texts = ["first", "second", "first"]
    found = Embedder(embedding()).embed(texts)
    assert found.dtype == np.float32
    assert np.array_equal(found, embedding().embed_passages(texts))


def test_no_texts_give_no_vectors() -> None:
    assert Embedder(embedding()).embed([]).shape == (0, embedding().dimensions)


def test_each_distinct_text_is_embedded_once(tmp_path: Path) -> None:
    assert count_embedded(make_embedder(tmp_path), ["same", "same", "other"]) == 2


def test_another_run_embeds_nothing_and_gets_the_same_bits(tmp_path: Path) -> None:
    first = make_embedder(tmp_path).embed(TEXTS)
    assert count_embedded(make_embedder(tmp_path), TEXTS) == 0
    assert np.array_equal(make_embedder(tmp_path).embed(TEXTS), first)


def test_progress_counts_the_texts_of_all_calls(tmp_path: Path) -> None:
    progress: list[tuple[int, int]] = []
    embedder = make_embedder(tmp_path, progress)
    embedder.embed(TEXTS)
    embedder.embed([TEXTS[0], "new"])
    total = len(TEXTS)
    assert progress == [(0, total), (BATCH, total), (total, total), (total + 1, total + 2), (total + 2, total + 2)]


@dataclass(frozen=True)
class FailingModel:
    """A model that fails, as the real ones do on vectors without direction."""

    model: str = "failing"
    dimensions: int = 2

    def embed_query(self, text: str) -> Vectors:
        return self.embed_passages([text])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise ValueError(f"no direction in {len(texts)} texts")


def test_a_failing_model_is_reported_with_its_reason() -> None:
    with pytest.raises(EmbeddingError, match="The embedding model failing failed: no direction in 1 texts"):
        Embedder(FailingModel()).embed(["text"])


def test_an_interrupted_run_keeps_the_batches_that_were_embedded(tmp_path: Path) -> None:
    def stop(done: int, _total: int) -> None:
        if done:
            raise KeyboardInterrupt

    model = embedding()
    with pytest.raises(KeyboardInterrupt):
        Embedder(model, VectorCache(tmp_path, model.model, model.dimensions), stop).embed(TEXTS)
    assert count_embedded(make_embedder(tmp_path), TEXTS) == len(TEXTS) - BATCH


def test_an_expected_total_does_not_grow_and_counts_what_the_model_embeds(tmp_path: Path) -> None:
    first = make_embedder(tmp_path)
    first.embed(["cached", "cached too"])
    progress: list[tuple[int, int]] = []
    embedder = make_embedder(tmp_path, progress)
    batches = [["cached", "new"], ["cached too", "newer", "newest", "newest"], ["known elsewhere"]]
    counts = [embedder.count_missing(batch) for batch in batches]
    assert counts == [1, 2, 1]
    embedder.expect(sum(counts))
    embedder.embed(batches[0])
    embedder.embed(batches[1])
    embedder.embed(["not expected"])
    embedder.advance_to(4)
    assert progress == [(0, 4), (1, 4), (3, 4), (4, 4), (4, 4)]


def test_the_model_is_said_to_be_loading_before_its_first_text_only(tmp_path: Path) -> None:
    loads: list[str] = []
    inner = make_embedder(tmp_path).provider
    cached = VectorCache(tmp_path, inner.model, inner.dimensions)
    embedder = Embedder(inner, cached, on_load=lambda: loads.append("load"))
    embedder.embed([])
    assert loads == []
    embedder.embed(["one"])
    embedder.embed(["two"])
    assert loads == ["load"]
    again = Embedder(inner, cached, on_load=lambda: loads.append("again"))
    again.embed(["one", "two"])
    assert loads == ["load"]
