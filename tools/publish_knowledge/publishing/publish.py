"""Publish documents: plan, embed, store, commit, and report an outcome for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from knowledge.errors import InvalidRequestError
from knowledge.store.schema import PUBLISHED
from publish_knowledge.embedding.embedder import Embedder
from publish_knowledge.maintenance import optimize_if_needed
from publish_knowledge.publishing.batch import count_texts_to_embed, plan_batch, publish_batch
from publish_knowledge.publishing.identities import assign_items
from publish_knowledge.publishing.lifecycle import archive_items
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.publishing.plan import (
    ItemOutcome,
    PreparedDocument,
    PublishReport,
    decide_step,
    prepare_document,
)
from publish_knowledge.sources.documents import Document
from publish_knowledge.store import marker
from publish_knowledge.store.commits import split_into_commits
from publish_knowledge.store.records import ItemHead
from publish_knowledge.store.scope_tables import ScopeTables, ensure_scope, open_scope

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store

Progress = Callable[[str, int, int], None]
"""Called with the stage ("publish", "optimize"), how much of it is done and how much there is."""


async def publish(
    store: Store,
    options: PublishOptions,
    documents: Iterable[Document],
    *,
    embedder: Embedder,
    on_progress: Progress = lambda _stage, _done, _total: None,
) -> PublishReport:
    """Publish documents into a base. Raises `InvalidRequestError` for an archived base."""
    if options.draft and options.prune:
        raise InvalidRequestError("A draft changes nothing that may be read, so it cannot prune. Leave one of the two.")
    tables = await _open_tables(store, options)
    named = await _name_items(tables, options, [*documents])
    prepared = (prepare_document(options.scope, options.base_id, document) for document in named)
    distinct, refused = _refuse_duplicates(prepared)
    if tables is None:
        steps = (decide_step(one, None, options) for one in distinct)
        return PublishReport((*(step.outcome for step in steps), *refused), dry_run=True)
    await _refuse_archived(tables, options.base_id)
    options = replace(options, unread={*options.unread, *(one.source_path for one in refused)})
    lost = await _find_lost(tables, options, distinct) if options.prune or options.report_gone else []
    pruned = [head for head in lost if options.prunes(head)]
    gone = tuple(head.info.source_uri for head in lost if options.covers(head) and not options.prune)
    kept = [_build_kept_outcome(head) for head in lost if options.keeps(head)]
    rest = [*refused, *map(_build_pruned_outcome, pruned), *kept]
    if options.dry_run:
        planned = await plan_batch(tables, distinct, options)
        return PublishReport((*(step.outcome for step in planned.steps), *rest), dry_run=True, gone=gone)
    outcomes = await _publish_all(tables, options, embedder, distinct, on_progress)
    await archive_items(tables, pruned)
    return await _finish(tables, (*outcomes, *rest), gone, on_progress)


async def _open_tables(store: Store, options: PublishOptions) -> ScopeTables | None:
    if options.dry_run:
        return await open_scope(store, options.scope) if await marker.dataset_exists(store) else None
    await marker.ensure_dataset(store)
    return await ensure_scope(store, options.scope)


async def _name_items(tables: ScopeTables | None, options: PublishOptions, documents: list[Document]) -> list[Document]:
    """Let documents continue the items that were published from their paths, unless that is decided already."""
    if tables is None or all(document.item_id for document in documents):
        return documents
    heads = await tables.list_heads(options.base_id)
    return assign_items(options.scope, options.base_id, documents, heads)


async def _refuse_archived(tables: ScopeTables, base_id: str) -> None:
    if await tables.is_base_archived(base_id):
        msg = f"The base {base_id!r} of {tables.scope.name} is archived. Restore it before you publish into it."
        raise InvalidRequestError(msg, field="base_id")


async def _publish_all(
    tables: ScopeTables,
    options: PublishOptions,
    embedder: Embedder,
    documents: Sequence[PreparedDocument],
    on_progress: Progress,
) -> list[ItemOutcome]:
    outcomes: list[ItemOutcome] = []
    on_progress("publish", 0, len(documents))
    batches = [*split_into_commits(documents, lambda prepared: prepared.info.total_chars)]
    plans = [await plan_batch(tables, batch, options) for batch in batches]
    # Known before the first batch, so that the total of the progress does not grow.
    counts = [await asyncio.to_thread(count_texts_to_embed, embedder, plan) for plan in plans]
    embedder.expect(sum(counts))
    expected = 0
    for batch, plan, count in zip(batches, plans, counts, strict=True):
        outcomes += await publish_batch(tables, options, embedder, batch, plan)
        expected += count
        embedder.advance_to(expected)
        on_progress("publish", len(outcomes), len(documents))
    return outcomes


async def _finish(
    tables: ScopeTables, outcomes: tuple[ItemOutcome, ...], gone: tuple[str, ...], on_progress: Progress
) -> PublishReport:
    written = any(outcome.action != "unchanged" for outcome in outcomes)
    if written:
        on_progress("optimize", 0, 1)
    # Also where nothing had to be written: an earlier run may have stopped before this, at a full disk for one.
    await optimize_if_needed(tables)
    if written:
        on_progress("optimize", 1, 1)
    return PublishReport(outcomes, gone=gone)


def _refuse_duplicates(prepared: Iterable[PreparedDocument]) -> tuple[list[PreparedDocument], list[ItemOutcome]]:
    first: dict[str, PreparedDocument] = {}
    refused: list[ItemOutcome] = []
    for one in prepared:
        known = first.setdefault(one.item_id, one)
        if known is not one:
            detail = f"{known.document.source_path} claims the same id. Give one of the two files an id of its own."
            refused.append(ItemOutcome(one.document.source_path, one.item_id, "", "refused", detail))
    return list(first.values()), refused


async def _find_lost(
    tables: ScopeTables, options: PublishOptions, documents: Iterable[PreparedDocument]
) -> list[ItemHead]:
    """Published items of the base that no document stands behind."""
    items = {prepared.item_id for prepared in documents}
    published = [head for head in await tables.list_heads(options.base_id) if head.state == PUBLISHED]
    lost = [head for head in published if head.item_id not in items]
    return sorted(lost, key=lambda head: (head.info.source_uri, head.item_id))


def _build_pruned_outcome(head: ItemHead) -> ItemOutcome:
    return ItemOutcome(head.info.source_uri, head.item_id, head.revision_id, "archived", "Its file is gone.")


def _build_kept_outcome(head: ItemHead) -> ItemOutcome:
    detail = "Its folder is a link, could not be listed, or is left out by default: it is not taken for gone."
    return ItemOutcome(head.info.source_uri, head.item_id, head.revision_id, "kept", detail)
