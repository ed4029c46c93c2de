"""Publishing: plan, embed, store, commit, and tell what became of every document."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from knowledge.errors import InvalidRequestError
from knowledge.scopes import Scope
from knowledge.store.schema import PUBLISHED
from publish_knowledge.embedding.embedder import Embedder
from publish_knowledge.maintenance import keep_quick
from publish_knowledge.publishing.batch import Run, outcome_of, plan_batch, publish_batch
from publish_knowledge.publishing.lifecycle import take_out
from publish_knowledge.publishing.plan import ItemHead, ItemOutcome, Prepared, PublishReport, plan_step, prepare
from publish_knowledge.sources.documents import Document
from publish_knowledge.store import marker
from publish_knowledge.store.database import Store
from publish_knowledge.store.scope_tables import ScopeTables, ensure_scope, open_scope

Progress = Callable[[str, int, int], None]
"""Hears the stage ("publish", "optimize"), how much of it is done and how much there is."""

BATCH_ITEMS: Final = 200
BATCH_CHARS: Final = 1_000_000
"""Limits of one commit: about 2,500 passages are written in half a second, and interrupting loses at most that."""


async def publish(  # noqa: PLR0913 - the keywords are the command's options
    store: Store,
    scope: Scope,
    base_id: str,
    documents: Iterable[Document],
    *,
    embedder: Embedder,
    draft: bool = False,
    prune: bool = False,
    present: Collection[str] = (),
    folders: Collection[str] = ("",),
    dry_run: bool = False,
    on_progress: Progress = lambda _stage, _done, _total: None,
) -> PublishReport:
    """Publish documents into a base; see `PublishReport`.

    `prune` archives the base's published items below `folders` that are no longer any document's, unless their source
    path is in `present` (files that are there but could not be read). Raises `InvalidRequestError` for an archived
    base.
    """
    if draft and prune:
        raise InvalidRequestError("A draft changes nothing that may be read, so it cannot prune. Leave one of the two.")
    batch, refused = _distinct(prepare(scope, base_id, document) for document in documents)
    tables = await _opened(store, scope, dry_run=dry_run)
    if tables is None:
        return PublishReport((*_untouched(batch, draft=draft), *refused), dry_run=True)
    await _refuse_archived(tables, base_id)
    spared = {*present, *(one.source_path for one in refused)}
    gone = await _gone(tables, base_id, batch, Pruning(tuple(folders), spared)) if prune else []
    rest = [*refused, *map(_pruned, gone)]
    if dry_run:
        planned = await plan_batch(tables, batch, draft=draft)
        return PublishReport((*map(outcome_of, planned.steps), *rest), dry_run=True)
    outcomes = await _published(Run(tables, base_id, embedder, draft), batch, on_progress)
    await take_out(tables, gone)
    return await _finished(tables, (*outcomes, *rest), on_progress)


@dataclass(frozen=True, slots=True)
class Pruning:
    """Below which paths an item must have its file, and the paths that are spared."""

    folders: tuple[str, ...]
    spared: Collection[str]

    def takes(self, head: ItemHead) -> bool:
        """Whether an item without a document is to go."""
        return head.source_uri.startswith(self.folders) and head.source_uri not in self.spared


async def _refuse_archived(tables: ScopeTables, base_id: str) -> None:
    if await tables.base_archived(base_id):
        msg = f"The base {base_id!r} of {tables.scope.name} is archived. Restore it before you publish into it."
        raise InvalidRequestError(msg, field="base_id")


async def _finished(tables: ScopeTables, outcomes: tuple[ItemOutcome, ...], on_progress: Progress) -> PublishReport:
    if any(outcome.action != "unchanged" for outcome in outcomes):
        on_progress("optimize", 0, 1)
        await keep_quick(tables)
        on_progress("optimize", 1, 1)
    return PublishReport(outcomes)


async def _opened(store: Store, scope: Scope, *, dry_run: bool) -> ScopeTables | None:
    if dry_run:
        return await open_scope(store, scope) if await marker.dataset_exists(store) else None
    await marker.ensure_dataset(store)
    return await ensure_scope(store, scope)


async def _published(run: Run, documents: Sequence[Prepared], on_progress: Progress) -> list[ItemOutcome]:
    outcomes: list[ItemOutcome] = []
    on_progress("publish", 0, len(documents))
    for batch in _batches(documents):
        outcomes += await publish_batch(run, batch)
        on_progress("publish", len(outcomes), len(documents))
    return outcomes


def _distinct(prepared: Iterable[Prepared]) -> tuple[list[Prepared], list[ItemOutcome]]:
    first: dict[str, Prepared] = {}
    refused: list[ItemOutcome] = []
    for one in prepared:
        known = first.setdefault(one.item_id, one)
        if known is not one:
            detail = f"{known.document.source_path} claims the same id. Give one of the two files an id of its own."
            refused.append(ItemOutcome(one.document.source_path, one.item_id, "", "refused", detail))
    return list(first.values()), refused


def _untouched(batch: Iterable[Prepared], *, draft: bool) -> list[ItemOutcome]:
    return [outcome_of(plan_step(prepared, None, draft=draft)) for prepared in batch]


async def _gone(tables: ScopeTables, base_id: str, batch: Iterable[Prepared], pruning: Pruning) -> list[ItemHead]:
    items = {prepared.item_id for prepared in batch}
    published = [head for head in await tables.heads_in(base_id) if head.state == PUBLISHED]
    gone = [head for head in published if head.item_id not in items and pruning.takes(head)]
    return sorted(gone, key=lambda head: (head.source_uri, head.item_id))


def _pruned(head: ItemHead) -> ItemOutcome:
    return ItemOutcome(head.source_uri, head.item_id, head.revision_id, "archived", "Its file is gone.")


def _batches(documents: Sequence[Prepared]) -> Iterator[list[Prepared]]:
    batch: list[Prepared] = []
    chars = 0
    for prepared in documents:
        size = len(prepared.document.text)
        if batch and (len(batch) == BATCH_ITEMS or chars + size > BATCH_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(prepared)
        chars += size
    if batch:
        yield batch
