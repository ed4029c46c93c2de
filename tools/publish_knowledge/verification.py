"""`knowledge doctor --deep`: read everything, and compare it with what the dataset says of itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import numpy as np

from knowledge.errors import KnowledgeError
from knowledge.store.schema import content_digest
from publish_knowledge.doctor import Finding, examine
from publish_knowledge.publishing.consistency import survey_scope
from publish_knowledge.store.records import ItemHead, StoredRevision
from publish_knowledge.store.scope_tables import ScopeTables, address_of, find_scopes, open_scope

if TYPE_CHECKING:
    from knowledge.scopes import Scope
    from publish_knowledge.store.database import Store


async def examine_deeply(store: Store) -> tuple[Finding, ...]:
    """All that `examine` finds, and damage: texts, vectors, indexes and lost versions.

    Takes as long as reading the whole dataset, one revision at a time.
    """
    found = list(await examine(store))
    for scope in (await find_scopes(store)).scopes:
        found += await _verify_scope(store, scope)
    return tuple(found)


async def _verify_scope(store: Store, scope: Scope) -> list[Finding]:
    found: list[Finding] = []
    try:
        tables = await open_scope(store, scope)
        if tables is not None:
            async for finding in _verify_tables(tables):
                found.append(finding)  # noqa: PERF401 - what was found before a failure is kept
            async for finding in _verify_revisions(tables):
                found.append(finding)  # noqa: PERF401 - as above
    except KnowledgeError:
        detail = "It cannot be read in full: a file is missing or damaged. Restore it, or purge and publish again."
        found.append(Finding("unreadable", scope.name, detail, repairable=False))
    return found


async def _verify_tables(tables: ScopeTables) -> AsyncIterator[Finding]:
    for table in (tables.current, tables.revisions):
        for number in await table.list_missing_versions():
            detail = f"Version {number} is gone, though a later one was made. Restore its manifest, or publish again."
            yield Finding("missing-version", table.name, detail, repairable=False)
        for name in await table.list_unreadable_indexes():
            detail = f"The index {name} cannot be read. Restore its files, or purge the scope and publish again."
            yield Finding("unreadable-index", table.name, detail, repairable=False)


async def _verify_revisions(tables: ScopeTables) -> AsyncIterator[Finding]:
    survey = await survey_scope(tables)
    incomplete = {head.key for head in survey.current.incomplete}
    for key, head in sorted(survey.current.readable.items()):
        if key not in incomplete and (damage := _describe_damage(await tables.read_visible_revision(head), head)):
            yield Finding("damaged-text", tables.scope.name, f"{damage} in `current`.", repairable=False)
    gaps = {head.key for head in survey.archive_gaps}
    for key, head in sorted({**survey.history, **survey.current.readable}.items()):
        stored = (await tables.read_revisions([address_of(head)])).get(head.revision_id) if key not in gaps else None
        if stored is not None and (damage := _describe_damage(stored, head)):
            yield Finding("damaged-text", tables.scope.name, f"{damage} in the archive.", repairable=False)


def _describe_damage(stored: StoredRevision, head: ItemHead) -> str:
    if content_digest("".join(passage.text for passage in stored.passages)) != head.info.content_sha256:
        return f"The text of {head.revision_id} of {head.item_id} has another digest than it was published with"
    if not np.isfinite(stored.vectors).all():
        return f"A vector of {head.revision_id} of {head.item_id} is not finite"
    return ""
