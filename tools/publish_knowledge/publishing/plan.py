"""Decide what to do with each document, and build what is stored for it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from knowledge.scopes import Scope
from knowledge.store.revision import RevisionInfo
from knowledge.store.schema import ARCHIVED, DRAFT, PUBLISHED, content_digest, fingerprint, item_id, revision_id
from publish_knowledge.passages.indexed_text import build_embedded_text, list_embedded_texts
from publish_knowledge.passages.splitting import Passage
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.sources.documents import Document, normalize_path
from publish_knowledge.store.records import HalfVectors, ItemHead, StoredRevision

Action = Literal[
    "created",  # a new item, published
    "changed",  # a new revision of an item
    "renamed",  # the same, only because its file has another path; planned by `sync`
    "restored",  # an archived item, published again as it was
    "unchanged",  # nothing to do
    "drafted",  # stored, not readable
    "archived",  # pruned: its file is gone
    "kept",  # not pruned: its file could not be looked for
    "overwritten",  # published, but over a revision that another publisher had committed meanwhile
    "refused",  # not done: the base was archived, or another file claims the same id
]

WRITTEN: Final[frozenset[Action]] = frozenset({"created", "changed", "restored", "drafted"})
"""Actions that a document leads to when something is to be stored."""

KnownVectors = Mapping[str, HalfVectors]
"""Vectors of shape (dimensions,) by the text that was embedded."""


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document and the revision it would become; the revision's id depends on the one before, and is still empty."""

    document: Document
    info: RevisionInfo
    fingerprint: str

    @property
    def identity(self) -> str:
        """What the revision's id is derived from: of a converted document also what it was converted to."""
        if self.document.original is None:
            return self.fingerprint
        return fingerprint(self.fingerprint, self.info.title, self.info.language, self.info.content_sha256)

    @property
    def item_id(self) -> str:
        """Id of the document's item."""
        return self.info.item_id


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done with one document, starting from the head that was read."""

    prepared: PreparedDocument
    head: ItemHead | None
    action: Action
    revision_id: str
    detail: str = ""

    @property
    def item_id(self) -> str:
        """Id of the document's item."""
        return self.prepared.item_id

    @property
    def info(self) -> RevisionInfo:
        """The revision that the step stores; not published yet."""
        return replace(self.prepared.info, revision_id=self.revision_id)

    @property
    def previous_id(self) -> str:
        """The current revision that the step starts from, "" where there is none."""
        return self.head.revision_id if self.head else ""

    @property
    def writes(self) -> bool:
        """Whether something is to be stored."""
        return self.action in WRITTEN

    @property
    def outcome(self) -> ItemOutcome:
        """The outcome when everything goes as planned."""
        return ItemOutcome(self.prepared.document.source_path, self.item_id, self.revision_id, self.action, self.detail)


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """The outcome of one document, or of one item that was pruned."""

    source_path: str
    item_id: str
    revision_id: str
    action: Action
    detail: str = ""


@dataclass(frozen=True, slots=True)
class PublishReport:
    """Outcomes in the order of the documents, pruned items last; `gone` are source paths that could be pruned."""

    outcomes: tuple[ItemOutcome, ...]
    dry_run: bool = False
    gone: tuple[str, ...] = ()

    def count(self, action: Action) -> int:
        """Count the outcomes with one action."""
        return self.count_actions()[action]

    def count_actions(self) -> Counter[Action]:
        """Count the outcomes by action, in the order in which the actions first occur."""
        return Counter(outcome.action for outcome in self.outcomes)


def prepare_document(scope: Scope, base_id: str, document: Document) -> PreparedDocument:
    """Compute an item's id and the fingerprint of its content and metadata."""
    content = content_digest(document.text)
    info = RevisionInfo(
        scope=scope,
        base_id=base_id,
        item_id=document.item_id or item_id(scope, base_id, document.item_source),
        revision_id="",
        title=document.title,
        language=document.language,
        published_at="",
        source_type=document.source_type,
        source_uri=document.source_path,
        total_chars=len(document.text),
        content_sha256=content,
    )
    return PreparedDocument(document, info, _compute_fingerprint(document, content))


def _compute_fingerprint(document: Document, content: str) -> str:
    """By the original where there is one: another version of a converter is no change of the document."""
    if document.original is not None:
        return fingerprint(document.original.sha256, "", document.original.language, document.source_path)
    return fingerprint(content, document.title, document.language, document.source_path)


def plan_step(prepared: PreparedDocument, head: ItemHead | None, *, draft: bool, reconvert: bool = False) -> Step:
    """Decide by comparing with the current revision; the same content and metadata never make a new revision.

    A converted document is the same as long as its original is; with `reconvert`, as long as its text is, too.
    """
    previous = head.revision_id if head else ""
    is_same = head is not None and head.fingerprint == prepared.fingerprint
    if head is not None and previous and is_same and not (reconvert and _is_converted_differently(prepared, head)):
        restoring = head.state == ARCHIVED and not draft
        return Step(prepared, head, "restored" if restoring else "unchanged", previous)
    revision = revision_id(prepared.item_id, previous, prepared.identity)
    return Step(prepared, head, _choose_action(previous, draft=draft), revision)


def _is_converted_differently(prepared: PreparedDocument, head: ItemHead) -> bool:
    new, old = prepared.info, head.info
    return (new.content_sha256, new.title, new.language) != (old.content_sha256, old.title, old.language)


def decide_step(prepared: PreparedDocument, head: ItemHead | None, options: PublishOptions) -> Step:
    """Decide with all that the options and the document's front matter say, and give the reason where it matters."""
    marked = prepared.document.draft
    step = plan_step(prepared, head, draft=options.draft or marked is not None, reconvert=options.reconvert)
    if head is not None and _is_of_another_file(prepared, head, options):
        return replace(step, action="refused", revision_id="", detail=_explain_other_file(head))
    if marked is None:
        return step
    is_readable = head is not None and head.state == PUBLISHED
    stays = " What was published before stays readable until it is archived." if is_readable else ""
    return replace(step, detail=f"Its front matter has “{marked}”.{stays}")


def _is_of_another_file(prepared: PreparedDocument, head: ItemHead, options: PublishOptions) -> bool:
    """Whether the item's last publish came from another file, which may still be there."""
    if normalize_path(head.info.source_uri) == prepared.document.source_path or head.state == ARCHIVED:
        return False
    return not options.misses(head)


def _explain_other_file(head: ItemHead) -> str:
    return (
        f"The item with this id was published from {head.info.source_uri}. Give each file an id of its own, or use "
        "--ids path. If the file was moved, publish its old and its new folder in one run, or archive the item first: "
        f"knowledge archive --item {head.item_id}."
    )


def _choose_action(previous: str, *, draft: bool) -> Action:
    if draft:
        return "drafted"
    return "changed" if previous else "created"


def build_head(step: Step, now: str) -> ItemHead:
    """Build the head that publishing leaves behind; `now` is ISO 8601 in UTC."""
    if step.action == "restored" and step.head is not None:
        return replace(step.head, state=PUBLISHED)
    if step.action == "drafted":
        return ItemHead(step.prepared.info, step.previous_id, step.prepared.fingerprint, DRAFT, 0)
    return ItemHead(
        info=replace(step.info, published_at=now),
        previous_id=step.previous_id,
        fingerprint=step.prepared.fingerprint,
        state=PUBLISHED,
        sequence=(step.head.sequence if step.head else 0) + 1,
    )


def collect_vectors(revisions: Iterable[StoredRevision], *, embeds_context: bool) -> dict[str, HalfVectors]:
    """Collect the vectors that stored revisions have: an unchanged passage is never embedded again.

    Without `embeds_context` they are of the passages' bare texts, which are not always what is embedded today.
    """
    known: dict[str, HalfVectors] = {}
    for revision in revisions:
        texts = list_embedded_texts(revision.info.title, revision.passages)
        for text, passage, vector in zip(texts, revision.passages, revision.vectors, strict=True):
            same = embeds_context or text == build_embedded_text(revision.info.title, passage)
            if text is not None and same and not np.isnan(vector).any():
                known[text] = vector
    return known


def build_revision(step: Step, passages: Sequence[Passage], known: KnownVectors, created_at: str) -> StoredRevision:
    """Build the revision to store. `known` must have a vector for each of its `list_embedded_texts`."""
    texts = list_embedded_texts(step.info.title, passages)
    vectors = [known[text] if text is not None else None for text in texts]
    # The first passage always has a vector.
    missing = np.full_like(vectors[0], np.nan)
    return StoredRevision(
        info=step.info,
        previous_id=step.previous_id,
        fingerprint=step.prepared.fingerprint,
        created_at=created_at,
        passages=tuple(passages),
        vectors=np.stack([missing if vector is None else vector for vector in vectors]),
    )
