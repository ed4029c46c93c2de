"""Embedding cache: vectors by the digest of their text and model, in one SQLite file that outlives a run.

The cache never fails its caller: an entry that cannot be read is a miss, one that cannot be written is dropped, and one
warning reports the cause. Any number of processes may share the file.
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

FILE_NAME: Final = "embeddings-2.sqlite3"
"""The number is the file's format; a new format starts a new file and ignores the old one."""

MAX_VECTORS: Final = 500_000
"""The newest that are kept: under a gigabyte with 384 dimensions."""

_BUSY_SECONDS: Final = 10.0
_FLOAT_BYTES: Final = 4
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
        """Vectors of the cached texts, each of shape (dimensions,)."""
        found: dict[str, Vectors] = {}
        try:
            with self._connect() as connection:
                for text in texts:
                    vector = self._read(connection, self._make_key(text))
                    if vector is not None:
                        found[text] = vector
        except (sqlite3.Error, OSError) as error:
            self._warn(error)
        return found

    def put(self, vectors: Mapping[str, Vectors]) -> None:
        """Store vectors by their texts, in one transaction."""
        rows = [(self._make_key(text), np.asarray(vector, "<f4").tobytes()) for text, vector in vectors.items()]
        try:
            with self._connect() as connection, connection:
                connection.executemany(_INSERT, rows)
                connection.execute(_DELETE_OLDEST, (MAX_VECTORS,))
        except (sqlite3.Error, OSError) as error:
            self._warn(error)

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        # Opened for each call: calls come from several threads, and only once for each batch.
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._file, timeout=_BUSY_SECONDS)) as connection:
            connection.execute(_CREATE)
            yield connection

    def _make_key(self, text: str) -> bytes:
        state = hashlib.sha256(self._model.encode())
        state.update(b"\0%d\0" % self._dimensions)
        state.update(text.encode("utf-8", "surrogatepass"))
        return state.digest()

    def _read(self, connection: sqlite3.Connection, key: bytes) -> Vectors | None:
        row = connection.execute(_SELECT, (key,)).fetchone()
        if row is None or not isinstance(row[0], bytes) or len(row[0]) != _FLOAT_BYTES * self._dimensions:
            return None
        return np.frombuffer(row[0], dtype="<f4").astype(np.float32)

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            _logger.warning("The embedding cache %s is not used: %s. Remove the file if this stays.", self._file, error)
