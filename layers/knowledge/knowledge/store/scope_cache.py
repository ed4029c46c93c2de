"""Small scopes in memory: everything that a search shows, read once for each version of the table.

A scope of ten thousand passages has about ten megabytes. Reading all of it takes as many round trips as reading one
row, and saves two of them and dozens of requests in every later query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cachetools import LRUCache

from knowledge.errors import StorageUnavailableError
from knowledge.store.concurrency import gather_pair
from knowledge.store.faults import storage_faults
from knowledge.store.lance import fetch_rows
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

CALL_ROWS: Final = 100_000
"""Rows that one call may load: the limit of a scope falls with the number of scopes, so that memory stays bounded."""

SCOPE_CACHE_BYTES: Final = 128 * 1024 * 1024
"""Size of all cached scopes of a process together; the least recently used go first."""

COLUMNS: Final = (
    "kind", "scope", "base_id", "item_id", "revision_id", "title", "language", "source_type", "source_uri",
    "total_chars", "content_sha256", "state", "published_at", "start", "heading", "text", "terms",
)  # fmt: skip
"""Columns that are loaded. Not the metadata column, which repeats the others."""

_ROW_COLUMNS: Final = tuple(name for name in COLUMNS if name != "terms")
_ROW_ID: Final = "_rowid"


def cache_row_limit(scopes: int) -> int:
    """Most rows of a scope that is loaded, in a call with so many scopes."""
    return min(SMALL_SCOPE_ROWS, CALL_ROWS // max(1, scopes))


@dataclass(frozen=True, slots=True)
class CachedScope:
    """All rows of a scope except its history, in the order of their row ids, which are valid in one version only.

    `heads`, `starts` and `items` give positions in `rows`: of an item's head, of the passage of an item at a start, and
    of all rows of an item.
    """

    rows: pa.Table
    passages: int
    archived_bases: frozenset[str]
    published_bases: frozenset[str]
    row_ids: npt.NDArray[np.uint64]
    heads: Mapping[str, int]
    starts: Mapping[tuple[str, int], int]
    items: Mapping[str, Sequence[int]]

    def rows_by_id(self, row_ids: pa.ChunkedArray, columns: Sequence[str]) -> list[dict[str, Any]]:
        """Rows in the order of `row_ids`; raises `StorageUnavailableError` for one that does not exist."""
        wanted = np.asarray(row_ids.to_numpy(), np.uint64)
        positions = np.searchsorted(self.row_ids, wanted)
        if not np.array_equal(self.row_ids[np.minimum(positions, len(self.row_ids) - 1)], wanted):
            raise StorageUnavailableError
        return self._take(positions, columns)

    def rows_of_passages(self, passages: Iterable[tuple[str, int]]) -> list[dict[str, Any]]:
        """Rows of passages, given as item id and start, and of their items' heads; only those that exist."""
        wanted = set(passages)
        heads = [self.heads.get(item) for item in {item for item, _ in wanted}]
        found = [position for position in (*heads, *map(self.starts.get, wanted)) if position is not None]
        return self._take(np.array(found, np.int64), _ROW_COLUMNS)

    def rows_of_item(self, item_id: str) -> list[dict[str, Any]]:
        """Rows of an item's head and passages; none for an unknown item."""
        return self._take(np.array(self.items.get(item_id, []), np.int64), _ROW_COLUMNS)

    def _take(self, positions: npt.NDArray[np.integer[Any]], columns: Sequence[str]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.rows.select([*columns]).take(pa.array(positions)).to_pylist()
        return rows


def cache_rows(rows: pa.Table, scope: str) -> CachedScope:
    """A cached scope from all rows of its table, with `COLUMNS` and row ids.

    Raises `StorageUnavailableError` if a row names another scope.
    """
    if pc.any(pc.not_equal(rows.column("scope"), scope)).as_py():
        raise StorageUnavailableError
    kept = rows.filter(pc.is_in(rows.column("kind"), pa.array([PASSAGE, HEAD, BASE])))
    kept = kept.sort_by(_ROW_ID).combine_chunks()
    kinds, items = kept.column("kind").to_pylist(), kept.column("item_id").to_pylist()
    starts = kept.column("start").to_pylist()
    positions: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        positions.setdefault(item, []).append(position)
    return CachedScope(
        rows=kept,
        passages=kinds.count(PASSAGE),
        archived_bases=_base_ids(kept, BASE, ARCHIVED),
        published_bases=_base_ids(kept, HEAD, PUBLISHED),
        row_ids=np.asarray(kept.column(_ROW_ID).to_numpy(), np.uint64),
        heads={items[at]: at for at, kind in enumerate(kinds) if kind == HEAD},
        starts={(items[at], starts[at]): at for at, kind in enumerate(kinds) if kind == PASSAGE},
        items=positions,
    )


def _base_ids(rows: pa.Table, kind: str, state: str) -> frozenset[str]:
    chosen = pc.and_(pc.equal(rows.column("kind"), kind), pc.equal(rows.column("state"), state))
    return frozenset(rows.column("base_id").filter(chosen).unique().to_pylist())


@dataclass(frozen=True, slots=True)
class CachedSnapshot:
    """A snapshot of a small scope: only row ids, history and the archive are read from the tables."""

    tables: TableSnapshot
    cached: CachedScope

    @property
    def scope(self) -> Scope:
        """The scope that all rows belong to."""
        return self.tables.scope

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
        rows = self.cached.rows_by_id(found.column(_ROW_ID), columns)
        return [{**row, measure: value} for row, value in zip(rows, found.column(measure).to_pylist(), strict=True)]


class CachedItems(CachedSnapshot):
    """The snapshot of a read: it reads archived bases from the table, once per handle, so that an outage is noticed."""

    __slots__ = ()

    async def archived_bases(self) -> frozenset[str]:
        """Ids of the archived bases."""
        return await self.tables.archived_bases()


async def load_scope(tables: TableSnapshot) -> CachedScope:
    """Load the rows of a scope into memory and its indexes into the library's cache, in parallel."""
    rows, _ = await gather_pair(tables.read_all(COLUMNS), tables.load_indexes())
    return cache_rows(rows, tables.scope.name)


@dataclass(frozen=True, slots=True)
class _Entry:
    version: object
    scope: CachedScope


def _size_of(entry: _Entry) -> int:
    # At most the whole cache, so that the scope loaded last is always kept.
    return min(int(entry.scope.rows.nbytes), SCOPE_CACHE_BYTES)


class ScopeCache:
    """The cached scopes of a process, one version of each, within `SCOPE_CACHE_BYTES`."""

    def __init__(self) -> None:
        self._entries: LRUCache[str, _Entry] = LRUCache(SCOPE_CACHE_BYTES, _size_of)

    async def find(self, tables: TableSnapshot) -> Snapshot:
        """A snapshot for reads: from memory if this version of the scope is cached, else the one of the tables."""
        cached = await self._get(tables)
        return CachedItems(tables, cached) if cached else tables

    async def load(self, tables: TableSnapshot, row_limit: int) -> Snapshot:
        """A snapshot for searches: a scope of up to `row_limit` rows comes from memory, and is loaded if necessary."""
        if await tables.count_rows() > row_limit:
            return tables
        cached = await self._get(tables)
        if cached is None:
            cached = await load_scope(tables)
            # Drop the earlier version first, or space would be needed for both.
            self._entries.pop(tables.scope.current_table, None)
            self._entries[tables.scope.current_table] = _Entry(await tables.version(), cached)
        return CachedSnapshot(tables, cached)

    def clear(self) -> None:
        """Drop everything."""
        self._entries.clear()

    async def _get(self, tables: TableSnapshot) -> CachedScope | None:
        entry = self._entries.get(tables.scope.current_table)
        return entry.scope if entry and entry.version == await tables.version() else None
