"""Keeping tables quick: small fragments joined, indexes brought up to date, old versions cleaned away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from knowledge.scopes import Scope, parse_scope
from knowledge.store.schema import META_SCOPE, PASSAGE
from publish_knowledge.store import marker
from publish_knowledge.store.database import Store, Table
from publish_knowledge.store.scope_tables import ScopeTables, require_scope
from publish_knowledge.store.vector_index import index_named, wanted_index

MAX_FRAGMENTS: Final = 10
"""Each fragment more costs every query a request more."""

MAX_UNINDEXED: Final = 1_000
"""Rows outside the index are scanned by every query: about a millisecond for this many."""


@dataclass(frozen=True, slots=True)
class OptimizeReport:
    """One table after maintenance."""

    table: str
    scope: str
    fragments: int
    unindexed_rows: int


async def optimize_dataset(store: Store, scope: Scope | None = None) -> tuple[OptimizeReport, ...]:
    """Optimize both tables of a scope, or of every scope."""
    scopes = [scope] if scope else await scopes_of(store)
    reports: list[OptimizeReport] = []
    for one in scopes:
        tables = await require_scope(store, one)
        if tables is not None:
            await optimize_tables(tables)
            reports += [await _report(one, table) for table in (tables.current, tables.revisions)]
    return tuple(reports)


async def scopes_of(store: Store) -> list[Scope]:
    """Every scope that has a `current` table, by name."""
    await marker.require_dataset(store)
    scopes: list[Scope] = []
    for name in await store.names():
        table = await store.open(name) if name.startswith("current_") else None
        named = marker.metadata_of(await table.schema()).get(META_SCOPE) if table else None
        if named:
            scopes.append(parse_scope(named))
    return sorted(scopes)


async def keep_quick(tables: ScopeTables) -> None:
    """After publishing: optimize what needs it, and nothing else."""
    for table in (tables.current, tables.revisions):
        health = await table.health()
        waiting = max((index.unindexed_rows for index in health.indexes.values()), default=0)
        if health.fragments > MAX_FRAGMENTS or waiting > MAX_UNINDEXED:
            await table.optimize()
    await _index_vectors(tables)


async def optimize_tables(tables: ScopeTables) -> None:
    """Optimize both tables, whether they need it or not, and index vectors where there are many."""
    for table in (tables.current, tables.revisions):
        await table.optimize()
    await _index_vectors(tables)


async def _index_vectors(tables: ScopeTables) -> None:
    table = tables.current
    passages = await table.count({"kind": PASSAGE})
    wanted = wanted_index(passages, tables.current_schema.field("vector").type.list_size)
    if wanted is None:
        return
    present = (await table.health()).indexes.get("vector")
    known = index_named(present.name) if present else None
    if known is None or known.outgrown_by(wanted):
        await table.index_vectors(wanted)
        if present and present.name != wanted.name:
            await table.drop_index(present.name)


async def _report(scope: Scope, table: Table) -> OptimizeReport:
    health = await table.health()
    waiting = max((index.unindexed_rows for index in health.indexes.values()), default=0)
    return OptimizeReport(table.name, scope.name, health.fragments, waiting)
