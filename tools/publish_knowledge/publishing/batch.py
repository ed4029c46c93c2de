"""One batch of documents: embed what is new, store it in the archive, make it current in one commit, and look back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from knowledge.store.schema import ARCHIVED, PASSAGE
from publish_knowledge.embedding.embedder import Embedder, EmbeddingError
from publish_knowledge.publishing.build import known_vectors, revision_of, wanted_texts
from publish_knowledge.publishing.consistency import passages_of, settle
from publish_knowledge.publishing.plan import WRITTEN, ItemHead, ItemOutcome, Prepared, Step, head_after, plan_step
from publish_knowledge.store.arrow_rows import HalfVectors, StoredRevision, archive_rows, head_rows, history_rows
from publish_knowledge.store.marker import now
from publish_knowledge.store.scope_tables import Address, ScopeTables, address_of


@dataclass(frozen=True, slots=True)
class Run:
    """What stays the same for all batches of one publish."""

    tables: ScopeTables
    base_id: str
    embedder: Embedder
    draft: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps that start from heads read at `version` of `current`, or at a later one."""

    version: int
    steps: tuple[Step, ...]


@dataclass(slots=True)
class _Known:
    """What need not be computed again: vectors by embedded text, and stored revisions by id."""

    vectors: dict[str, HalfVectors]
    revisions: Mapping[str, StoredRevision]
    broken: frozenset[str]
    """Revisions of which only some rows are stored."""


async def plan_batch(tables: ScopeTables, batch: Sequence[Prepared], *, draft: bool) -> Plan:
    """Compare a batch with the heads as they are now."""
    version = await tables.current.version()
    heads = await tables.heads([prepared.item_id for prepared in batch])
    return Plan(version, tuple(plan_step(prepared, heads.get(prepared.item_id), draft=draft) for prepared in batch))


async def publish_batch(run: Run, batch: Sequence[Prepared]) -> list[ItemOutcome]:
    """Publish a batch; one outcome for each document, in order."""
    first = await plan_batch(run.tables, batch, draft=run.draft)
    known = await _known(run.tables, written(first.steps))
    failed = await _embed(run.embedder, known, written(first.steps))
    usable = [prepared for prepared in batch if prepared.item_id not in failed]
    # Embedding takes long. Heads that moved meanwhile give other revisions of the same passages, and no new vectors.
    plan = await plan_batch(run.tables, usable, draft=run.draft)
    done = {outcome.item_id: outcome for outcome in await _stored(run, plan, known)} | failed
    return [done[prepared.item_id] for prepared in batch]


async def _stored(run: Run, plan: Plan, known: _Known) -> list[ItemOutcome]:
    steps = written(plan.steps)
    if not steps:
        return [outcome_of(step) for step in plan.steps]
    at = now()
    revisions = [_revision(step, known, at) for step in steps]
    await _archive(run.tables, revisions, known)
    if run.draft:
        return await _commit_drafts(run, plan, known, at)
    return await _commit(run, plan, revisions, at)


def written(steps: Iterable[Step]) -> list[Step]:
    """The steps for which something is to be stored."""
    return [step for step in steps if step.action in WRITTEN]


def outcome_of(step: Step, detail: str = "") -> ItemOutcome:
    """What a step led to when it went as planned."""
    return ItemOutcome(step.document.source_path, step.prepared.item_id, step.revision_id, step.action, detail)


async def _known(tables: ScopeTables, steps: Iterable[Step]) -> _Known:
    addresses: list[Address] = []
    for step in steps:
        addresses.append(Address(step.prepared.item_id, step.revision_id, len(step.document.text)))
        if step.head is not None and step.head.revision_id:
            addresses.append(address_of(step.head))
    stored = await tables.stored(addresses)
    whole = {revision: each for revision, each in stored.items() if each.complete}
    return _Known(known_vectors(whole.values()), whole, frozenset(stored) - whole.keys())


async def _embed(embedder: Embedder, known: _Known, steps: Iterable[Step]) -> dict[str, ItemOutcome]:
    """Embed what has no vector yet; outcomes of the documents that the model cannot embed, by item."""
    wanted = {step: wanted_texts(step) for step in steps if step.revision_id not in known.revisions}
    try:
        await _embed_texts(embedder, known, (text for texts in wanted.values() for text in texts))
    except EmbeddingError:
        return await _embed_singly(embedder, known, wanted)
    return {}


async def _embed_singly(
    embedder: Embedder, known: _Known, wanted: Mapping[Step, Sequence[str]]
) -> dict[str, ItemOutcome]:
    failed: dict[str, ItemOutcome] = {}
    for step, texts in wanted.items():
        try:
            await _embed_texts(embedder, known, texts)
        except EmbeddingError as error:
            failed[step.prepared.item_id] = _refused(outcome_of(step), str(error))
    return failed


async def _embed_texts(embedder: Embedder, known: _Known, texts: Iterable[str]) -> None:
    missing = list(dict.fromkeys(text for text in texts if text not in known.vectors))
    if missing:
        vectors = await asyncio.to_thread(embedder.embed, missing)
        known.vectors.update(zip(missing, np.asarray(vectors, dtype=np.float16), strict=True))


def _revision(step: Step, known: _Known, at: str) -> StoredRevision:
    # A draft, or what an interrupted publish left: its rows stay as they are, even if texts are cut otherwise today.
    return known.revisions.get(step.revision_id) or revision_of(step, known.vectors, at)


async def _archive(tables: ScopeTables, revisions: Iterable[StoredRevision], known: _Known) -> None:
    fresh = [revision for revision in revisions if revision.revision_id not in known.revisions]
    whole = [revision for revision in fresh if revision.revision_id not in known.broken]
    torn = [revision for revision in fresh if revision.revision_id in known.broken]
    if whole:
        await tables.revisions.insert_missing(_archive_rows(tables, whole))
    if torn:
        # Only damage leaves part of a revision; today's passages may be cut differently from those that are left.
        ids = [revision.revision_id for revision in torn]
        await tables.revisions.merge(_archive_rows(tables, torn), {"revision_id": ids})


def _archive_rows(tables: ScopeTables, revisions: Iterable[StoredRevision]) -> pa.Table:
    return pa.concat_tables(archive_rows(tables.scope, tables.revisions_schema, revision) for revision in revisions)


async def _commit_drafts(run: Run, plan: Plan, known: _Known, at: str) -> list[ItemOutcome]:
    tables = run.tables
    heads = [head_after(step, at) for step in written(plan.steps) if step.head is None]
    if heads:
        # Never over a head: a draft changes nothing that may be read.
        await tables.current.insert_missing(head_rows(tables.scope, tables.current_schema, heads))
    return [_drafted(step, known) for step in plan.steps]


def _drafted(step: Step, known: _Known) -> ItemOutcome:
    again = step.head is not None and step.revision_id in known.revisions
    return replace(outcome_of(step), action="unchanged") if again else outcome_of(step)


async def _commit(run: Run, plan: Plan, revisions: list[StoredRevision], at: str) -> list[ItemOutcome]:
    tables, steps = run.tables, written(plan.steps)
    heads = [head_after(step, at) for step in steps]
    items = [head.item_id for head in heads]
    rows = [
        head_rows(tables.scope, tables.current_schema, heads),
        history_rows(tables.scope, tables.current_schema, heads),
        passages_of(tables, revisions),
    ]
    merged = await tables.current.merge(pa.concat_tables(rows), {"kind": PASSAGE, "item_id": items})
    before = {} if merged.version - 1 == plan.version else await tables.heads(items, at=merged.version - 1)
    outcomes = [_looked_back(step, before.get(step.prepared.item_id, step.head)) for step in plan.steps]
    return await _behind_an_archived_base(run, outcomes)


def _looked_back(step: Step, before: ItemHead | None) -> ItemOutcome:
    outcome = outcome_of(step)
    if step.action not in WRITTEN or before is None or before.revision_id == step.revision_id:
        return outcome
    if before.revision_id != step.previous_id:
        detail = f"Revision {before.revision_id}, which another publisher committed meanwhile, is no longer current."
        return replace(outcome, action="overwritten", detail=detail)
    if before.state == ARCHIVED and step.head is not None and step.head.state != ARCHIVED:
        detail = "The item was archived meanwhile; publishing made it readable again."
        return replace(outcome, action="overwritten", detail=detail)
    return outcome


async def _behind_an_archived_base(run: Run, outcomes: list[ItemOutcome]) -> list[ItemOutcome]:
    if not await run.tables.base_archived(run.base_id):
        return outcomes
    await settle(run.tables, run.base_id)
    detail = "The base was archived meanwhile. What was published is kept and becomes readable when it is restored."
    return [outcome if outcome.action == "unchanged" else _refused(outcome, detail) for outcome in outcomes]


def _refused(outcome: ItemOutcome, detail: str) -> ItemOutcome:
    return replace(outcome, action="refused", detail=detail)
