"""Embedding with a cache before the model."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from knowledge.embedding.base import Vectors
from publish_knowledge.embedding import cache
from publish_knowledge.embedding.cache import FILE_NAME, VectorCache
from publish_knowledge.embedding.embedder import BATCH, Embedder, EmbeddingError
from tests.support.datasets import embedding

TEXTS = [f"The passage number {number}." for number in range(BATCH + 3)]


def cached(folder: Path, heard: list[tuple[int, int]] | None = None) -> Embedder:
    model = embedding()
    kept = VectorCache(folder, model.model, model.dimensions)
    return Embedder(model, kept, lambda done, total: None if heard is None else heard.append((done, total)))


def embedded_by(work: Embedder, texts: Sequence[str]) -> int:
    before = embedding().embedded
    work.embed(texts)
    return embedding().embedded - before


def test_vectors_are_those_of_the_model_in_the_order_asked_for() -> None:
    texts = ["first", "second", "first"]
    found = Embedder(embedding()).embed(texts)
    assert found.dtype == np.float32
    assert np.array_equal(found, embedding().embed_passages(texts))


def test_no_texts_give_no_vectors() -> None:
    assert Embedder(embedding()).embed([]).shape == (0, embedding().dimensions)


def test_each_distinct_text_is_embedded_once(tmp_path: Path) -> None:
    assert embedded_by(cached(tmp_path), ["same", "same", "other"]) == 2


def test_another_run_embeds_nothing_and_gets_the_same_bits(tmp_path: Path) -> None:
    first = cached(tmp_path).embed(TEXTS)
    assert embedded_by(cached(tmp_path), TEXTS) == 0
    assert np.array_equal(cached(tmp_path).embed(TEXTS), first)


def test_progress_counts_the_texts_of_all_calls(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    work = cached(tmp_path, heard)
    work.embed(TEXTS)
    work.embed([TEXTS[0], "new"])
    total = len(TEXTS)
    assert heard == [(0, total), (BATCH, total), (total, total), (total + 1, total + 2), (total + 2, total + 2)]


def test_models_do_not_share_vectors(tmp_path: Path) -> None:
    vector = np.ones(4, np.float32)
    VectorCache(tmp_path, "one", 4).put({"text": vector})
    assert VectorCache(tmp_path, "two", 4).get(["text"]) == {}
    assert VectorCache(tmp_path, "one", 5).get(["text"]) == {}
    assert np.array_equal(VectorCache(tmp_path, "one", 4).get(["text"])["text"], vector)


@pytest.mark.parametrize("damage", ["UPDATE vectors SET vector = x'00'", "UPDATE vectors SET vector = 'text'", ""])
def test_a_damaged_entry_is_a_miss_and_is_mended(tmp_path: Path, damage: str) -> None:
    cached(tmp_path).embed(TEXTS)
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute(damage or "UPDATE vectors SET vector = zeroblob(length(vector))")
    connection.close()
    assert embedded_by(cached(tmp_path), TEXTS) == len(TEXTS)
    assert embedded_by(cached(tmp_path), TEXTS) == 0


@pytest.mark.parametrize("content", [b"this is no database at all, but long enough to look at" * 9, None])
def test_a_cache_that_cannot_be_used_is_told_once_and_does_no_harm(
    tmp_path: Path, content: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    if content is None:
        (tmp_path / FILE_NAME).mkdir()
    else:
        (tmp_path / FILE_NAME).write_bytes(content)
    assert cached(tmp_path).embed(TEXTS).shape == (len(TEXTS), embedding().dimensions)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "Remove the file if this stays." in caplog.text


def test_the_oldest_vectors_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_VECTORS", 2)
    kept = VectorCache(tmp_path, "model", 2)
    for text in ("a", "b", "c", "b", "d"):
        kept.put({text: np.ones(2, np.float32)})
    assert sorted(kept.get(["a", "b", "c", "d"])) == ["b", "d"]


FILL = """
import sys
from pathlib import Path
import numpy as np
from publish_knowledge.embedding.cache import VectorCache
kept = VectorCache(Path(sys.argv[1]), "model", 2)
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 20):
    kept.put({str(number): np.full(2, number, np.float32)})
"""


def test_processes_share_one_cache(tmp_path: Path) -> None:
    starts = (0, 20, 40)
    running = [subprocess.Popen([sys.executable, "-c", FILL, tmp_path, str(start)]) for start in starts]
    assert [process.wait() for process in running] == [0, 0, 0]
    found = VectorCache(tmp_path, "model", 2).get([str(number) for number in range(60)])
    assert {text: float(vector[0]) for text, vector in found.items()} == {str(n): float(n) for n in range(60)}


@dataclass(frozen=True)
class Aimless:
    """A model that gives up, as the real ones do on vectors without direction."""

    model: str = "aimless"
    dimensions: int = 2

    def embed_query(self, text: str) -> Vectors:
        return self.embed_passages([text])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise ValueError(f"no direction in {len(texts)} texts")


def test_a_model_that_fails_is_a_clear_error() -> None:
    with pytest.raises(EmbeddingError, match="The embedding model aimless failed: no direction in 1 texts"):
        Embedder(Aimless()).embed(["text"])
