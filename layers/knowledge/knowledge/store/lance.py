"""All that the reading side takes from LanceDB; no other module here imports it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import lancedb
import pyarrow as pa
from lancedb.expr import Expr, col, lit
from lancedb.query import MatchQuery

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lancedb import AsyncConnection, AsyncTable
else:
    AsyncConnection = AsyncTable = Any

__all__ = ["AsyncTable", "Connection", "Expr", "any_term", "col", "connect", "fetched", "lit"]

INDEX_CACHE_BYTES: Final = 256 * 1024 * 1024
METADATA_CACHE_BYTES: Final = 64 * 1024 * 1024
"""Bounds of the caches that all tables of a connection share; without them memory grows with every index read."""

_NOWHERE: Final = "memory://"
_WHOLE_FILES: Final = {"block_size": str(16 * 1024 * 1024)}
"""Files up to this are read in one piece when they are opened, instead of from their ends to their middles."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A dataset's tables. Handles stay at their version until opened again, and share bounded caches."""

    library: AsyncConnection
    uri: str
    options: Mapping[str, str]

    async def open_table(self, name: str, *, whole_files: bool = False) -> AsyncTable:
        """A handle of the latest version; one with `whole_files` is for loading indexes, not for single rows."""
        if not _is_store(self.uri):
            return await self.library.open_table(name)
        options = {**self.options, **(_WHOLE_FILES if whole_files else {})}
        location = f"{self.uri.rstrip('/')}/{name}.lance"
        return await self.library.open_table(name, location=location, storage_options=options)

    def close(self) -> None:
        """Let go of it."""
        self.library.close()  # type: ignore[no-untyped-call]  # the library leaves it untyped


def any_term(terms: str, column: str) -> MatchQuery:
    """Match rows with any of the blank-separated terms; unlike a plain string, never parsed for quotes or operators."""
    return MatchQuery(terms, column=column)  # type: ignore[call-arg]  # defaults of a pydantic dataclass, unseen by mypy


async def fetched(query: Any) -> pa.Table:  # noqa: ANN401 - the library's query classes share no public base
    """All rows of a query.

    The library's own `to_arrow` first asks the table for its schema, to find columns of large objects. There are none
    here, and the question costs as much as a small answer.
    """
    execute = getattr(getattr(query, "_inner", None), "execute", None)
    if execute is None:
        return await query.to_arrow()
    stream = await execute(max_batch_length=None, timeout=None)
    return pa.Table.from_batches([batch async for batch in stream], schema=stream.schema)


async def connect(uri: str, storage_options: Mapping[str, str]) -> Connection:
    """Connect with bounded caches."""
    session = lancedb.Session(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES)
    # Connecting to a store costs a request that finds nothing: it looks for a catalogue, which nobody here writes.
    where = _NOWHERE if _is_store(uri) else uri
    return Connection(await lancedb.connect_async(where, session=session), uri, dict(storage_options))


def _is_store(uri: str) -> bool:
    """Whether tables are objects below the URI: neither a folder nor a database service, and without parameters."""
    return "://" in uri and not uri.startswith("db://") and "?" not in uri
