"""Small scopes in memory: everything that a search shows, read once for each version of the table.

A scope of ten thousand passages has about ten megabytes. Reading all of it takes as many round trips as reading one
row, and saves two of them and dozens of requests in every later query.

Which scopes are held is decided by bytes that are known beforehand, from the manifest: those of the rows and those of
the indexes. What does not fit is queried row by row, and stays so: a scope takes the place of another one only when
that has not been used for a while.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cachetools import LRUCache

from knowledge.errors import StorageUnavailableError
from knowledge.store.concurrency import gather_pair
from knowledge.store.faults import damaged_values, storage_faults
from knowledge.store.lance import INDEX_CACHE_BYTES, fetch_rows
from knowledge.store.schema import ARCHIVED, BASE, HEAD, PASSAGE, PUBLISHED
from knowledge.store.snapshot import (
    BM25,
    DISTANCE,
    LEXICAL_COLUMNS,
    SEMANTIC_COLUMNS,
    SMALL_SCOPE_ROWS,
    hit_rows,
    item_rows,
    lexical_hits,
    semantic_hits,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from knowledge.embedding.base import Vectors
    from knowledge.scopes import Scope
    from knowledge.store.revision import PassageRow, Retrieved
    from knowledge.store.snapshot import HitRows, ItemRows, Snapshot, TableSnapshot

SCOPE_CACHE_BYTES: Final = 128 * 1024 * 1024
"""Size of the rows of all cached scopes of a process together, those being loaded included."""

CALL_BYTES: Final = 64 * 1024 * 1024
"""Rows that one call may load, so that a call with many scopes takes no seconds: the next one loads more of them."""

INDEX_SHARE_BYTES: Final = INDEX_CACHE_BYTES * 3 // 4
"""Indexes of all cached scopes together, as the library holds them; the rest of its cache is for the other scopes."""

KEEP_SECONDS: Final = 10.0
"""A scope is dropped for another one only if no call has used it for so long: callers whose scopes do not fit together
would otherwise make each other's, or their own, be loaded again and again."""

ROW_GROWTH: Final = 2
TEXT_INDEX_GROWTH: Final = 8
INDEX_GROWTH: Final = 4
"""Bytes in memory for each byte on disk, at most as measured: rows, a full-text index (3.7 to 8.1), B-trees."""

COLUMNS: Final = (
    "kind", "scope", "base_id", "item_id", "revision_id", "title", "language", "source_type", "source_uri",
    "total_chars", "content_sha256", "state", "published_at", "start", "heading", "text", "terms",
)  # fmt: skip
"""Columns that are loaded. Not the metadata column, which repeats the others."""

_REPEATED: Final = frozenset(COLUMNS) - {"total_chars", "start", "text", "terms"}
"""Columns whose values many rows share: each value is kept once."""
_ROW_COLUMNS: Final = tuple(name for name in COLUMNS if name != "terms")
_ROW_ID: Final = "_rowid"
_CACHED_KINDS: Final = (PASSAGE, HEAD, BASE)
_ITEM_BYTES: Final = 256
"""An item's entry in the map of items."""
_MAX_REJECTED: Final = 1_024
_NO_START: Final = -1
_LEAST_LIMIT: Final = 1024 * 1024
"""Rows of very small scopes have more bytes in memory than on disk by more than a factor."""


@dataclass(slots=True)
class LoadAllowance:
    """Bytes of rows that one call may still load."""

    rows: int = CALL_BYTES


@dataclass(frozen=True, slots=True)
class CachedScope:
    """All rows of a scope except its history; row ids are valid in one version only.

    `row_ids` are sorted, and `row_positions` has the position in `rows` of each. `item_numbers` numbers the items;
    `by_item` has the positions of all rows in the order of their items and starts, `item_bounds` the range of each item
    in it, and `starts` the start of each row there, -1 for one that is no passage.
    """

    rows: pa.Table
    passages: int
    archived_bases: frozenset[str]
    published_bases: frozenset[str]
    row_ids: npt.NDArray[np.uint64]
    row_positions: npt.NDArray[np.intp]
    item_numbers: Mapping[str, int]
    item_bounds: npt.NDArray[np.intp]
    by_item: npt.NDArray[np.intp]
    starts: npt.NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        """Size in memory, in bytes."""
        arrays = (self.row_ids, self.row_positions, self.item_bounds, self.by_item, self.starts)
        return int(self.rows.nbytes) + sum(array.nbytes for array in arrays) + _ITEM_BYTES * len(self.item_numbers)

    def rows_by_id(self, row_ids: pa.ChunkedArray, columns: Sequence[str]) -> list[dict[str, Any]]:
        """Rows in the order of `row_ids`; raises `StorageUnavailableError` for one that does not exist."""
        wanted = np.asarray(row_ids.to_numpy(), np.uint64)
        found = np.minimum(np.searchsorted(self.row_ids, wanted), len(self.row_ids) - 1)
        if not np.array_equal(self.row_ids[found], wanted):
            raise StorageUnavailableError
        return self._take(self.row_positions[found], columns)

    def rows_of_passages(self, passages: Iterable[tuple[str, int]]) -> list[dict[str, Any]]:
        """Rows of passages, given as item id and start, and of their items' heads; only those that exist."""
        wanted: dict[str, set[int]] = {}
        for item, start in passages:
            wanted.setdefault(item, {_NO_START}).add(start)
        found = [self._positions(item)[np.isin(self._starts(item), [*starts])] for item, starts in wanted.items()]
        return self._take(np.concatenate([*found, np.array([], np.intp)]), _ROW_COLUMNS)

    def rows_of_item(self, item_id: str) -> list[dict[str, Any]]:
        """Rows of an item's head and passages; none for an unknown item."""
        return self._take(self._positions(item_id), _ROW_COLUMNS)

    def _positions(self, item_id: str) -> npt.NDArray[np.intp]:
        return self.by_item[self._range(item_id)]

    def _starts(self, item_id: str) -> npt.NDArray[np.int64]:
        return self.starts[self._range(item_id)]

    def _range(self, item_id: str) -> slice:
        number = self.item_numbers.get(item_id)
        return slice(0) if number is None else slice(self.item_bounds[number], self.item_bounds[number + 1])

    def _take(self, positions: npt.NDArray[np.intp], columns: Sequence[str]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.rows.select([*columns]).take(pa.array(positions)).to_pylist()
        return rows


def select_rows(batch: pa.RecordBatch, scope: str) -> pa.RecordBatch:
    """A copy of what is kept of a batch: the library's own may be a view of a much larger block.

    Raises `StorageUnavailableError` if a row names another scope, and `pyarrow.ArrowInvalid` for damaged values.
    """
    batch.validate(full=True)
    if pc.any(pc.not_equal(batch.column("scope"), scope)).as_py():
        raise StorageUnavailableError
    kept = batch.filter(pc.is_in(batch.column("kind"), pa.array(_CACHED_KINDS)))
    columns = {
        name: column.dictionary_encode() if name in _REPEATED else column
        for name, column in zip(kept.schema.names, kept.columns, strict=True)
    }
    return pa.RecordBatch.from_pydict(columns)


def cache_rows(batches: list[pa.RecordBatch]) -> CachedScope:
    """A cached scope from what `select_rows` kept; the list is emptied, so that rows are not held twice."""
    rows = _combine(batches)
    items = rows.column("item_id").combine_chunks()
    kinds = pc.cast(rows.column("kind"), pa.string())
    is_passage = np.asarray(pc.equal(kinds, PASSAGE))
    starts = np.where(
        is_passage, np.asarray(pc.fill_null(pc.cast(rows.column("start"), pa.int64()), _NO_START)), _NO_START
    )
    numbers = np.asarray(items.indices)
    by_item = np.lexsort((starts, numbers))
    ids = np.asarray(rows.column(_ROW_ID), np.uint64)
    positions = np.argsort(ids, kind="stable")
    return CachedScope(
        rows=rows.drop_columns([_ROW_ID]),
        passages=int(is_passage.sum()),
        archived_bases=_base_ids(rows, BASE, ARCHIVED),
        published_bases=_base_ids(rows, HEAD, PUBLISHED),
        row_ids=ids[positions],
        row_positions=positions,
        item_numbers={item: number for number, item in enumerate(items.dictionary.to_pylist())},
        item_bounds=np.searchsorted(numbers[by_item], np.arange(len(items.dictionary) + 1)),
        by_item=by_item,
        starts=starts[by_item],
    )


def _combine(batches: list[pa.RecordBatch]) -> pa.Table:
    """One chunk for each column. Column by column, so that at most one is there twice."""
    table = pa.Table.from_batches(batches).unify_dictionaries()
    batches.clear()
    for at, name in enumerate(table.column_names):
        table = table.set_column(at, name, table.column(at).combine_chunks())
    return table


def _base_ids(rows: pa.Table, kind: str, state: str) -> frozenset[str]:
    labels = rows.select(["kind", "state", "base_id"])
    labels = labels.cast(pa.schema([(name, pa.string()) for name in labels.column_names]))
    chosen = pc.and_(pc.equal(labels.column("kind"), kind), pc.equal(labels.column("state"), state))
    return frozenset(labels.column("base_id").filter(chosen).unique().to_pylist())


@dataclass(frozen=True, slots=True)
class CachedSnapshot:
    """A snapshot of a small scope: only row ids, history and the archive are read from the tables."""

    tables: TableSnapshot
    cached: CachedScope

    @property
    def scope(self) -> Scope:
        """The scope that all rows belong to."""
        return self.tables.scope

    @property
    def analyzer_versions(self) -> tuple[int, ...]:
        """Versions of the analyzer that the terms may be of, ascending."""
        return self.tables.analyzer_versions

    async def count_passages(self) -> int:
        """Number of passages that can be searched."""
        return self.cached.passages

    async def archived_bases(self) -> frozenset[str]:
        """Ids of the archived bases."""
        return self.cached.archived_bases

    async def has_published(self, base_id: str) -> bool:
        """Whether a base has at least one published item in this scope."""
        return base_id in self.cached.published_bases

    async def search_lexical(self, terms: str, base_id: str, exclude: Iterable[str], limit: int) -> list[Retrieved]:
        """Passages by BM25, best first."""
        query = self.tables.lexical_query(terms, base_id, exclude, limit)
        return lexical_hits(self.scope, await self._candidates(query, LEXICAL_COLUMNS, BM25))

    async def search_semantic(
        self, vector: Vectors, base_id: str, exclude: Iterable[str], limit: int
    ) -> list[Retrieved]:
        """Passages by cosine, best first."""
        query = await self.tables.semantic_query(vector, base_id, exclude, limit)
        return semantic_hits(self.scope, await self._candidates(query, SEMANTIC_COLUMNS, DISTANCE))

    async def read_hits(self, hits: Sequence[Retrieved]) -> HitRows:
        """Head rows and texts of what was retrieved."""
        return hit_rows(self.scope, self.cached.rows_of_passages(hit.passage for hit in hits))

    async def read_item(self, item_id: str, revision_id: str, start: int, end: int) -> ItemRows:
        """An item's head, the history row of `revision_id`, and the current passages that overlap [start, end)."""
        if revision_id:
            return await self.tables.read_item(item_id, revision_id, start, end)
        return item_rows(self.scope, self.cached.rows_of_item(item_id), item_id, revision_id, start, end)

    async def read_archive(
        self, item_id: str, revision_id: str, start: int, end: int, *, fresh: bool
    ) -> list[PassageRow]:
        """Passages of any revision that overlap [start, end), in order; `fresh` reopens the archive first."""
        return await self.tables.read_archive(item_id, revision_id, start, end, fresh=fresh)

    async def _candidates(self, query: Any, columns: Sequence[str], measure: str) -> list[dict[str, Any]]:  # noqa: ANN401 - the library's query classes share no public base
        with storage_faults():
            found = await fetch_rows(query.select([_ROW_ID, measure]))
        with damaged_values():
            rows = self.cached.rows_by_id(found.column(_ROW_ID), columns)
        return [{**row, measure: value} for row, value in zip(rows, found.column(measure).to_pylist(), strict=True)]


class CachedItems(CachedSnapshot):
    """The snapshot of a read: it reads archived bases from the table, once per handle, so that an outage is noticed."""

    __slots__ = ()

    async def archived_bases(self) -> frozenset[str]:
        """Ids of the archived bases."""
        return await self.tables.archived_bases()


async def load_scope(tables: TableSnapshot, limit: int) -> CachedScope | None:
    """Load the rows of a scope into memory and its indexes into the library's cache, in parallel.

    `None` where the rows turn out to be larger than `limit`, in bytes.
    """
    cached, _ = await gather_pair(_load_rows(tables, limit), tables.load_indexes())
    return cached


async def _load_rows(tables: TableSnapshot, limit: int) -> CachedScope | None:
    batches: list[pa.RecordBatch] = []
    size = 0
    with storage_faults():
        async for batch in tables.stream_rows(COLUMNS):
            batches.append(select_rows(batch, tables.scope.name))
            size += batches[-1].nbytes
            if size > limit:
                return None
    with damaged_values():
        return cache_rows(batches)


@dataclass(slots=True)
class _Entry:
    version: object
    scope: CachedScope | None
    """`None` while it is being loaded."""
    rows: int
    indexes: int
    used: float


class ScopeCache:
    """The cached scopes of a process, one version of each, within `SCOPE_CACHE_BYTES` and `INDEX_SHARE_BYTES`."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._rejected: LRUCache[str, object] = LRUCache(_MAX_REJECTED)

    def touch(self, scopes: Iterable[Scope]) -> None:
        """Note that a call uses these scopes: none of them is dropped for another one of the same call."""
        for scope in scopes:
            if (entry := self._entries.get(scope.current_table)) is not None:
                entry.used = time.monotonic()

    async def find(self, tables: TableSnapshot) -> Snapshot:
        """A snapshot for reads: from memory if this version of the scope is cached, else the one of the tables."""
        cached = self._get(tables, await tables.version()) if tables.scope.current_table in self._entries else None
        return CachedItems(tables, cached) if cached else tables

    async def load(self, tables: TableSnapshot, allowance: LoadAllowance) -> Snapshot:
        """A snapshot for searches: from memory if the scope is cached, or small enough to be loaded now."""
        if not 0 < await tables.count_rows() <= SMALL_SCOPE_ROWS:
            return tables
        version = await tables.version()
        cached = self._get(tables, version)
        if cached is None:
            cached = await self._load(tables, version, allowance)
        return CachedSnapshot(tables, cached) if cached else tables

    def clear(self) -> None:
        """Drop everything."""
        self._entries.clear()
        self._rejected.clear()

    def _get(self, tables: TableSnapshot, version: object) -> CachedScope | None:
        entry = self._entries.get(tables.scope.current_table)
        return entry.scope if entry and entry.version == version else None

    async def _load(self, tables: TableSnapshot, version: object, allowance: LoadAllowance) -> CachedScope | None:
        name = tables.scope.current_table
        if self._rejected.get(name) == version:
            return None
        size = await tables.size()
        rows = ROW_GROWTH * size.rows
        indexes = size.vector_index + TEXT_INDEX_GROWTH * size.text_index + INDEX_GROWTH * size.other_indexes
        if rows > allowance.rows or not self._make_room(name, rows, indexes):
            return None
        allowance.rows -= rows
        entry = self._entries[name] = _Entry(version, None, rows, indexes, time.monotonic())
        try:
            # Rows may be compressed more than `ROW_GROWTH` times: what was not expected is not held.
            entry.scope = await load_scope(tables, max(rows, _LEAST_LIMIT))
        finally:
            if entry.scope is None and self._entries.get(name) is entry:
                del self._entries[name]
        if entry.scope is None:
            self._rejected[name] = version
            return None
        entry.rows = entry.scope.nbytes
        return entry.scope

    def _make_room(self, name: str, rows: int, indexes: int) -> bool:
        """Whether a scope fits, after dropping its earlier version and what was not used lately."""
        if rows > CALL_BYTES or indexes > INDEX_SHARE_BYTES:
            return False
        earlier = self._entries.get(name)
        if earlier is not None and earlier.scope is None:
            # Another call is loading it.
            return False
        self._entries.pop(name, None)
        unused = sorted(
            (entry.used, other)
            for other, entry in self._entries.items()
            if entry.scope is not None and time.monotonic() - entry.used > KEEP_SECONDS
        )
        for _, other in unused:
            if self._fits(rows, indexes):
                break
            del self._entries[other]
        return self._fits(rows, indexes)

    def _fits(self, rows: int, indexes: int) -> bool:
        held = self._entries.values()
        return (
            rows + sum(entry.rows for entry in held) <= SCOPE_CACHE_BYTES
            and indexes + sum(entry.indexes for entry in held) <= INDEX_SHARE_BYTES
        )
