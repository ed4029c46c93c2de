"""The embedding cache: what it keeps apart, what it survives, and what it removes."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from publish_knowledge.embedding import cache
from publish_knowledge.embedding.cache import FILE_NAME, VectorCache

VECTOR = np.array([0.5, -1], np.float32)


def test_models_do_not_share_vectors(tmp_path: Path) -> None:
    vector = np.ones(4, np.float32)
    VectorCache(tmp_path, "one", 4).put({"text": vector})
    assert VectorCache(tmp_path, "two", 4).get(["text"]) == {}
    assert VectorCache(tmp_path, "one", 5).get(["text"]) == {}
    assert np.array_equal(VectorCache(tmp_path, "one", 4).get(["text"])["text"], vector)


@pytest.mark.parametrize("damage", ["x'00'", "'text'", "zeroblob(length(vector) + 1)", "x''"])
def test_an_entry_that_is_no_vector_of_the_model_is_a_miss_and_is_replaced(tmp_path: Path, damage: str) -> None:
    vectors = VectorCache(tmp_path, "model", 2)
    vectors.put({"text": VECTOR})
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection, connection:
        connection.execute(f"UPDATE vectors SET vector = {damage}")  # noqa: S608 - the damage is spelled out above
    assert vectors.get(["text"]) == {}
    vectors.put({"text": VECTOR})
    assert np.array_equal(vectors.get(["text"])["text"], VECTOR)


def damage_pages(file: Path) -> None:
    """Overwrite all of a database but its header."""
    data = bytearray(file.read_bytes())
    data[100:] = b"\xff" * (len(data) - 100)
    file.write_bytes(data)


def replace_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no database": lambda file: file.write_bytes(b"this is no database, but long enough for a header" * 9),
    "damaged pages": damage_pages,
    "half of it": lambda file: os.truncate(file, file.stat().st_size // 2),
    "a folder": replace_by_folder,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_a_miss_with_one_warning(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    vectors = VectorCache(tmp_path, "model", 2)
    many = {str(number): VECTOR for number in range(500)}
    vectors.put(many)
    DAMAGES[damage](tmp_path / FILE_NAME)
    assert vectors.get([*many]) == {}
    vectors.put(many)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "Remove the file if this stays." in caplog.text


def test_a_file_of_an_older_format_is_ignored(tmp_path: Path) -> None:
    older = tmp_path / "embeddings-1.sqlite3"
    older.write_bytes(b"vectors with checksums")
    vectors = VectorCache(tmp_path, "model", 2)
    vectors.put({"text": VECTOR})
    assert [*vectors.get(["text"])] == ["text"]
    assert older.read_bytes() == b"vectors with checksums"


def test_texts_that_only_look_alike_have_vectors_of_their_own(tmp_path: Path) -> None:
    vectors = VectorCache(tmp_path, "model", 2)
    texts = ["e\u0301", "\u00e9", "", " ", "\0", "\ud800"]
    vectors.put({text: np.full(2, number, np.float32) for number, text in enumerate(texts)})
    assert [float(vectors.get([text])[text][0]) for text in texts] == [0, 1, 2, 3, 4, 5]


def test_the_oldest_vectors_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_VECTORS", 2)
    vectors = VectorCache(tmp_path, "model", 2)
    for text in ("a", "b", "c", "b", "d"):
        vectors.put({text: np.ones(2, np.float32)})
    assert sorted(vectors.get(["a", "b", "c", "d"])) == ["b", "d"]


FILL = """
import sys
from pathlib import Path
import numpy as np
from publish_knowledge.embedding.cache import VectorCache
vectors = VectorCache(Path(sys.argv[1]), "model", 2)
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 20):
    vectors.put({str(number): np.full(2, number, np.float32)})
"""


def test_processes_share_one_cache(tmp_path: Path) -> None:
    starts = (0, 20, 40)
    running = [subprocess.Popen([sys.executable, "-c", FILL, tmp_path, str(start)]) for start in starts]
    assert [process.wait() for process in running] == [0, 0, 0]
    found = VectorCache(tmp_path, "model", 2).get([str(number) for number in range(60)])
    assert {text: float(vector[0]) for text, vector in found.items()} == {str(n): float(n) for n in range(60)}
