"""Finding what is wrong with a dataset, and putting right what can be put right without its sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from knowledge.errors import DatasetMismatchError, KnowledgeError
from knowledge.scopes import Scope, parse_scope
from knowledge.store.schema import ARCHIVED, DRAFT, MARKER_TABLE, META_SCOPE, marker_schema
from publish_knowledge.maintenance import MAX_UNINDEXED, optimize_tables
from publish_knowledge.publishing.consistency import fill, remove
from publish_knowledge.publishing.lifecycle import take_out
from publish_knowledge.publishing.plan import ItemHead
from publish_knowledge.publishing.survey import Finding, Survey, findings
from publish_knowledge.store import marker
from publish_knowledge.store.arrow_rows import StoredMetadata, archive_rows, head_rows
from publish_knowledge.store.database import Store
from publish_knowledge.store.scope_tables import (
    CURRENT_INDEXES,
    REVISIONS_INDEXES,
    ScopeTables,
    ensure_scope,
    open_scope,
)

__all__ = ["Finding", "examine", "repair"]

_CURRENT = "current_"
_REVISIONS = "revisions_"


async def examine(store: Store) -> tuple[Finding, ...]:
    """Every fault found, none changed; empty for a sound dataset. Raises only where the store cannot be reached."""
    found = await _marker_findings(store)
    if found and not found[0].repairable:
        return tuple(found)
    scopes, strange = await _scopes(store)
    found += strange
    for scope in scopes:
        found += await _scope_findings(store, scope)
    return tuple(found)


async def repair(store: Store) -> tuple[Finding, ...]:
    """Mend what can be mended; returns what `examine` still finds afterwards."""
    found = await _marker_findings(store)
    if found and not found[0].repairable:
        return tuple(found)
    if found:
        await store.create(MARKER_TABLE, marker_schema(store.model, store.dimensions, marker.now()))
    for scope in (await _scopes(store))[0]:
        if await _scope_findings(store, scope):
            await _repair_scope(store, scope)
    return await examine(store)


async def _marker_findings(store: Store) -> list[Finding]:
    table = await store.open(MARKER_TABLE)
    if table is None:
        scopes, _ = await _scopes(store)
        detail = "There is no dataset marker: nothing is served from here."
        return [Finding("missing-marker", store.uri, detail, repairable=bool(scopes))]
    try:
        marker.check(store, await table.schema())
    except DatasetMismatchError as error:
        return [Finding("wrong-model", store.uri, error.message, repairable=False)]
    return []


async def _scopes(store: Store) -> tuple[list[Scope], list[Finding]]:
    scopes: set[Scope] = set()
    strange: list[Finding] = []
    for name in await store.names():
        scope = await _scope_of(store, name)
        if scope is not None:
            scopes.add(scope)
        elif name != MARKER_TABLE:
            detail = "This table does not belong to the dataset, or does not say to which scope it belongs."
            strange.append(Finding("strange-table", name, detail, repairable=False))
    return sorted(scopes), strange


async def _scope_of(store: Store, name: str) -> Scope | None:
    table = await store.open(name) if name.startswith((_CURRENT, _REVISIONS)) else None
    named = marker.metadata_of(await table.schema()).get(META_SCOPE) if table else None
    scope = parse_scope(named) if named else None
    return scope if scope and name in (scope.current_table, scope.revisions_table) else None


async def _scope_findings(store: Store, scope: Scope) -> list[Finding]:
    names = await store.names()
    missing = [name for name in (scope.current_table, scope.revisions_table) if name not in names]
    if missing:
        detail = f"The table {missing[0]} is missing. If the scope was being purged, purge it again."
        return [Finding("missing-twin", scope.name, detail, repairable=True)]
    try:
        tables = await open_scope(store, scope)
    except KnowledgeError as error:
        return [Finding("wrong-schema", scope.name, error.message, repairable=False)]
    if tables is None:  # pragma: no cover - dropped between the two looks
        return []
    return [*await _index_findings(tables), *findings(await _survey(tables))]


async def _index_findings(tables: ScopeTables) -> list[Finding]:
    found: list[Finding] = []
    for table, columns in ((tables.current, CURRENT_INDEXES), (tables.revisions, REVISIONS_INDEXES)):
        indexes = (await table.health()).indexes
        missing = [column for column in columns if column not in indexes]
        if missing:
            detail = f"No index on {', '.join(missing)}."
            found.append(Finding("missing-index", table.name, detail, repairable=True))
        waiting = max((index.unindexed_rows for index in indexes.values()), default=0)
        if waiting > MAX_UNINDEXED:
            detail = f"{waiting} rows are outside an index; every query scans them."
            found.append(Finding("unindexed-rows", table.name, detail, repairable=True))
    return found


async def _survey(tables: ScopeTables) -> Survey:
    at = await tables.current.version()
    history = await tables.history_of(None, at)
    return Survey(
        scope=tables.scope.name,
        heads={head.item_id: head for head in await tables.heads_in(None, at)},
        history={(row.item_id, row.revision_id): row for row in history},
        archived_bases=await tables.archived_bases(at),
        visible=await tables.current_ranges(None, at),
        kept=await tables.archive_ranges(),
    )


async def _repair_scope(store: Store, scope: Scope) -> None:
    """Heads first, then the archive from what is visible, then what is visible from heads and archive."""
    tables = await ensure_scope(store, scope)
    survey = await _survey(tables)
    await _add_heads(tables, [_stand_in(survey, item) for item in survey.headless])
    unfinished = set(survey.unfinished)
    stored = {one.item_id: one for one in await tables.stored_metadata() if one.item_id in unfinished}
    await _add_heads(tables, [_draft_head(one) for one in stored.values()])
    await _keep_again(tables, survey)
    lost = set(survey.incomplete) & set(survey.unkept)
    await take_out(tables, [survey.heads[item] for item, _ in sorted(lost)])
    await remove(tables, survey.strays)
    await fill(tables, [survey.expected[key] for key in survey.incomplete if key not in lost])
    await optimize_tables(tables)


def _stand_in(survey: Survey, item: str) -> ItemHead:
    rows = [row for (owner, _), row in survey.history.items() if owner == item]
    return replace(max(rows, key=lambda row: (row.sequence, row.published_at, row.revision_id)), state=ARCHIVED)


def _draft_head(stored: StoredMetadata) -> ItemHead:
    return ItemHead(
        item_id=stored.item_id,
        base_id=stored.base_id,
        state=DRAFT,
        revision_id="",
        sequence=0,
        title=stored.title,
        language=stored.language,
        source_type=stored.source_type,
        source_uri=stored.source_uri,
        total_chars=stored.total_chars,
        content_sha256=stored.content_sha256,
        previous_id="",
        fingerprint=stored.fingerprint,
        published_at="",
    )


async def _add_heads(tables: ScopeTables, heads: Sequence[ItemHead]) -> None:
    if heads:
        await tables.current.insert_missing(head_rows(tables.scope, tables.current_schema, heads))


async def _keep_again(tables: ScopeTables, survey: Survey) -> None:
    """Copy current revisions from `current` to the archive where it lacks them."""
    whole = set(survey.unkept) & (survey.expected.keys() - set(survey.incomplete))
    for key in sorted(whole):
        revision = await tables.visible(survey.expected[key])
        rows: pa.Table = archive_rows(tables.scope, tables.revisions_schema, revision)
        await tables.revisions.merge(rows, {"revision_id": revision.revision_id})
