"""What publishing decides before it writes: one step for each document, and the report of what became of it."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import Final, Literal

from knowledge.scopes import Scope
from knowledge.store.schema import ARCHIVED, DRAFT, PUBLISHED, State, fingerprint, item_id, revision_id
from publish_knowledge.sources.documents import Document

Action = Literal[
    "created",  # a new item, published
    "changed",  # a new revision of an item
    "restored",  # an archived item, published again as it was
    "unchanged",  # nothing to do
    "drafted",  # stored, not readable
    "archived",  # pruned: its file is gone
    "overwritten",  # published, but over a revision that another publisher had committed meanwhile
    "refused",  # not readable: the base was archived, or another file claims the same id
]

WRITTEN: Final[frozenset[Action]] = frozenset({"created", "changed", "restored", "drafted"})
"""Actions that a document leads to when something is to be stored."""


@dataclass(frozen=True, slots=True)
class ItemHead:
    """The head row of an item: its state, and the metadata of its current revision ("" where none ever was)."""

    item_id: str
    base_id: str
    state: State
    revision_id: str
    sequence: int
    title: str
    language: str
    source_type: str
    source_uri: str
    total_chars: int
    content_sha256: str
    previous_id: str
    fingerprint: str
    published_at: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document and what identifies it in one base of one scope."""

    document: Document
    base_id: str
    item_id: str
    content_sha256: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done with one document, starting from the head that was read."""

    prepared: Prepared
    head: ItemHead | None
    action: Action
    revision_id: str

    @property
    def document(self) -> Document:
        """The document the step is about."""
        return self.prepared.document

    @property
    def previous_id(self) -> str:
        """The current revision that the step starts from, "" where there is none."""
        return self.head.revision_id if self.head else ""


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """What became of one document, or of one item that was pruned."""

    source_path: str
    item_id: str
    revision_id: str
    action: Action
    detail: str = ""


@dataclass(frozen=True, slots=True)
class PublishReport:
    """Outcomes in the order of the documents, pruned items last."""

    outcomes: tuple[ItemOutcome, ...]
    dry_run: bool = False

    def count(self, action: Action) -> int:
        """How many outcomes there are of one kind."""
        return Counter(outcome.action for outcome in self.outcomes)[action]

    def of(self, action: Action) -> tuple[ItemOutcome, ...]:
        """The outcomes of one kind."""
        return tuple(outcome for outcome in self.outcomes if outcome.action == action)


def prepare(scope: Scope, base_id: str, document: Document) -> Prepared:
    """Work out an item's id and the fingerprint of its content and metadata."""
    content = hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()
    return Prepared(
        document=document,
        base_id=base_id,
        item_id=item_id(scope, base_id, document.item_source),
        content_sha256=content,
        fingerprint=fingerprint(content, document.title, document.language, document.source_path),
    )


def plan_step(prepared: Prepared, head: ItemHead | None, *, draft: bool) -> Step:
    """Decide by comparing with the current revision; the same content and metadata never make a new revision."""
    previous = head.revision_id if head else ""
    if head is not None and previous and head.fingerprint == prepared.fingerprint:
        restoring = head.state == ARCHIVED and not draft
        return Step(prepared, head, "restored" if restoring else "unchanged", previous)
    revision = revision_id(prepared.item_id, previous, prepared.fingerprint)
    return Step(prepared, head, _action(previous, draft=draft), revision)


def _action(previous: str, *, draft: bool) -> Action:
    if draft:
        return "drafted"
    return "changed" if previous else "created"


def head_after(step: Step, now: str) -> ItemHead:
    """The head row that publishing leaves behind; `now` is ISO 8601 in UTC."""
    if step.action == "restored" and step.head is not None:
        return replace(step.head, state=PUBLISHED)
    draft = step.action == "drafted"
    prepared, document = step.prepared, step.document
    return ItemHead(
        item_id=prepared.item_id,
        base_id=prepared.base_id,
        state=DRAFT if draft else PUBLISHED,
        revision_id="" if draft else step.revision_id,
        sequence=0 if draft else (step.head.sequence if step.head else 0) + 1,
        title=document.title,
        language=document.language,
        source_type=document.source_type,
        source_uri=document.source_path,
        total_chars=len(document.text),
        content_sha256=prepared.content_sha256,
        previous_id=step.previous_id,
        fingerprint=prepared.fingerprint,
        published_at="" if draft else now,
    )
