"""Maintain tables: compact small fragments, update indexes, index vectors, remove old versions, renew terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from knowledge.errors import KnowledgeError
from knowledge.scopes import Scope
from knowledge.store.faults import MissingTableError
from knowledge.store.schema import ANALYZER_VERSION, PASSAGE, format_analyzer_versions
from publish_knowledge.publishing.terms import ReindexReport, reindex_scope
from publish_knowledge.store import marker
from publish_knowledge.store.scope_tables import ScopeTables, find_scopes, open_scope
from publish_knowledge.store.vector_index import choose_index, parse_index_name

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store, Table

MAX_FRAGMENTS: Final = 10
"""Each further fragment costs every query one more request."""

MAX_UNINDEXED: Final = 1_000
"""Rows outside the index are scanned by every query: about a millisecond for this many."""


@dataclass(frozen=True, slots=True)
class OptimizeReport:
    """One table after maintenance."""

    table: str
    scope: str
    fragments: int
    unindexed_rows: int


@dataclass(frozen=True, slots=True)
class OutdatedTerms:
    """A scope whose search terms are not all of the newest analyzer: their versions, and the newest one."""

    scope: str
    analyzer: str
    newest: str

    def __str__(self) -> str:
        """Say it in a sentence, with the remedy."""
        return (
            f"{self.scope}: its search terms are of analyzer {self.analyzer}, the newest is {self.newest}. Searches "
            "work as before; `knowledge reindex` renews the terms without embedding."
        )


async def optimize_dataset(store: Store, scope: Scope | None = None) -> tuple[OptimizeReport, ...]:
    """Optimize both tables of a scope, or of every scope."""
    await marker.require_dataset(store)
    scopes = [scope] if scope else (await find_scopes(store)).scopes
    reports: list[OptimizeReport] = []
    for one in scopes:
        tables = await open_scope(store, one)
        if tables is not None:
            await optimize_tables(tables)
            reports += [await _build_report(one, table) for table in (tables.current, tables.revisions)]
    return tuple(reports)


async def reindex_dataset(store: Store, scope: Scope | None = None) -> tuple[ReindexReport, ...]:
    """Renew the terms of a scope, or of every scope one after the other."""
    await marker.require_dataset(store)
    scopes = [scope] if scope else (await find_scopes(store)).scopes
    reports: list[ReindexReport] = []
    for one in scopes:
        tables = await open_scope(store, one)
        if tables is not None:
            reports.append(await reindex_scope(tables))
            if reports[-1].renewed:
                # Renewed terms are outside the index until it is updated, and every query scans them.
                await tables.current.optimize()
    return tuple(reports)


async def find_outdated_terms(store: Store, scope: Scope | None = None) -> tuple[OutdatedTerms, ...]:
    """Find the scopes that `reindex_dataset` would renew, or whether one is among them.

    What cannot be opened is left out: something else is wrong with it, which `doctor` or the command itself reports.
    """
    try:
        await marker.require_dataset(store)
    except KnowledgeError:
        return ()
    scopes = [scope] if scope else (await find_scopes(store)).scopes
    found = [await _compare_terms(store, one) for one in scopes]
    return tuple(one for one in found if one)


async def _compare_terms(store: Store, scope: Scope) -> OutdatedTerms | None:
    try:
        tables = await open_scope(store, scope)
        versions = await tables.read_analyzer_versions() if tables else ()
    except (KnowledgeError, MissingTableError):
        return None
    newest = (ANALYZER_VERSION,)
    if versions in {(), newest}:
        return None
    return OutdatedTerms(scope.name, format_analyzer_versions(versions), format_analyzer_versions(newest))


async def optimize_if_needed(tables: ScopeTables) -> None:
    """Optimize the tables that need it, after publishing, and index vectors where there are many."""
    for table in (tables.current, tables.revisions):
        health = await table.read_health()
        if health.fragments > MAX_FRAGMENTS or health.unindexed_rows > MAX_UNINDEXED:
            await table.optimize()
    await _index_vectors(tables)


async def optimize_tables(tables: ScopeTables) -> None:
    """Optimize both tables, whether they need it or not, and index vectors where there are many."""
    for table in (tables.current, tables.revisions):
        await table.optimize()
    await _index_vectors(tables)


async def _index_vectors(tables: ScopeTables) -> None:
    table = tables.current
    passages = await table.count_rows({"kind": PASSAGE})
    wanted = choose_index(passages, tables.current_schema.field("vector").type.list_size)
    if wanted is None:
        return
    present = (await table.read_health()).indexes.get("vector")
    known = parse_index_name(present.name) if present else None
    if known is None or known.is_outgrown_by(wanted):
        await table.create_vector_index(wanted)
        if present and present.name != wanted.name:
            await table.drop_index(present.name)


async def _build_report(scope: Scope, table: Table) -> OptimizeReport:
    health = await table.read_health()
    return OptimizeReport(table.name, scope.name, health.fragments, health.unindexed_rows)
