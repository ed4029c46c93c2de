"""One scope at one moment: every query that the reading side sends to its two tables.

Behind the wall of one table for each scope stands a second: a search filters on the scope too, and every row that
comes back, from a search or by its address, is refused if it names another.

A small scope is loaded by `prepare()`: its rows are held in memory, its indexes in the library's cache, and a search
then asks the store for nothing. Of a large one, searches read the rows that they need.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from knowledge.errors import StorageUnavailableError
from knowledge.store.concurrency import gather_all, gather_pair
from knowledge.store.faults import storage_faults
from knowledge.store.lance import any_term, col, fetched, lit
from knowledge.store.revision import Head, PassageRow, Retrieved, head_of, passage_of, retrieved_of
from knowledge.store.schema import (
    ARCHIVED,
    BASE,
    EXACT_INDEX,
    HEAD,
    HISTORY,
    PASSAGE,
    PUBLISHED,
    SHORT_INDEX,
    archive_address,
    current_address,
    first_start,
    head_address,
    history_address,
)
from knowledge.store.scope_cache import COLUMNS, HELD_ROWS, Held, Shelf, hold

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    import pyarrow as pa

    from knowledge.embedding.providers import Vectors
    from knowledge.scopes import Scope
    from knowledge.store.lance import AsyncTable, Expr

T = TypeVar("T")

ALL_PARTITIONS: Final = 100_000
"""Probes of a vector query: all that there are, because fewer lose recall (6 % measured) and save little."""

REFINE: Final = 2
"""Candidates of shortened vectors for each that is asked for; all are measured again by their whole vectors."""

# Few columns, because each is fetched by itself: what else is said of a hit is read once it is known to be one.
_CANDIDATE: Final = ["scope", "item_id", "start"]
# Where a passage ends follows from its text.
_PASSAGE: Final = ["about", "text"]
_HEAD: Final = ["about", "state"]
_SHOWN: Final = ["about", "state", "text"]
# Indexes that searches of a small scope, and the reads after them, use. The vectors' is one of two, if there is one.
_SEARCHED: Final = (
    "terms_idx", "kind_idx", "scope_idx", "place_idx", f"{EXACT_INDEX}1", f"{EXACT_INDEX}4",
)  # fmt: skip


@dataclass(slots=True)
class Tables:
    """Handles of a scope; `revisions` is opened only by the reads that need it.

    `known` keeps what was counted once: a handle stays at its version, so it stays true as long as the handle lives.
    """

    current: AsyncTable
    open_revisions: Callable[[bool], Awaitable[AsyncTable | None]]
    known: dict[str, Any]
    open_loader: Callable[[], Awaitable[AsyncTable]]
    shelf: Shelf
    most_held: int


@dataclass(frozen=True, slots=True)
class Addressed:
    """What stands at an item's addresses."""

    head: Head | None
    history: Head | None
    passages: list[PassageRow]


class Snapshot:
    """Queries over one scope's tables, all against one version of `current`."""

    def __init__(self, scope: Scope, tables: Tables) -> None:
        self.scope = scope
        self._tables = tables
        self._held: Held | None = None

    async def prepare(self) -> None:
        """Load a small scope before it is searched; one that was loaded in this version is at hand."""
        if await self._once("rows", self._count_rows) <= self._tables.most_held:
            self._held = await self._from_shelf() or await self._loaded()

    async def passages(self) -> int:
        """Number of passages that can be searched."""
        if self._held:
            return self._held.passages
        return await self._once("passages", self._count_passages)

    async def archived_bases(self) -> frozenset[str]:
        """Ids of the bases that are taken out of service."""
        if self._held:
            return self._held.archived_bases
        return await self._once("archived_bases", self._list_archived_bases)

    async def has_published(self, base_id: str) -> bool:
        """Whether a base has at least one published item here."""
        if self._held:
            return base_id in self._held.published_bases
        where = _kind(HEAD) & (col("base_id") == lit(base_id)) & (col("state") == lit(PUBLISHED))
        return bool(await self._rows(where, ["scope"], limit=1))

    async def lexical(self, terms: str, base_id: str, exclude: Iterable[str], limit: int) -> list[Retrieved]:
        """Passages by BM25, best first; `score` is raw and `terms` are the passage's own."""
        query = self._tables.current.query().nearest_to_text(any_term(terms, "terms"))
        narrowed = query.where(self._candidates(base_id, exclude)).limit(limit)
        rows = await self._candidate_rows(narrowed, [*_CANDIDATE, "terms"], "_score")
        return [retrieved_of(self.scope, row, row["_score"]) for row in rows]

    async def semantic(self, vector: Vectors, base_id: str, exclude: Iterable[str], limit: int) -> list[Retrieved]:
        """Passages by cosine, best first; `score` is the raw cosine."""
        query = self._tables.current.query().nearest_to(vector).distance_type("cosine").nprobes(ALL_PARTITIONS)
        if await self._vectors_are_short():
            query = query.refine_factor(REFINE)
        narrowed = query.where(self._candidates(base_id, exclude)).limit(limit)
        rows = await self._candidate_rows(narrowed, _CANDIDATE, "_distance")
        return [retrieved_of(self.scope, row, 1.0 - row["_distance"]) for row in rows]

    async def shown(self, hits: Sequence[Retrieved]) -> tuple[dict[str, Head], dict[tuple[str, int], PassageRow]]:
        """Head rows by item, and texts by item and start, of what was retrieved; those that exist."""
        rows = self._held.shown({hit.passage for hit in hits}) if self._held else await self._shown_rows(hits)
        passages = [passage_of(row) for row in rows if row["kind"] == PASSAGE]
        found = {row["item_id"]: head_of(self.scope, row) for row in rows if row["kind"] == HEAD}
        return found, {(row.item_id, row.start): row for row in passages}

    async def _shown_rows(self, hits: Sequence[Retrieved]) -> list[dict[str, Any]]:
        heads = {head_address(hit.item_id) for hit in hits}
        texts = {current_address(hit.item_id, hit.start) for hit in hits}
        # One query for both, as they stand side by side.
        return await self._rows(col("place").isin(sorted(heads | texts)), _SHOWN)

    async def addressed(self, item_id: str, revision_id: str, start: int, end: int) -> Addressed:
        """An item's head, one revision's history row, and the current passages that overlap [start, end), in order."""
        rows = await self._addressed_rows(item_id, revision_id, start, end)
        mine = [row for row in rows if row["item_id"] == item_id]
        heads = [head_of(self.scope, row) for row in mine if row["kind"] == HEAD]
        history = [head_of(self.scope, row) for row in mine if _is_history(row, revision_id)]
        return Addressed(heads[0] if heads else None, history[0] if history else None, _window(mine, start, end))

    async def _addressed_rows(self, item_id: str, revision_id: str, start: int, end: int) -> list[dict[str, Any]]:
        held = None if revision_id else await self._from_shelf()
        if held:
            return held.item(item_id)
        await self._once("places", self._warm_places)
        head, first, last = (
            head_address(item_id),
            current_address(item_id, first_start(start)),
            current_address(item_id, end),
        )
        # One query for all; at the beginning of a text its head stands beside it.
        where = _between(head, last) if first == head + 1 else _between(first, last) | _between(head, head)
        if revision_id:
            where = where | (col("place") == lit(history_address(item_id, revision_id)))
        return await self._rows(where, _SHOWN)

    async def archived_window(
        self, item_id: str, revision_id: str, start: int, end: int, *, fresh: bool
    ) -> list[PassageRow]:
        """The same from the archive of all revisions; `fresh` reopens it first."""
        table = await self._tables.open_revisions(fresh)
        if table is None:
            raise StorageUnavailableError
        first, last = first_start(start), end - 1
        places = (archive_address(item_id, revision_id, first), archive_address(item_id, revision_id, last))
        rows = await self._listed(table.query().where(_between(*places)).select(_PASSAGE))
        return _window(
            [row for row in rows if (row["item_id"], row["revision_id"]) == (item_id, revision_id)], start, end
        )

    async def _from_shelf(self) -> Held | None:
        name = self.scope.current_table
        if name not in self._tables.shelf:
            return None
        return self._tables.shelf.get(name, await self._once("version", self._version))

    async def _loaded(self) -> Held:
        rows, _ = await gather_pair(self._all_rows(), self._warm_indexes())
        held = hold(rows, self.scope.name)
        self._tables.shelf.put(self.scope.current_table, await self._once("version", self._version), held)
        return held

    async def _version(self) -> object:
        """What tells this version apart, even from one of a table that was dropped and made again."""
        indices = await self._once("indices", self._list_indices)
        with storage_faults():
            return await self._tables.current.version(), frozenset(index.index_uuid for index in indices)

    async def _all_rows(self) -> pa.Table:
        with storage_faults():
            return await fetched(self._tables.current.query().select(COLUMNS).with_row_id())

    async def _warm_indexes(self) -> None:
        with storage_faults():
            loader = await self._tables.open_loader()
        await gather_all(_warm(loader, name) for name in _SEARCHED)

    async def _candidate_rows(self, query: Any, columns: list[str], measure: str) -> list[dict[str, Any]]:  # noqa: ANN401 - see below
        if self._held is None:
            return await self._listed(query.select([*columns, measure]))
        with storage_faults():
            found = await fetched(query.select(["_rowid", measure]))
        rows = self._held.candidates(found.column("_rowid"), columns)
        return [{**row, measure: value} for row, value in zip(rows, found.column(measure).to_pylist(), strict=True)]

    async def _once(self, name: str, ask: Callable[[], Awaitable[T]]) -> T:
        if name not in self._tables.known:
            self._tables.known[name] = await ask()
        known: T = self._tables.known[name]
        return known

    async def _warm_places(self) -> bool:
        small = await self._once("rows", self._count_rows) <= HELD_ROWS
        if small:
            await _warm(self._tables.current, "place_idx")
        return small

    async def _count_rows(self) -> int:
        with storage_faults():
            return await self._tables.current.count_rows()

    async def _vectors_are_short(self) -> bool:
        return any(index.name.startswith(SHORT_INDEX) for index in await self._once("indices", self._list_indices))

    async def _list_indices(self) -> Sequence[Any]:
        with storage_faults():
            return list(await self._tables.current.list_indices())

    async def _count_passages(self) -> int:
        with storage_faults():
            return await self._tables.current.count_rows(_kind(PASSAGE).to_sql())

    async def _list_archived_bases(self) -> frozenset[str]:
        rows = await self._rows(_kind(BASE), _HEAD)
        return frozenset(row["base_id"] for row in rows if row["state"] == ARCHIVED)

    def _candidates(self, base_id: str, exclude: Iterable[str]) -> Expr:
        where = (col("scope") == lit(self.scope.name)) & _kind(PASSAGE)
        if base_id:
            where = where & (col("base_id") == lit(base_id))
        excluded = sorted(exclude)
        return where & ~col("item_id").isin(excluded) if excluded else where

    async def _rows(self, where: Expr, columns: list[str], limit: int | None = None) -> list[dict[str, Any]]:
        query = self._tables.current.query().where(where).select(columns)
        return await self._listed(query if limit is None else query.limit(limit))

    async def _listed(self, query: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - three query classes share no base
        with storage_faults():
            table = await fetched(query)
        rows: list[dict[str, Any]] = [_with_metadata(row) for row in table.to_pylist()]
        if any(row["scope"] != self.scope.name for row in rows):
            raise StorageUnavailableError
        return rows


async def _warm(table: AsyncTable, index: str) -> None:
    # An index that is not there or cannot be read is for the query to tell, which comes next.
    with suppress(Exception):
        await table.prewarm_index(index)


def _kind(kind: str) -> Expr:
    return col("kind") == lit(kind)


def _between(first: int, last: int) -> Expr:
    # A range, not a list: a list looks every address up by itself and reads the same index page each time.
    return (col("place") >= lit(first)) & (col("place") <= lit(last))


def _window(rows: Iterable[dict[str, Any]], start: int, end: int) -> list[PassageRow]:
    found = (passage_of(row) for row in rows if row["kind"] == PASSAGE)
    return sorted((row for row in found if row.overlaps(start, end)), key=lambda row: row.start)


def _with_metadata(row: dict[str, Any]) -> dict[str, Any]:
    about: str | None = row.pop("about", None)
    return row if about is None else {**json.loads(about), **row}


def _is_history(row: dict[str, Any], revision_id: str) -> bool:
    return bool(row["kind"] == HISTORY and row["revision_id"] == revision_id)
