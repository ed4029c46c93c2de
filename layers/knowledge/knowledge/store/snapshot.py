"""One scope at one version: all queries of its two tables that searches and reads make.

A table for each scope is the first isolation layer; this is the second: a search filters on the scope too, and every
row that is returned, by a search or by its address, is refused if it names another scope.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from knowledge.errors import StorageUnavailableError
from knowledge.store.concurrency import gather_all, gather_pair
from knowledge.store.faults import StaleVersionError, damaged_values, storage_faults
from knowledge.store.lance import any_term, col, fetch_rows, lit, stream_batches
from knowledge.store.revision import (
    Head,
    PassageRow,
    Retrieved,
    ScopeHeads,
    head_of,
    is_readable,
    passage_of,
    retrieved_of,
)
from knowledge.store.schema import (
    ARCHIVED,
    BASE,
    EXACT_INDEX,
    HEAD,
    HISTORY,
    METADATA_JSON,
    PASSAGE,
    PUBLISHED,
    ROW_ADDRESS,
    SHORT_INDEX,
    archive_address,
    current_address,
    earliest_start,
    head_address,
    history_address,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

    from knowledge.embedding.base import Vectors
    from knowledge.scopes import Scope
    from knowledge.store.lance import AsyncTable, Expr
    from knowledge.store.table_handles import OpenTable, TableHandles

    Row = Mapping[str, Any]

SMALL_SCOPE_ROWS: Final = 20_000
"""Scopes with more rows, heads and history included, are never loaded: that would take too long."""

ALL_PARTITIONS: Final = 100_000
"""Partitions that a vector query searches: all, because fewer lose recall (6 % measured) and save little."""

REFINE_FACTOR: Final = 2
"""Candidates by quantized vectors for each one needed; all are ranked again by their full vectors."""

LEXICAL_COLUMNS: Final = ("scope", "item_id", "total_chars", "start", "terms")
SEMANTIC_COLUMNS: Final = ("scope", "item_id", "start")
"""Columns of a candidate. Few, because each is a separate request; the others are read only for the hits."""

BM25: Final = "_score"
DISTANCE: Final = "_distance"
"""Columns in which the library returns its scores and distances."""

_VECTOR_INDEX: Final = "Ivf"
_TEXT_INDEX: Final = "FTS"
"""Types of indexes, as the library names them; a vector index's name begins with it."""

_VECTOR_NUMBER_BYTES: Final = 2
_BATCH_ROWS: Final = 1_024
"""Rows in one batch while a scope is loaded."""

# Where a passage ends follows from its text.
_PASSAGE_COLUMNS: Final = (METADATA_JSON, "text")
_LABELS: Final = ("kind", "scope", "base_id", "state", ROW_ADDRESS)
_ALL_COLUMNS: Final = (METADATA_JSON, "state", "text")

_ADDRESS_INDEX: Final = "place_idx"
# Indexes that searches of a small scope and reads use. A small scope has at most one of the two vector indexes; asking
# which would be another round trip.
_SEARCH_INDEXES: Final = ("terms_idx", "kind_idx", "scope_idx", _ADDRESS_INDEX, f"{EXACT_INDEX}1", f"{EXACT_INDEX}4")


@dataclass(frozen=True, slots=True)
class ItemRows:
    """The rows of one item: its head, one revision's history row, and passages of its current revision in order."""

    head: Head | None
    history: Head | None
    passages: list[PassageRow]


class HitRows(NamedTuple):
    """The rows of what a search found: heads by item id, passages by item id and start; only those that exist."""

    heads: dict[str, Head]
    passages: dict[tuple[str, int], PassageRow]


class ScopeSize(NamedTuple):
    """Bytes on disk of one version of a `current` table: its rows without vectors, and its indexes by kind."""

    rows: int
    vector_index: int
    text_index: int
    other_indexes: int


class Snapshot(Protocol):
    """One scope at one version of its `current` table. Methods raise `StorageUnavailableError`."""

    @property
    def scope(self) -> Scope:
        """The scope that all rows belong to."""

    @property
    def analyzer_versions(self) -> tuple[int, ...]:
        """Versions of the analyzer that the terms may be of, ascending."""

    async def count_passages(self) -> int:
        """Number of passages that can be searched."""

    async def archived_bases(self) -> frozenset[str]:
        """Ids of the archived bases."""

    async def has_published(self, base_id: str) -> bool:
        """Whether a base has at least one published item in this scope."""

    async def search_lexical(self, terms: str, base_id: str, exclude: Iterable[str], limit: int) -> list[Retrieved]:
        """Passages by BM25, best first; `score` is raw, `terms` are the passage's own.

        An empty `base_id` means all bases; `exclude` holds ids of items to leave out.
        """

    async def search_semantic(
        self, vector: Vectors, base_id: str, exclude: Iterable[str], limit: int
    ) -> list[Retrieved]:
        """Passages by cosine, best first; `score` is the raw cosine. Otherwise as `search_lexical`."""

    async def read_hits(self, hits: Sequence[Retrieved]) -> HitRows:
        """Head rows and texts of what was retrieved."""

    async def read_item(self, item_id: str, revision_id: str, start: int, end: int) -> ItemRows:
        """An item's head, the history row of `revision_id`, and the current passages that overlap [start, end)."""

    async def read_archive(
        self, item_id: str, revision_id: str, start: int, end: int, *, fresh: bool
    ) -> list[PassageRow]:
        """Passages of any revision that overlap [start, end), in order; `fresh` reopens the archive first."""


class TableSnapshot:
    """A snapshot that queries the tables row by row."""

    def __init__(self, scope: Scope, current: OpenTable, tables: TableHandles) -> None:
        self._scope = scope
        self._current = current
        self._handle = current.handle
        self._facts = current.facts
        self._tables = tables

    @property
    def scope(self) -> Scope:
        """The scope that all rows belong to."""
        return self._scope

    @property
    def analyzer_versions(self) -> tuple[int, ...]:
        """Versions of the analyzer that the terms may be of, ascending."""
        return self._current.analyzer_versions

    async def count_passages(self) -> int:
        """Number of passages that can be searched."""
        if self._facts.passages is None:
            with storage_faults():
                self._facts.passages = await self._handle.count_rows(_is_kind(PASSAGE).to_sql())
        return self._facts.passages

    async def archived_bases(self) -> frozenset[str]:
        """Ids of the archived bases."""
        return (await self._read_heads()).archived_bases

    async def has_published(self, base_id: str) -> bool:
        """Whether a base has at least one published item in this scope."""
        return base_id in (await self._read_heads()).published_bases

    async def search_lexical(self, terms: str, base_id: str, exclude: Iterable[str], limit: int) -> list[Retrieved]:
        """Passages by BM25, best first."""
        query = self.lexical_query(terms, base_id, exclude, limit)
        return lexical_hits(self.scope, await self._fetch(query.select([*LEXICAL_COLUMNS, BM25])))

    async def search_semantic(
        self, vector: Vectors, base_id: str, exclude: Iterable[str], limit: int
    ) -> list[Retrieved]:
        """Passages by cosine, best first."""
        query = await self.semantic_query(vector, base_id, exclude, limit)
        # The vectors are read again by each query where the library's cache cannot hold them.
        async with self._tables.vector_limiter.reserve(await self._vector_bytes()):
            return semantic_hits(self.scope, await self._fetch(query.select([*SEMANTIC_COLUMNS, DISTANCE])))

    async def read_hits(self, hits: Sequence[Retrieved]) -> HitRows:
        """Head rows and texts of what was retrieved."""
        heads = {head_address(hit.item_id) for hit in hits}
        texts = {current_address(hit.item_id, hit.start) for hit in hits}
        # One query for both: an item's head and its passages are adjacent in the index.
        rows = await self._select(col(ROW_ADDRESS).isin(sorted(heads | texts)), _ALL_COLUMNS)
        return hit_rows(self.scope, rows)

    async def read_item(self, item_id: str, revision_id: str, start: int, end: int) -> ItemRows:
        """An item's head, the history row of `revision_id`, and the current passages that overlap [start, end)."""
        # The same requests for every item that cannot be read, whatever the reason: none of its own.
        heads, _ = await gather_pair(self._read_heads(), self._load_addresses())
        if not heads.has_readable(item_id):
            return ItemRows(None, None, [])
        head, last = head_address(item_id), current_address(item_id, end)
        first = current_address(item_id, earliest_start(start))
        # One query for all: at the beginning of a text the head is adjacent.
        where = _between(head, last) if first == head + 1 else _between(first, last) | _between(head, head)
        if revision_id:
            where = where | (col(ROW_ADDRESS) == lit(history_address(item_id, revision_id)))
        return item_rows(self.scope, await self._select(where, _ALL_COLUMNS), item_id, revision_id, start, end)

    async def read_archive(
        self, item_id: str, revision_id: str, start: int, end: int, *, fresh: bool
    ) -> list[PassageRow]:
        """Passages of any revision that overlap [start, end), in order; `fresh` reopens the archive first."""
        table = await self._tables.open_revisions(self.scope, fresh=fresh)
        if table is None:
            raise StorageUnavailableError
        first, last = (archive_address(item_id, revision_id, at) for at in (earliest_start(start), end - 1))
        rows = await self._fetch(table.handle.query().where(_between(first, last)).select([*_PASSAGE_COLUMNS]))
        with damaged_values():
            mine = [row for row in rows if (row["item_id"], row["revision_id"]) == (item_id, revision_id)]
        return _window(mine, start, end)

    async def count_rows(self) -> int:
        """Number of rows of all kinds."""
        if self._facts.rows is None:
            with storage_faults():
                self._facts.rows = await self._handle.count_rows()
        return self._facts.rows

    async def version(self) -> object:
        """A value that identifies this version, even among those of a table that was dropped and created again."""
        if self._facts.version is None:
            indices = await self._list_indices()
            with storage_faults():
                number = await self._handle.version()
            self._facts.version = (number, frozenset(index.index_uuid for index in indices))
        return self._facts.version

    async def size(self) -> ScopeSize:
        """Bytes on disk, as the manifest has them; those of the rows without the vectors."""
        indices = await self._list_indices()
        with storage_faults():
            stats: Any = await self._handle.stats()
        sizes = Counter[str]()
        for index in indices:
            sizes[index.index_type] += index.size_bytes or 0
        vectors = sum(size for kind, size in sizes.items() if kind.startswith(_VECTOR_INDEX))
        data = stats["total_bytes"] - sizes.total() - await self._vector_bytes()
        others = sizes.total() - vectors - sizes[_TEXT_INDEX]
        return ScopeSize(max(data, 0), vectors, sizes[_TEXT_INDEX], others)

    async def _vector_bytes(self) -> int:
        return await self.count_rows() * self._tables.dimensions * _VECTOR_NUMBER_BYTES

    async def stream_rows(self, columns: Sequence[str]) -> AsyncIterator[pa.RecordBatch]:
        """All rows in small batches, with their row ids."""
        async for batch in stream_batches(self._handle.query().select([*columns]).with_row_id(), _BATCH_ROWS):
            yield batch

    async def load_indexes(self) -> None:
        """Load the indexes of searches and reads into the library's cache."""
        loader = self._current.loader or await self._tables.open_loader(self.scope.current_table)
        await gather_all(self._prewarm(loader, name) for name in _SEARCH_INDEXES)

    def lexical_query(self, terms: str, base_id: str, exclude: Iterable[str], limit: int) -> Any:  # noqa: ANN401 - see `_fetch`
        """The library's query for `search_lexical`; its columns are still to be selected."""
        query = self._handle.query().nearest_to_text(any_term(terms, "terms"))
        return query.where(self._candidates(base_id, exclude)).limit(limit)

    async def semantic_query(self, vector: Vectors, base_id: str, exclude: Iterable[str], limit: int) -> Any:  # noqa: ANN401 - see `_fetch`
        """The library's query for `search_semantic`; its columns are still to be selected."""
        query = self._handle.query().nearest_to(vector).distance_type("cosine").nprobes(ALL_PARTITIONS)
        if any(index.name.startswith(SHORT_INDEX) for index in await self._list_indices()):
            query = query.refine_factor(REFINE_FACTOR)
        return query.where(self._candidates(base_id, exclude)).limit(limit)

    def _candidates(self, base_id: str, exclude: Iterable[str]) -> Expr:
        where = (col("scope") == lit(self.scope.name)) & _is_kind(PASSAGE)
        if base_id:
            where = where & (col("base_id") == lit(base_id))
        excluded = sorted(exclude)
        return where & ~col("item_id").isin(excluded) if excluded else where

    async def _list_indices(self) -> Sequence[Any]:
        if self._facts.indices is None:
            with storage_faults():
                self._facts.indices = list(await self._handle.list_indices())
        return self._facts.indices

    async def _read_heads(self) -> ScopeHeads:
        async with self._facts.heads_lock:
            if self._facts.heads is None:
                with storage_faults():
                    rows = await fetch_rows(
                        self._handle.query().where(_is_kind(HEAD) | _is_kind(BASE)).select([*_LABELS])
                    )
                with damaged_values():
                    self._facts.heads = scope_heads(self.scope, rows)
        return self._facts.heads

    async def _load_addresses(self) -> None:
        # Of a small scope, once: then later reads find their index pages in memory.
        if not self._facts.addresses_loaded:
            if await self.count_rows() <= SMALL_SCOPE_ROWS:
                await self._prewarm(self._handle, _ADDRESS_INDEX)
            self._facts.addresses_loaded = True

    async def _prewarm(self, table: AsyncTable, index: str) -> None:
        # An index that is missing or cannot be read fails the query that follows, if that needs it.
        try:
            with storage_faults():
                await table.prewarm_index(index)
        except StaleVersionError:
            pass  # so is a missing index reported
        except StorageUnavailableError:
            self._tables.had_fault = True

    async def _select(self, where: Expr, columns: Sequence[str], limit: int | None = None) -> list[Row]:
        query = self._handle.query().where(where).select([*columns])
        return await self._fetch(query if limit is None else query.limit(limit))

    async def _fetch(self, query: Any) -> list[Row]:  # noqa: ANN401 - the library's three query classes share no public base
        with storage_faults():
            table = await fetch_rows(query)
        with damaged_values():
            rows = [_merge_metadata(row) for row in table.to_pylist()]
        if any(row.get("scope") != self.scope.name for row in rows):
            raise StorageUnavailableError
        return rows


def scope_heads(scope: Scope, rows: pa.Table) -> ScopeHeads:
    """Which items can be read, from the columns `_LABELS` of head and base rows."""
    if pc.any(pc.not_equal(rows.column("scope"), scope.name)).as_py():
        raise StorageUnavailableError
    archived = _find_bases(rows, BASE, ARCHIVED)
    published = _find_bases(rows, HEAD, PUBLISHED)
    readable = pa.array([base for base in published if is_readable(PUBLISHED, base, archived)], pa.string())
    chosen = pc.and_(_has_label(rows, HEAD, PUBLISHED), pc.is_in(rows.column("base_id"), readable))
    return ScopeHeads(archived, published, np.sort(np.asarray(rows.column(ROW_ADDRESS).filter(chosen))))


def _find_bases(rows: pa.Table, kind: str, state: str) -> frozenset[str]:
    return frozenset(rows.column("base_id").filter(_has_label(rows, kind, state)).unique().to_pylist())


def _has_label(rows: pa.Table, kind: str, state: str) -> pa.ChunkedArray:
    return pc.and_(pc.equal(rows.column("kind"), kind), pc.equal(rows.column("state"), state))


def lexical_hits(scope: Scope, rows: Iterable[Row]) -> list[Retrieved]:
    """Candidates from rows with `LEXICAL_COLUMNS` and `BM25`."""
    with damaged_values():
        return [retrieved_of(scope, row, row[BM25]) for row in rows]


def semantic_hits(scope: Scope, rows: Iterable[Row]) -> list[Retrieved]:
    """Candidates from rows with `SEMANTIC_COLUMNS` and `DISTANCE`."""
    with damaged_values():
        return [retrieved_of(scope, row, 1.0 - row[DISTANCE]) for row in rows]


def hit_rows(scope: Scope, rows: Sequence[Row]) -> HitRows:
    """Head and passage rows as values."""
    with damaged_values():
        heads = {row["item_id"]: head_of(scope, row) for row in rows if row["kind"] == HEAD}
        passages = [passage_of(row) for row in rows if row["kind"] == PASSAGE]
    return HitRows(heads, {(row.item_id, row.start): row for row in passages})


def item_rows(scope: Scope, rows: Iterable[Row], item_id: str, revision_id: str, start: int, end: int) -> ItemRows:
    """What `read_item` returns, from rows among which others may be: two addresses may have one digest."""
    with damaged_values():
        mine = [row for row in rows if row["item_id"] == item_id]
        heads = [head_of(scope, row) for row in mine if row["kind"] == HEAD]
        history = [head_of(scope, row) for row in mine if row["kind"] == HISTORY and row["revision_id"] == revision_id]
    return ItemRows(next(iter(heads), None), next(iter(history), None), _window(mine, start, end))


def _window(rows: Iterable[Row], start: int, end: int) -> list[PassageRow]:
    with damaged_values():
        found = [passage_of(row) for row in rows if row["kind"] == PASSAGE]
    return sorted((row for row in found if row.overlaps(start, end)), key=lambda row: row.start)


def _is_kind(kind: str) -> Expr:
    return col("kind") == lit(kind)


def _between(first: int, last: int) -> Expr:
    # A range, not a list: a list looks up each address by itself and reads the same index page each time.
    return (col(ROW_ADDRESS) >= lit(first)) & (col(ROW_ADDRESS) <= lit(last))


def _merge_metadata(row: dict[str, Any]) -> Row:
    metadata: str | None = row.pop(METADATA_JSON, None)
    return row if metadata is None else {**json.loads(metadata), **row}
