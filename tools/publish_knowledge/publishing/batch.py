"""Publish one batch: embed what is new, store it in the archive, make it current in one commit, detect overwrites."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from knowledge.store.schema import ARCHIVED, PASSAGE
from publish_knowledge.embedding.embedder import Embedder, EmbeddingError
from publish_knowledge.passages.indexed_text import list_embedded_texts
from publish_knowledge.passages.splitting import Passage, split_text
from publish_knowledge.publishing.consistency import reconcile
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.publishing.plan import (
    ItemOutcome,
    PreparedDocument,
    Step,
    build_head,
    build_revision,
    collect_vectors,
    decide_step,
)
from publish_knowledge.publishing.terms import write_passages
from publish_knowledge.store.arrow_rows import build_archive_rows, build_head_rows, build_history_rows
from publish_knowledge.store.marker import current_time
from publish_knowledge.store.records import HalfVectors, ItemHead, StoredRevision
from publish_knowledge.store.scope_tables import Address, ScopeTables, address_of


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """Steps that start from heads read at `version` of `current`, or at a later one."""

    version: int
    steps: tuple[Step, ...]

    @property
    def written(self) -> list[Step]:
        """The steps for which something is to be stored."""
        return [step for step in self.steps if step.writes]


@dataclass(slots=True)
class _Known:
    """What need not be computed again: vectors by embedded text, stored revisions by id, and passages by item."""

    vectors: dict[str, HalfVectors]
    revisions: Mapping[str, StoredRevision]
    broken: frozenset[str]
    """Revisions of which only some rows are stored."""
    passages: dict[str, tuple[Passage, ...]] = field(default_factory=dict)

    def split(self, step: Step) -> tuple[Passage, ...]:
        """Split a step's document, once for all uses."""
        document = step.prepared.document
        if step.item_id not in self.passages:
            self.passages[step.item_id] = split_text(document.text, document.kind)
        return self.passages[step.item_id]

    def list_wanted(self, step: Step) -> list[str]:
        """List the texts that need a vector before the step can be stored: none for a revision that is stored."""
        if step.revision_id in self.revisions:
            return []
        return [text for text in list_embedded_texts(step.info.title, self.split(step)) if text is not None]


async def plan_batch(tables: ScopeTables, batch: Sequence[PreparedDocument], options: PublishOptions) -> BatchPlan:
    """Compare a batch with the heads as they are now."""
    version = await tables.current.version()
    heads = await tables.find_heads([prepared.item_id for prepared in batch])
    steps = (decide_step(prepared, heads.get(prepared.item_id), options) for prepared in batch)
    return BatchPlan(version, tuple(steps))


def count_texts_to_embed(embedder: Embedder, plan: BatchPlan) -> int:
    """Count the texts of a batch that the model has to embed, as far as the cache tells; blocks."""
    texts: list[str] = []
    for step in plan.written:
        document = step.prepared.document
        found = list_embedded_texts(step.info.title, split_text(document.text, document.kind))
        texts += (text for text in found if text is not None)
    return embedder.count_missing(texts)


async def publish_batch(
    tables: ScopeTables,
    options: PublishOptions,
    embedder: Embedder,
    batch: Sequence[PreparedDocument],
    first: BatchPlan,
) -> list[ItemOutcome]:
    """Publish a batch, planned before as `first`; one outcome for each document, in order."""
    known = await _load_known(tables, first.written)
    failed = await _embed(embedder, known, first.written)
    usable = [prepared for prepared in batch if prepared.item_id not in failed]
    # Embedding takes long. Heads that moved meanwhile give other revisions of the same passages, and new vectors only
    # for an item that had nothing to write before.
    plan = await plan_batch(tables, usable, options)
    failed |= await _embed(embedder, known, plan.written)
    plan = replace(plan, steps=tuple(step for step in plan.steps if step.item_id not in failed))
    done = {outcome.item_id: outcome for outcome in await _store(tables, plan, known)} | failed
    return [done[prepared.item_id] for prepared in batch]


async def _store(tables: ScopeTables, plan: BatchPlan, known: _Known) -> list[ItemOutcome]:
    if not plan.written:
        return [step.outcome for step in plan.steps]
    at = current_time()
    # A revision that is stored, a draft or what an interrupted publish left, keeps its rows, even if texts are split
    # differently today.
    revisions = [
        known.revisions.get(step.revision_id) or build_revision(step, known.split(step), known.vectors, at)
        for step in plan.written
    ]
    await _archive(tables, revisions, known)
    drafted = [step for step in plan.steps if step.action == "drafted"]
    rest = replace(plan, steps=tuple(step for step in plan.steps if step.action != "drafted"))
    outcomes = await _commit_drafts(tables, drafted, known, at)
    if not rest.written:
        return [*outcomes, *(step.outcome for step in rest.steps)]
    published = {step.revision_id for step in rest.written}
    made = [revision for revision in revisions if revision.revision_id in published]
    return [*outcomes, *await _commit(tables, rest, made, at)]


async def _load_known(tables: ScopeTables, steps: Iterable[Step]) -> _Known:
    addresses: list[Address] = []
    for step in steps:
        addresses.append(Address(step.item_id, step.revision_id, step.info.total_chars))
        if step.head is not None and step.head.revision_id:
            addresses.append(address_of(step.head))
    stored = await tables.read_revisions(addresses)
    whole = {revision: each for revision, each in stored.items() if each.is_complete}
    vectors = collect_vectors(whole.values(), embeds_context=tables.embeds_context)
    return _Known(vectors, whole, frozenset(stored) - whole.keys())


async def _embed(embedder: Embedder, known: _Known, steps: Sequence[Step]) -> dict[str, ItemOutcome]:
    """Embed what has no vector yet; outcomes of the documents that the model cannot embed, by item."""
    try:
        await _embed_texts(embedder, known, (text for step in steps for text in known.list_wanted(step)))
    except EmbeddingError:
        return await _embed_one_by_one(embedder, known, steps)
    return {}


async def _embed_one_by_one(embedder: Embedder, known: _Known, steps: Iterable[Step]) -> dict[str, ItemOutcome]:
    failed: dict[str, ItemOutcome] = {}
    for step in steps:
        try:
            await _embed_texts(embedder, known, known.list_wanted(step))
        except EmbeddingError as error:
            failed[step.item_id] = _refuse(step.outcome, str(error))
    return failed


async def _embed_texts(embedder: Embedder, known: _Known, texts: Iterable[str]) -> None:
    missing = list(dict.fromkeys(text for text in texts if text not in known.vectors))
    if missing:
        vectors = await asyncio.to_thread(embedder.embed, missing)
        known.vectors.update(zip(missing, np.asarray(vectors, dtype=np.float16), strict=True))


async def _archive(tables: ScopeTables, revisions: Iterable[StoredRevision], known: _Known) -> None:
    fresh = [revision for revision in revisions if revision.revision_id not in known.revisions]
    whole = [revision for revision in fresh if revision.revision_id not in known.broken]
    partial = [revision for revision in fresh if revision.revision_id in known.broken]
    if whole:
        await tables.revisions.insert_missing(_join_archive_rows(tables, whole))
    if partial:
        # Only damage leaves part of a revision; today's passages may be split differently from those that are left.
        ids = [revision.revision_id for revision in partial]
        await tables.revisions.merge(_join_archive_rows(tables, partial), {"revision_id": ids})


def _join_archive_rows(tables: ScopeTables, revisions: Iterable[StoredRevision]) -> pa.Table:
    return pa.concat_tables(build_archive_rows(tables.revisions_schema, revision) for revision in revisions)


async def _commit_drafts(tables: ScopeTables, steps: Sequence[Step], known: _Known, at: str) -> list[ItemOutcome]:
    heads = [build_head(step, at) for step in steps if step.head is None]
    if heads:
        # Never over a head: a draft changes nothing that may be read.
        await tables.current.insert_missing(build_head_rows(tables.current_schema, heads))
    return [_build_draft_outcome(step, known) for step in steps]


def _build_draft_outcome(step: Step, known: _Known) -> ItemOutcome:
    again = step.head is not None and step.revision_id in known.revisions
    return replace(step.outcome, action="unchanged") if again else step.outcome


async def _commit(
    tables: ScopeTables, plan: BatchPlan, revisions: Sequence[StoredRevision], at: str
) -> list[ItemOutcome]:
    heads = [build_head(step, at) for step in plan.written]
    items = [head.item_id for head in heads]
    rows = [
        build_head_rows(tables.current_schema, heads),
        build_history_rows(tables.current_schema, heads),
    ]
    merged = await write_passages(tables, revisions, rows, {"kind": PASSAGE, "item_id": items})
    before = {} if merged.version - 1 == plan.version else await tables.find_heads(items, at=merged.version - 1)
    outcomes = [detect_overwrite(step, before.get(step.item_id, step.head)) for step in plan.steps]
    return await _check_base(tables, heads[0].base_id, outcomes)


def detect_overwrite(step: Step, before: ItemHead | None) -> ItemOutcome:
    """Compare the head that the commit replaced with the one that the step started from."""
    outcome = step.outcome
    if not step.writes or before is None or before.revision_id == step.revision_id:
        return outcome
    if before.revision_id != step.previous_id:
        detail = f"Revision {before.revision_id}, which another publisher committed meanwhile, is no longer current."
        return replace(outcome, action="overwritten", detail=detail)
    if before.state == ARCHIVED and step.head is not None and step.head.state != ARCHIVED:
        detail = "The item was archived meanwhile; publishing made it readable again."
        return replace(outcome, action="overwritten", detail=detail)
    return outcome


async def _check_base(tables: ScopeTables, base_id: str, outcomes: list[ItemOutcome]) -> list[ItemOutcome]:
    """Check again that the base is active: its row and those of items share no key, so that neither sees the other."""
    if not await tables.is_base_archived(base_id):
        return outcomes
    await reconcile(tables, base_id)
    detail = "The base was archived meanwhile. What was published is kept and becomes readable when it is restored."
    return [outcome if outcome.action == "unchanged" else _refuse(outcome, detail) for outcome in outcomes]


def _refuse(outcome: ItemOutcome, detail: str) -> ItemOutcome:
    return replace(outcome, action="refused", detail=detail)
