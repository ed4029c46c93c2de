"""Terms of the passages in `current`: written by the version of the analyzer that the table says, and renewed.

A table that was made by an older version keeps it, whoever publishes into it, until `reindex_scope` renews its terms.
That says first, in the table, that terms are of both versions: from then on publishers write the newer one, and queries
ask for both. When all terms are renewed, the table says so. Whoever writes passages reads the version before and after
the commit, so that a publisher that started before the renewal corrects what it wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from knowledge.errors import StorageUnavailableError
from knowledge.store.schema import (
    ANALYZER_VERSION,
    META_ANALYZER,
    PASSAGE,
    TERMS,
    format_analyzer_versions,
    row_key,
)
from publish_knowledge.passages.indexed_text import list_indexed_terms
from publish_knowledge.store.arrow_rows import build_current_rows
from publish_knowledge.store.commits import split_into_commits
from publish_knowledge.store.database import MergeResult, Where
from publish_knowledge.store.records import IndexedRevision, StoredRevision
from publish_knowledge.store.scope_tables import ScopeTables

_ROUNDS: Final = 10
"""Times that all terms are looked at: the second finds nothing, unless a publisher that started before wrote again."""

Change = tuple[str, str | None]
"""The key of a passage row, and its terms."""


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """One scope: its passages, how many of them got other terms, and the versions of the analyzer before and after."""

    scope: str
    passages: int
    renewed: int
    before: str
    after: str


async def write_passages(
    tables: ScopeTables, revisions: Sequence[StoredRevision], rows: Iterable[pa.Table] = (), delete: Where | None = None
) -> MergeResult:
    """Write other rows and the passages of revisions into `current`, in one commit, as `Table.merge` does."""
    version = (await tables.read_analyzer_versions())[-1]
    schema = tables.current_schema_for(version)
    passages = [build_current_rows(schema, revision) for revision in revisions]
    parts = [schema.empty_table(), *(part.cast(schema) for part in rows), *passages]
    merged = await tables.current.merge(pa.concat_tables(parts), delete)
    now = (await tables.read_analyzer_versions())[-1]
    if now != version:
        await _set_terms(tables, [change for one in revisions for change in _list_terms(one, now)])
    return merged


async def reindex_scope(tables: ScopeTables) -> ReindexReport:
    """Renew the terms of a scope by the newest version of the analyzer; no text is embedded, no vector changes.

    What has the right terms already is not written, so that an interrupted run goes on where it stopped. Raises
    `StorageUnavailableError` where other writers never stop.
    """
    before = await tables.read_analyzer_versions()
    newest = (ANALYZER_VERSION,)
    if before != newest:
        await _set_versions(tables, {*before, ANALYZER_VERSION})
    renewed = 0
    for _ in range(_ROUNDS):
        passages, changed = await _renew_all(tables)
        renewed += changed
        if not changed:
            break
    else:
        msg = f"Other writers kept changing {tables.scope.name} meanwhile. Run the same command again."
        raise StorageUnavailableError(msg)
    if before != newest:
        await _set_versions(tables, newest)
    return ReindexReport(
        tables.scope.name, passages, renewed, format_analyzer_versions(before), format_analyzer_versions(newest)
    )


async def _renew_all(tables: ScopeTables) -> tuple[int, int]:
    """How many passages there are, and how many got other terms."""
    passages = changed = 0
    heads = [head for head in await tables.list_heads(None) if head.revision_id]
    for batch in split_into_commits(heads, lambda head: head.info.total_chars):
        stored = await tables.read_indexed_revisions(batch)
        changes = [change for one in stored for change in _list_changes(one)]
        passages += sum(len(one.passages) for one in stored)
        changed += len(changes)
        await _set_terms(tables, changes)
    return passages, changed


def _list_changes(revision: IndexedRevision) -> Iterator[Change]:
    wanted = _list_terms(revision, ANALYZER_VERSION)
    return (one for one, terms in zip(wanted, revision.terms, strict=True) if one[1] != terms)


def _list_terms(revision: StoredRevision | IndexedRevision, version: int) -> list[Change]:
    info, passages = revision.info, revision.passages
    terms = list_indexed_terms(version, info.title, info.language, info.source_uri, passages)
    keys = [row_key(PASSAGE, info.item_id, info.revision_id, passage.ordinal) for passage in passages]
    return list(zip(keys, terms, strict=True))


async def _set_terms(tables: ScopeTables, changes: Sequence[Change]) -> None:
    if changes:
        await tables.current.set_terms([key for key, _ in changes], [terms for _, terms in changes])


async def _set_versions(tables: ScopeTables, versions: Iterable[int]) -> None:
    await tables.current.set_column_metadata(TERMS, {META_ANALYZER: format_analyzer_versions(versions)})
