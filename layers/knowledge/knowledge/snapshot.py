"""One scope at one moment: every query that the reading side sends to its two tables.

Behind the wall of one table for each scope stands a second: a search filters on the scope too, and every row that
comes back, from a search or by its address, is refused if it names another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from knowledge.errors import StorageUnavailableError
from knowledge.faults import storage_faults
from knowledge.lance import any_term, col, lit
from knowledge.records import Head, PassageRow, Retrieved, head_of, passage_of, retrieved_of
from knowledge.schema import (
    ARCHIVED,
    BASE,
    HEAD,
    HISTORY,
    PASSAGE,
    PUBLISHED,
    archive_place,
    current_place,
    first_start,
    head_place,
    history_place,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from knowledge.embedding import Vectors
    from knowledge.lance import AsyncTable, Expr
    from knowledge.scopes import Scope

T = TypeVar("T")

ALL_PARTITIONS: Final = 100_000
"""Probes of a vector query: all that there are, because fewer lose recall (6 % measured) and save little."""

# Few columns, because each is fetched by itself: what else is said of a hit is read once it is known to be one.
_CANDIDATE: Final = ["scope", "item_id", "start"]
# Where a passage ends follows from its text: each further integer column costs more bytes than the text itself.
_PASSAGE: Final = ["scope", "item_id", "revision_id", "start", "heading", "text"]
_HEAD: Final = [
    "scope", "kind", "base_id", "item_id", "revision_id", "state", "title", "language", "published_at",
    "source_type", "source_uri", "total_chars", "content_sha256",
]  # fmt: skip
_SHOWN: Final = [*_HEAD, "start", "heading", "text"]


@dataclass(slots=True)
class Tables:
    """Handles of a scope; `revisions` is opened only by the reads that need it.

    `known` keeps what was counted once: a handle stays at its version, so it stays true as long as the handle lives.
    """

    current: AsyncTable
    open_revisions: Callable[[bool], Awaitable[AsyncTable | None]]
    known: dict[str, Any]


class Snapshot:
    """Queries over one scope's tables, all against one version of `current`."""

    def __init__(self, scope: Scope, tables: Tables) -> None:
        self.scope = scope
        self._tables = tables

    async def passages(self) -> int:
        """Number of passages that can be searched."""
        return await self._once("passages", self._count_passages)

    async def archived_bases(self) -> frozenset[str]:
        """Ids of the bases that are taken out of service."""
        return await self._once("archived_bases", self._list_archived_bases)

    async def has_published(self, base_id: str) -> bool:
        """Whether a base has at least one published item here."""
        where = _kind(HEAD) & (col("base_id") == lit(base_id)) & (col("state") == lit(PUBLISHED))
        return bool(await self._rows(where, ["scope"], limit=1))

    async def lexical(self, terms: str, base_id: str, exclude: Iterable[str], limit: int) -> list[Retrieved]:
        """Passages by BM25, best first; `score` is raw and `terms` are the passage's own."""
        query = self._tables.current.query().nearest_to_text(any_term(terms, "terms"))
        narrowed = query.where(self._candidates(base_id, exclude)).select([*_CANDIDATE, "terms", "_score"]).limit(limit)
        return [retrieved_of(self.scope, row, row["_score"]) for row in await self._listed(narrowed)]

    async def semantic(self, vector: Vectors, base_id: str, exclude: Iterable[str], limit: int) -> list[Retrieved]:
        """Passages by cosine, best first; `score` is the raw cosine."""
        query = self._tables.current.query().nearest_to(vector).distance_type("cosine").nprobes(ALL_PARTITIONS)
        narrowed = query.where(self._candidates(base_id, exclude)).select([*_CANDIDATE, "_distance"]).limit(limit)
        return [retrieved_of(self.scope, row, 1.0 - row["_distance"]) for row in await self._listed(narrowed)]

    async def shown(self, hits: Sequence[Retrieved]) -> tuple[dict[str, Head], dict[tuple[str, int], PassageRow]]:
        """Head rows by item, and texts by item and start, of what was retrieved; those that exist."""
        heads = {head_place(hit.item_id) for hit in hits}
        texts = {current_place(hit.item_id, hit.start) for hit in hits}
        # One query for both, as they stand side by side.
        rows = await self._rows(col("place").isin(sorted(heads | texts)), _SHOWN)
        passages = [passage_of(row) for row in rows if row["kind"] == PASSAGE]
        found = {row["item_id"]: head_of(self.scope, row) for row in rows if row["kind"] == HEAD}
        return found, {(row.item_id, row.start): row for row in passages}

    async def locate(self, item_id: str, revision_id: str) -> tuple[Head | None, Head | None]:
        """An item's head, and the history row of one of its revisions."""
        places = [head_place(item_id), *([history_place(item_id, revision_id)] if revision_id else [])]
        rows = [row for row in await self._rows(col("place").isin(places), _HEAD) if row["item_id"] == item_id]
        heads = [head_of(self.scope, row) for row in rows if row["kind"] == HEAD]
        history = [head_of(self.scope, row) for row in rows if _is_history(row, revision_id)]
        return (heads[0] if heads else None), (history[0] if history else None)

    async def current_window(self, item_id: str, revision_id: str, start: int, end: int) -> list[PassageRow]:
        """Passages of the current revision that overlap [start, end), in order."""
        places = (current_place(item_id, first_start(start)), current_place(item_id, end - 1))
        return await self._window(self._tables.current, places, (item_id, revision_id), (start, end))

    async def archived_window(
        self, item_id: str, revision_id: str, start: int, end: int, *, fresh: bool
    ) -> list[PassageRow]:
        """The same from the archive of all revisions; `fresh` reopens it first."""
        table = await self._tables.open_revisions(fresh)
        if table is None:
            raise StorageUnavailableError
        first, last = first_start(start), end - 1
        places = (archive_place(item_id, revision_id, first), archive_place(item_id, revision_id, last))
        return await self._window(table, places, (item_id, revision_id), (start, end))

    async def _window(
        self, table: AsyncTable, places: tuple[int, int], wanted: tuple[str, str], window: tuple[int, int]
    ) -> list[PassageRow]:
        # A range, not a list: a list looks every address up by itself and reads the same index page each time.
        where = (col("place") >= lit(places[0])) & (col("place") <= lit(places[1]))
        rows = [passage_of(row) for row in await self._listed(table.query().where(where).select(_PASSAGE))]
        mine = [row for row in rows if (row.item_id, row.revision_id) == wanted and row.overlaps(*window)]
        return sorted(mine, key=lambda row: row.start)

    async def _once(self, name: str, ask: Callable[[], Awaitable[T]]) -> T:
        if name not in self._tables.known:
            self._tables.known[name] = await ask()
        known: T = self._tables.known[name]
        return known

    async def _count_passages(self) -> int:
        with storage_faults():
            return await self._tables.current.count_rows(_kind(PASSAGE).to_sql())

    async def _list_archived_bases(self) -> frozenset[str]:
        rows = await self._rows(_kind(BASE), ["scope", "base_id", "state"])
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
            table = await query.to_arrow()
        rows: list[dict[str, Any]] = table.to_pylist()
        if any(row["scope"] != self.scope.name for row in rows):
            raise StorageUnavailableError
        return rows


def _kind(kind: str) -> Expr:
    return col("kind") == lit(kind)


def _is_history(row: dict[str, Any], revision_id: str) -> bool:
    return bool(row["kind"] == HISTORY and row["revision_id"] == revision_id)
