"""Embedding cache: vectors by the digest of what they were made from, kept in one SQLite file between runs.

A cache never fails its user: what cannot be read is a miss, what cannot be written is not kept, and a warning says so
once. Any number of processes may share the file.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import numpy as np

from knowledge.embedding.base import Vectors

FILE_NAME: Final = "embeddings-1.sqlite3"
"""The number is the file's format: another one starts another file."""

MAX_VECTORS: Final = 500_000
"""Kept at most, the newest: under a gigabyte with 384 dimensions."""

_BUSY_SECONDS: Final = 10.0
_CHECK_BYTES: Final = 8
_CREATE: Final = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
_SELECT: Final = "SELECT vector FROM vectors WHERE key = ?"
_INSERT: Final = "INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)"
_DELETE_OLDEST: Final = (
    "DELETE FROM vectors WHERE rowid <= (SELECT rowid FROM vectors ORDER BY rowid DESC LIMIT 1 OFFSET ?)"
)

_logger = logging.getLogger(__name__)


class VectorCache:
    """Vectors of one model, by text. `get` and `put` may be called from any thread."""

    def __init__(self, folder: Path, model: str, dimensions: int) -> None:
        self._file = folder / FILE_NAME
        self._model = model
        self._dimensions = dimensions
        self._warned = False

    def get(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Vectors of the texts that are known, each of shape (dimensions,)."""
        found: dict[str, Vectors] = {}
        try:
            with self._connection() as connection:
                for text in texts:
                    vector = self._stored(connection, self._key(text))
                    if vector is not None:
                        found[text] = vector
        except (sqlite3.Error, OSError) as error:
            self._warn(error)
        return found

    def put(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors by their texts, in one transaction."""
        keys = {self._key(text): vector for text, vector in vectors.items()}
        try:
            with self._connection() as connection, connection:
                connection.executemany(_INSERT, [(key, _blob(key, vector)) for key, vector in keys.items()])
                connection.execute(_DELETE_OLDEST, (MAX_VECTORS,))
        except (sqlite3.Error, OSError) as error:
            self._warn(error)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        # Opened for each call: calls come from different threads, and are few, one for each batch.
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._file, timeout=_BUSY_SECONDS)) as connection:
            connection.execute("PRAGMA synchronous = OFF")  # a cache may lose its last rows, each carries its own check
            connection.execute(_CREATE)
            yield connection

    def _key(self, text: str) -> bytes:
        state = hashlib.sha256(self._model.encode())
        state.update(b"\0%d\0" % self._dimensions)
        state.update(text.encode("utf-8", "surrogatepass"))
        return state.digest()

    def _stored(self, connection: sqlite3.Connection, key: bytes) -> Vectors | None:
        row = connection.execute(_SELECT, (key,)).fetchone()
        if row is None or not isinstance(row[0], bytes):
            return None
        check, data = row[0][:_CHECK_BYTES], row[0][_CHECK_BYTES:]
        if len(data) != 4 * self._dimensions or check != _check(key, data):
            return None
        return np.frombuffer(data, dtype="<f4").astype(np.float32)

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            _logger.warning("The embedding cache %s is not used: %s. Remove the file if this stays.", self._file, error)


def _blob(key: bytes, vector: Vectors) -> bytes:
    data = np.asarray(vector, dtype="<f4").tobytes()
    return _check(key, data) + data


def _check(key: bytes, data: bytes) -> bytes:
    return hashlib.sha256(key + data).digest()[:_CHECK_BYTES]
