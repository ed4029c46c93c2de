"""Find faults in a dataset, and repair those that can be repaired without its sources."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from knowledge.errors import DatasetMismatchError, KnowledgeError, StorageUnavailableError
from knowledge.scopes import Scope
from knowledge.store.faults import MissingTableError
from knowledge.store.schema import ARCHIVED, DRAFT, MARKER_TABLE, marker_schema
from publish_knowledge.maintenance import MAX_UNINDEXED, optimize_tables
from publish_knowledge.publishing.consistency import ScopeSurvey, fill_passages, remove_passages, survey_scope
from publish_knowledge.publishing.lifecycle import archive_items
from publish_knowledge.store import marker
from publish_knowledge.store.arrow_rows import build_archive_rows, build_head_rows
from publish_knowledge.store.purges import digest_of, find_digest, purge_tables, read_records
from publish_knowledge.store.records import ItemHead, StoredMetadata
from publish_knowledge.store.scope_tables import (
    CURRENT_INDEXES,
    REVISIONS_INDEXES,
    ScopeTables,
    ensure_scope,
    find_scopes,
    has_leftovers,
    open_scope,
)

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: a stable code, the scope's name or table it is in, a sentence, and whether `repair` corrects it."""

    code: str
    where: str
    detail: str
    repairable: bool


async def examine(store: Store) -> tuple[Finding, ...]:
    """Find all faults and change nothing. Raises only where the store cannot be reached."""
    found = await _examine_marker(store)
    if found and not found[0].repairable:
        return tuple(found)
    listing = await find_scopes(store)
    purged = await _find_unfinished_purges(store)
    names = {scope.current_table: scope.name for scope in listing.scopes}
    found += [_describe_purge(digest, detail, names) for digest, detail in purged.items()]
    detail = "This table does not belong to the dataset, or does not say to which scope it belongs."
    unknown = [name for name in listing.unknown_tables if find_digest(name) not in purged]
    found += [Finding("strange-table", name, detail, repairable=False) for name in unknown]
    for scope in listing.scopes:
        if digest_of(scope) not in purged:
            found += await _examine_scope(store, scope)
    return tuple(found)


async def repair(store: Store) -> tuple[Finding, ...]:
    """Repair what can be repaired; returns what `examine` still finds afterwards.

    A scope whose repair fails does not keep the others from theirs. What is left of it is not repairable, and a finding
    `repair-failed` has the reason.
    """
    found = await _examine_marker(store)
    if found and not found[0].repairable:
        return tuple(found)
    if found:
        await store.create_table(MARKER_TABLE, marker_schema(store.model, store.dimensions, marker.current_time()))
    for digest in await _find_unfinished_purges(store):
        await purge_tables(store, digest)
    failed = dict([pair async for pair in _repair_scopes(store)])
    left = await examine(store)
    again = [replace(finding, repairable=False) if finding.where in failed else finding for finding in left]
    return (*again, *(Finding("repair-failed", name, reason, repairable=False) for name, reason in failed.items()))


async def _repair_scopes(store: Store) -> AsyncIterator[tuple[str, str]]:
    """Repair scope by scope; yield the name of each whose repair fails, and the reason."""
    for scope in (await find_scopes(store)).scopes:
        findings = await _examine_scope(store, scope)
        if any(finding.repairable for finding in findings):
            try:
                await _repair_scope(store, scope)
            except (KnowledgeError, MissingTableError) as error:
                await _require_store(store)
                yield scope.name, str(error) or "The scope was changed meanwhile."


async def _require_store(store: Store) -> None:
    """Raise where not one scope but the whole store cannot be reached."""
    await store.list_tables()
    await _examine_marker(store)


async def _find_unfinished_purges(store: Store) -> dict[str, str]:
    """Find the scopes of which a purge, or a writer that it overtook, left something: digests and what was found."""
    found: dict[str, str] = {}
    for digest, record in sorted((await read_records(store)).items()):
        if record.unfinished:
            found[digest] = "A purge was interrupted or is still running; until it ends, nothing is published here."
        elif await has_leftovers(store, digest, record):
            found[digest] = "Files of a publish that was killed while its owner or team was being purged."
    return found


def _describe_purge(digest: str, detail: str, names: Mapping[str, str]) -> Finding:
    table = f"current_{digest}"
    return Finding("unfinished-purge", names.get(table, table), detail, repairable=True)


async def _examine_marker(store: Store) -> list[Finding]:
    table = await store.open_table(MARKER_TABLE)
    if table is None:
        repairable = bool((await find_scopes(store)).scopes)
        lost = "There is no dataset marker: nothing is served from here."
        detail = lost if repairable else marker.explain_missing(store.uri)
        return [Finding("missing-marker", store.uri, detail, repairable=repairable)]
    try:
        marker.check_schema(store, await table.schema())
    except DatasetMismatchError as error:
        return [Finding("wrong-model", store.uri, error.message, repairable=False)]
    return []


async def _examine_scope(store: Store, scope: Scope) -> list[Finding]:
    try:
        return await _examine_tables(store, scope)
    except (StorageUnavailableError, MissingTableError):
        await _require_store(store)
        detail = (
            "Files are missing or damaged, so that it can be neither read nor repaired. Restore a backup, or purge "
            "this owner or team and publish its sources again."
        )
        return [Finding("unreadable-table", scope.name, detail, repairable=False)]


async def _examine_tables(store: Store, scope: Scope) -> list[Finding]:
    names = await store.list_tables()
    pair = (scope.current_table, scope.revisions_table)
    missing = [name for name in pair if name not in names]
    if missing:
        for name in {*pair} - {*missing}:
            await _read_all_keys(store, name)
        detail = f"The table {missing[0]} is missing. If the scope was being purged, purge it again."
        return [Finding("missing-twin", scope.name, detail, repairable=True)]
    try:
        tables = await open_scope(store, scope)
    except KnowledgeError as error:
        if error.__cause__ is not None:  # a fault of the store
            raise
        return [Finding("wrong-schema", scope.name, error.message, repairable=False)]
    if tables is None:  # pragma: no cover - dropped since its name was listed
        return []
    return [*await _examine_indexes(tables), *_examine_rows(await survey_scope(tables))]


async def _read_all_keys(store: Store, name: str) -> None:
    """Raise where the files of a table are not all there."""
    table = await store.open_table(name)
    if table is not None:
        await table.read_column("key")


async def _examine_indexes(tables: ScopeTables) -> list[Finding]:
    found: list[Finding] = []
    for table, columns in ((tables.current, CURRENT_INDEXES), (tables.revisions, REVISIONS_INDEXES)):
        health = await table.read_health()
        missing = [column for column in columns if column not in health.indexes]
        if missing:
            detail = f"No index on {', '.join(missing)}."
            found.append(Finding("missing-index", table.name, detail, repairable=True))
        if health.unindexed_rows > MAX_UNINDEXED:
            detail = f"{health.unindexed_rows} rows are outside an index; every query scans them."
            found.append(Finding("unindexed-rows", table.name, detail, repairable=True))
    return found


def _examine_rows(survey: ScopeSurvey) -> Iterator[Finding]:
    lost = {head.key for head in survey.lost}
    for item, revision in survey.current.orphan_passages:
        detail = f"Passages of {revision} of {item}, which is not a current published revision, are in the way."
        yield Finding("stray-passages", survey.scope, detail, repairable=True)
    for head in survey.current.incomplete:
        yield _describe_incomplete(survey.scope, head, lost=head.key in lost)
    for head in survey.archive_gaps:
        if head.key not in lost:
            again = head.key in survey.current.readable
            rest = "" if again else ", and nothing else has it"
            detail = f"The archive lacks text of {head.revision_id} of {head.item_id}{rest}."
            yield Finding("archive-gap", survey.scope, detail, repairable=again)
    for item in survey.items_without_head:
        detail = f"{item} has revisions but no head; a head that is archived can stand in for it."
        yield Finding("missing-head", survey.scope, detail, repairable=True)
    for item in survey.unfinished_items:
        detail = f"Publishing {item} was interrupted. Run it again, or keep what there is as a draft."
        yield Finding("unfinished-publish", survey.scope, detail, repairable=True)


def _describe_incomplete(scope: str, head: ItemHead, *, lost: bool) -> Finding:
    if lost:
        text = f"The text of {head.revision_id} of {head.item_id} is lost."
        detail = f"{text} Archive the item and publish its source again."
        return Finding("lost-text", scope, detail, repairable=True)
    detail = f"Passages of {head.revision_id} of {head.item_id} are missing, but the archive has them."
    return Finding("missing-passages", scope, detail, repairable=True)


async def _repair_scope(store: Store, scope: Scope) -> None:
    """Repair heads first, then the archive from `current`, then `current` from heads and archive."""
    tables = await ensure_scope(store, scope)
    survey = await survey_scope(tables)
    unfinished = set(survey.unfinished_items)
    stored = {one.item_id: one for one in await tables.list_stored_metadata() if one.item_id in unfinished}
    replacements = [_build_archived_head(survey, item) for item in survey.items_without_head]
    await _add_heads(tables, [*replacements, *map(_build_draft_head, stored.values())])
    await _refill_archive(tables, survey)
    lost = survey.lost
    await archive_items(tables, lost)
    await remove_passages(tables, survey.current.orphan_passages)
    await fill_passages(tables, [head for head in survey.current.incomplete if head not in lost])
    await optimize_tables(tables)


def _build_archived_head(survey: ScopeSurvey, item: str) -> ItemHead:
    """Build an archived head from the latest history row of an item that lost its head."""
    rows = [row for row in survey.history.values() if row.item_id == item]
    latest = max(rows, key=lambda row: (row.sequence, row.info.published_at, row.revision_id))
    return replace(latest, state=ARCHIVED)


def _build_draft_head(stored: StoredMetadata) -> ItemHead:
    info = replace(stored.info, revision_id="", published_at="")
    return ItemHead(info, previous_id="", fingerprint=stored.fingerprint, state=DRAFT, sequence=0)


async def _add_heads(tables: ScopeTables, heads: Sequence[ItemHead]) -> None:
    if heads:
        await tables.current.insert_missing(build_head_rows(tables.current_schema, heads))


async def _refill_archive(tables: ScopeTables, survey: ScopeSurvey) -> None:
    """Copy current revisions from `current` to the archive where it lacks them."""
    incomplete = {head.key for head in survey.current.incomplete}
    readable = survey.current.readable
    for gap in survey.archive_gaps:
        if gap.key in readable and gap.key not in incomplete:
            revision = await tables.read_visible_revision(readable[gap.key])
            rows = build_archive_rows(tables.revisions_schema, revision)
            await tables.revisions.merge(rows, {"revision_id": revision.revision_id})
