"""Everything that the core library uses of LanceDB; no other module of it imports LanceDB."""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import lancedb
import pyarrow as pa
from lancedb.expr import Expr, col, lit
from lancedb.query import MatchQuery

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from lancedb import AsyncConnection, AsyncTable
else:
    AsyncConnection = AsyncTable = Any

__all__ = [
    "AsyncTable",
    "Connection",
    "Expr",
    "any_term",
    "col",
    "connect",
    "fetch_rows",
    "find_probed_version",
    "lit",
    "read_noted_version",
    "stream_batches",
]

INDEX_CACHE_BYTES: Final = 192 * 1024 * 1024
METADATA_CACHE_BYTES: Final = 48 * 1024 * 1024
"""Limits of the caches that all tables of a connection share; without them memory grows with every index read."""

_MALLOC_PARAMETERS: Final = {
    "M_ARENA_MAX": (-8, 2),
    "M_TRIM_THRESHOLD": (-1, 4_194_304),
    "M_MMAP_THRESHOLD": (-3, 33_554_432),
}
"""Parameters of the C library's allocator: names in `malloc.h`, their numbers there, and values.

LanceDB's threads free each other's blocks, of megabytes each. With an arena for each thread, and limits that grow with
the blocks, most of that memory is neither used again nor returned.
"""

_NO_CATALOG: Final = "memory://"
_WHOLE_FILES: Final = {"block_size": str(16 * 1024 * 1024)}
"""Smaller files are read in one request when they are opened, instead of piece by piece from their end."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Opens the tables of a dataset. Handles stay at the version that they were opened at, and share bounded caches."""

    library: AsyncConnection
    uri: str
    options: Mapping[str, str]

    async def open_table(self, name: str, *, whole_files: bool = False) -> AsyncTable:
        """Open the latest version; a handle with `whole_files` is for loading indexes, not for single rows."""
        if not _is_object_store(self.uri):
            return await self._open_on_disk(name)
        options = {**self.options, **(_WHOLE_FILES if whole_files else {})}
        location = f"{self.uri.rstrip('/')}/{name}.lance"
        return await self.library.open_table(name, location=location, storage_options=options)

    async def _open_on_disk(self, name: str) -> AsyncTable:
        # Read first: a version that is committed meanwhile is newer than the one noted.
        noted = read_noted_version(Path(self.uri) / f"{name}.lance")
        table = await self.library.open_table(name)
        if (found := await table.version()) < noted:
            raise OSError(f"version {noted} of {name} is gone, {found} is the newest one left")
        return table

    def close(self) -> None:
        """Close the connection."""
        self.library.close()  # type: ignore[no-untyped-call]  # not typed by the library


def any_term(terms: str, column: str) -> MatchQuery:
    """Match rows with any of the terms, separated by spaces; unlike a string, not parsed for operators."""
    return MatchQuery(terms, column=column)  # type: ignore[call-arg]  # defaults of a pydantic dataclass, unseen by mypy


async def fetch_rows(query: Any) -> pa.Table:  # noqa: ANN401 - the library's query classes share no public base
    """Run a query and return all its rows. Raises `pyarrow.ArrowInvalid` for values that are damaged.

    The library's `to_arrow` first asks the table for its schema, to find columns of large objects. There are none here,
    and asking costs as much as a small query.
    """
    execute = _find_execute(query)
    if execute is None:
        return await query.to_arrow()
    stream = await execute(max_batch_length=None, timeout=None)
    rows = pa.Table.from_batches([batch async for batch in stream], schema=stream.schema)
    # The library does not check what it decodes: damaged text would fail where it is used, or crash the process.
    rows.validate(full=True)
    return rows


async def stream_batches(query: Any, rows: int) -> AsyncIterator[pa.RecordBatch]:  # noqa: ANN401 - as above
    """Run a query and yield batches of at most so many rows, as they are read; they are not validated."""
    execute = _find_execute(query)
    stream = await (query.to_batches if execute is None else execute)(max_batch_length=rows, timeout=None)
    async for batch in stream:
        yield batch


def _find_execute(query: Any) -> Any:  # noqa: ANN401 - as above
    return getattr(getattr(query, "_inner", None), "execute", None)


async def connect(uri: str, storage_options: Mapping[str, str]) -> Connection:
    """Connect with bounded caches."""
    _return_freed_memory()
    session = lancedb.Session(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES)
    # Connecting to an object store costs a request for a catalog, which these datasets do not have.
    where = _NO_CATALOG if _is_object_store(uri) else uri
    return Connection(await lancedb.connect_async(where, session=session), uri, dict(storage_options))


def _return_freed_memory() -> None:
    """Make the C library use freed memory again, or return it; nothing where it has no such parameters."""
    set_parameter = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_parameter is not None:
        for number, value in _MALLOC_PARAMETERS.values():
            set_parameter(number, value)


async def find_probed_version(table: AsyncTable) -> int:
    """The number of a handle's version; 0 where manifests have names of an old form, which tell no later version."""
    return await table.version() if await table.uses_v2_manifest_paths() else 0


def read_noted_version(table: Path) -> int:
    """The version that the library noted on disk after the last commit; 0 if it noted none. It notes none on S3."""
    try:
        return int(json.loads((table / "_versions" / "latest_version_hint.json").read_bytes())["version"])
    except (OSError, ValueError, TypeError, LookupError):
        return 0


def _is_object_store(uri: str) -> bool:
    """Whether tables are objects below the URI: it names no folder and no database service, and has no parameters."""
    return "://" in uri and not uri.startswith("db://") and "?" not in uri
