"""Write access to a dataset: the one module of the publishing side that imports LanceDB.

A `Table` is moved to its latest version before each read and each commit.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar, cast

import lancedb
import pyarrow as pa
from lancedb import AsyncConnection, AsyncTable
from lancedb.expr import Expr, col, lit
from lancedb.index import FTS, Bitmap, BTree, IvfFlat, IvfRq

from knowledge.errors import StorageUnavailableError
from knowledge.store.faults import MissingTableError
from knowledge.store.lance import read_noted_version
from knowledge.store.options import can_connect, is_local, normalize_uri
from knowledge.store.schema import ROW_ADDRESS, TERMS
from publish_knowledge.store.retries import RetryingCaller
from publish_knowledge.store.vector_index import SHORT_BITS, VectorIndex

T = TypeVar("T")

Value = str | int | Sequence[str] | Sequence[int] | Sequence[range]
Where = Mapping[str, Value]
"""Columns and what they must equal; a list means any of it, a list of ranges any number within one of them."""

KEEP_VERSIONS: Final = timedelta(days=1)
"""Age at which old versions are removed. No running reader or publisher uses one for that long."""

MERGE_TIMEOUT: Final = timedelta(minutes=5)
"""The library's own 30 s are too short for many publishers on one table, or for a slow uplink."""

_OTHER_SCHEMA: Final = re.compile("does not match existing table schema")

_TERMS_SCHEMA: Final = pa.schema([pa.field("key", pa.string(), nullable=False), pa.field(TERMS, pa.string())])
_STATE_SCHEMA: Final = pa.schema([pa.field("key", pa.string(), nullable=False), pa.field("state", pa.string())])


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The result of one merge, which was applied to version `version - 1` of the table and made `version`."""

    version: int
    updated: int
    deleted: int


@dataclass(frozen=True, slots=True)
class Index:
    """An index: its name, and how many rows it does not cover (they are scanned instead)."""

    name: str
    unindexed_rows: int


@dataclass(frozen=True, slots=True)
class Health:
    """How much maintenance a table needs; `indexes` by column."""

    rows: int
    fragments: int
    indexes: Mapping[str, Index]

    @property
    def unindexed_rows(self) -> int:
        """Rows outside the index that lags furthest behind."""
        return max((index.unindexed_rows for index in self.indexes.values()), default=0)


class WriteGuard(Protocol):
    """Decides whether a writer may still write; both methods raise where it may not."""

    async def check(self) -> None:
        """Check before a write, or after a read that failed."""

    async def check_after_write(self) -> None:
        """Check after a write, even one that failed, and remove what it may have left."""


class Store:
    """One dataset at one URI, for one embedding model. Connects at the first call."""

    def __init__(
        self, uri: str, provider_model: str, dimensions: int, storage_options: Mapping[str, str] | None = None
    ) -> None:
        self.uri = normalize_uri(uri)
        self.model = provider_model
        self.dimensions = dimensions
        self.storage_options = {} if is_local(self.uri) else dict(storage_options or {})
        self._caller = RetryingCaller(self.uri)
        self._connection: AsyncConnection | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is not None:
            cast("Any", self._connection).close()
            self._connection = None

    async def list_tables(self) -> tuple[str, ...]:
        """List the names of all tables, sorted; none for a path that does not exist."""
        return tuple(sorted(await self._caller.run(self._fetch_table_names))) if can_connect(self.uri) else ()

    async def open_table(self, name: str, guard: WriteGuard | None = None) -> Table | None:
        """Open a table at its latest version; `None` if there is none of that name."""
        try:
            return await self._open_latest(name, guard) if can_connect(self.uri) else None
        except MissingTableError:
            return None

    async def create_table(self, name: str, schema: pa.Schema, guard: WriteGuard | None = None) -> Table:
        """Create an empty table, or open the one that another writer has just created."""
        await _run_guarded(self._caller, guard, lambda: self._create_table(name, schema))
        return await self._open_latest(name, guard)

    async def drop_table(self, name: str) -> None:
        """Remove a table and its files, if it exists."""
        try:
            await self._caller.run(lambda: self._drop_table(name))
        except MissingTableError:
            return

    async def _open_latest(self, name: str, guard: WriteGuard | None) -> Table:
        handle = await self._caller.run(lambda: self._open_table(name))
        return Table(name, self._caller, handle, self._open_table, guard)

    async def _connect(self) -> AsyncConnection:
        if self._connection is None:
            self._connection = await lancedb.connect_async(self.uri, storage_options=self.storage_options)
        return self._connection

    async def _fetch_table_names(self) -> list[str]:
        connection = await self._connect()
        page = await connection.list_tables()
        names = list(page.tables)
        while page.page_token:
            page = await connection.list_tables(page_token=page.page_token)
            names += page.tables
        return names

    async def _open_table(self, name: str) -> AsyncTable:
        return await (await self._connect()).open_table(name)

    async def _create_table(self, name: str, schema: pa.Schema) -> None:
        try:
            await (await self._connect()).create_table(name, schema=schema, exist_ok=True)
        except ValueError as error:
            # Another writer has just created it, a second earlier: the time is in the marker's metadata. Whoever opens
            # a table checks its schema.
            if not _OTHER_SCHEMA.search(str(error)):
                raise

    async def _drop_table(self, name: str) -> None:
        await (await self._connect()).drop_table(name)


class Table:
    """One table, always read and written at its latest version unless another is named."""

    def __init__(
        self,
        name: str,
        caller: RetryingCaller,
        handle: AsyncTable,
        open_table: Callable[[str], Awaitable[AsyncTable]],
        guard: WriteGuard | None = None,
    ) -> None:
        self.name = name
        self._caller = caller
        self._handle = handle
        self._open_table = open_table
        self._guard = guard

    async def schema(self) -> pa.Schema:
        """Arrow schema, metadata included."""
        return await self._run(lambda table: table.schema())

    async def version(self) -> int:
        """Number of the latest version."""
        return await self._run(lambda table: table.version())

    async def read_rows(self, where: Where, columns: Sequence[str], at: int | None = None) -> pa.Table:
        """Read rows of the latest version, or of version `at`."""
        return await self._run(
            lambda table: table.query().where(_build_filter(where)).select([*columns]).to_arrow(), at
        )

    async def read_column(self, name: str) -> list[Any]:
        """Read one column of all rows."""
        rows = await self._run(lambda table: table.query().select([name]).to_arrow())
        return [*rows.column(name).to_pylist()]

    async def count_rows(self, where: Where) -> int:
        """Count the rows of the latest version."""
        return await self._run(lambda table: table.count_rows(_build_filter(where).to_sql()))

    async def insert_missing(self, rows: pa.Table) -> MergeResult:
        """Add the rows whose key is new, in one commit; existing rows stay as they are."""
        return await self._merge(rows, lambda table: table.merge_insert("key").when_not_matched_insert_all())

    async def merge(self, rows: pa.Table, delete: Where | None = None) -> MergeResult:
        """Write rows by key, and remove those that match `delete` and are not among them, in one commit."""

        def builder(table: AsyncTable) -> Any:  # noqa: ANN401 - the library does not export the builder
            return _add_deletion(
                table.merge_insert("key").when_matched_update_all().when_not_matched_insert_all(), delete
            )

        return await self._merge(rows, builder)

    async def set_states(
        self, keys: Sequence[str], state: str, *, delete: Where | None = None, only_if: Mapping[str, str] | None = None
    ) -> MergeResult:
        """Change the state of rows in one commit, and no other column, whatever is written to them meanwhile.

        `only_if` names columns and the values they must still have; `MergeResult.updated` counts the rows that had.
        """
        rows = pa.table({"key": [*keys], "state": [state] * len(keys)}, schema=_STATE_SCHEMA)
        condition = " and ".join(f"target.{name} = {lit(value).to_sql()}" for name, value in (only_if or {}).items())

        def builder(table: AsyncTable) -> Any:  # noqa: ANN401 - as above
            return _add_deletion(table.merge_insert("key").when_matched_update_all(where=condition or None), delete)

        return await self._merge(rows, builder)

    async def set_terms(self, keys: Sequence[str], terms: Sequence[str | None]) -> MergeResult:
        """Change the terms of rows in one commit, and no other column; rows that are gone stay away."""
        rows = pa.table({"key": [*keys], TERMS: [*terms]}, schema=_TERMS_SCHEMA)
        return await self._merge(rows, lambda table: table.merge_insert("key").when_matched_update_all())

    async def set_column_metadata(self, column: str, metadata: Mapping[str, str]) -> None:
        """Add to a column's metadata in one commit."""
        await self._write(lambda table: table.update_field_metadata({"path": column, "metadata": dict(metadata)}))

    async def delete(self, where: Where) -> None:
        """Remove rows in one commit."""
        await self._write(lambda table: table.delete(_build_filter(where).to_sql()))

    async def commit_nothing(self) -> None:
        """Commit a new version with the same rows; unlike a change of metadata it conflicts with no other commit."""
        await self._write(lambda table: table.delete("false"))

    async def create_index(self, column: str) -> None:
        """Build the index that suits a column, unless another writer has."""

        async def once(table: AsyncTable) -> None:
            if all(column not in index.columns for index in await table.list_indices()):
                await table.create_index(column, config=_scalar_index(column))

        await self._write(once)

    async def create_vector_index(self, index: VectorIndex) -> None:
        """Build a vector index for cosine distance."""
        partitions = index.partitions
        config = (
            IvfFlat(distance_type="cosine", num_partitions=partitions)
            if index.exact
            else IvfRq(distance_type="cosine", num_partitions=partitions, num_bits=SHORT_BITS)
        )
        await self._write(lambda table: table.create_index("vector", config=config, name=index.name))

    async def drop_index(self, name: str) -> None:
        """Remove an index by its name."""
        await self._write(lambda table: table.drop_index(name))

    async def optimize(self) -> None:
        """Compact small fragments, update indexes, and remove versions older than `KEEP_VERSIONS`."""
        await self._write(lambda table: table.optimize(cleanup_older_than=KEEP_VERSIONS))

    async def read_health(self) -> Health:
        """Count the fragments, and describe the index of each indexed column."""
        return await self._run(_fetch_health)

    async def list_missing_versions(self) -> list[int]:
        """Numbers of the versions that are gone, between the oldest and the newest one or the one noted on disk."""
        kept = {version["version"] for version in await self._run(lambda table: cast("Any", table).list_versions())}
        noted = read_noted_version(Path(self._caller.uri) / f"{self.name}.lance")
        return sorted(set(range(min(kept), max(noted, *kept) + 1)) - kept)

    async def list_unreadable_indexes(self) -> list[str]:
        """Names of the indexes that cannot be loaded."""
        unreadable = []
        for index in (await self.read_health()).indexes.values():
            try:
                await self._prewarm(index.name)
            except StorageUnavailableError:
                unreadable.append(index.name)
        return unreadable

    async def _prewarm(self, name: str) -> None:
        await self._run(lambda table: table.prewarm_index(name))

    async def _merge(self, rows: pa.Table, builder: Callable[[AsyncTable], Any]) -> MergeResult:
        async def once(table: AsyncTable) -> MergeResult:
            # The library counts null vectors as bad even where the column allows them.
            made = await builder(table).execute(rows, on_bad_vectors="null", timeout=MERGE_TIMEOUT)
            return MergeResult(made.version, made.num_updated_rows, made.num_deleted_rows)

        return await self._write(once)

    async def _run(self, work: Callable[[AsyncTable], Awaitable[T]], at: int | None = None) -> T:
        async def once() -> T:
            return await work(await self._open_version(at))

        try:
            return await self._caller.run(once)
        except (StorageUnavailableError, MissingTableError):
            if self._guard is not None:
                await self._guard.check()
            raise

    async def _write(self, work: Callable[[AsyncTable], Awaitable[T]]) -> T:
        async def once() -> T:
            return await work(await self._open_version(None))

        return await _run_guarded(self._caller, self._guard, once)

    async def _open_version(self, version: int | None) -> AsyncTable:
        if version is None:
            await cast("Any", self._handle).checkout_latest()
            return self._handle
        table = await self._open_table(self.name)
        await table.checkout(version)
        return table


async def _run_guarded(caller: RetryingCaller, guard: WriteGuard | None, write: Callable[[], Awaitable[T]]) -> T:
    """Run a write between two checks; the first is made again before every attempt."""
    if guard is None:
        return await caller.run(write)

    async def once() -> T:
        await guard.check()
        return await write()

    try:
        result = await caller.run(once)
    except (StorageUnavailableError, MissingTableError):
        await guard.check_after_write()
        raise
    await guard.check_after_write()
    return result


def _add_deletion(builder: Any, delete: Where | None) -> Any:  # noqa: ANN401 - as above
    return builder if delete is None else builder.when_not_matched_by_source_delete(_build_filter(delete))


def _scalar_index(column: str) -> FTS | Bitmap | BTree:
    if column == TERMS:
        # Terms are analyzed before they reach the index: it splits at spaces and does nothing else.
        plain: dict[str, Any] = {"stem": False, "remove_stop_words": False, "ascii_folding": False, "lower_case": False}
        return FTS(base_tokenizer="whitespace", max_token_length=None, **plain)
    return BTree() if column == ROW_ADDRESS else Bitmap()


async def _fetch_health(table: AsyncTable) -> Health:
    indexes = {}
    for index in await table.list_indices():
        stats = await table.index_stats(index.name)
        indexes[index.columns[0]] = Index(index.name, stats.num_unindexed_rows if stats else 0)
    stats_of_table: Any = await table.stats()
    return Health(stats_of_table["num_rows"], stats_of_table["fragment_stats"]["num_fragments"], indexes)


def _build_filter(where: Where) -> Expr:
    return reduce(lambda left, right: left & right, (_build_condition(name, value) for name, value in where.items()))


def _build_condition(name: str, value: Value) -> Expr:
    if isinstance(value, str | int):
        return col(name) == lit(value)
    within = [
        (col(name) >= lit(each.start)) & (col(name) < lit(each.stop)) for each in value if isinstance(each, range)
    ]
    if within:
        return reduce(lambda left, right: left | right, within)
    return col(name).isin([each for each in value if isinstance(each, str | int)])
