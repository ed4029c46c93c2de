"""What a scope holds, for its operator: items in every state, and the revisions of one item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from knowledge.errors import InvalidRequestError
from knowledge.scopes import Scope
from publish_knowledge.publishing.plan import ItemHead
from publish_knowledge.store.arrow_rows import StoredMetadata
from publish_knowledge.store.database import Store
from publish_knowledge.store.scope_tables import ScopeTables, require_scope

RevisionState = Literal[
    "current",
    "earlier",
    "draft",  # stored, never published
]


@dataclass(frozen=True, slots=True)
class RevisionEntry:
    """One revision of one item."""

    revision_id: str
    state: RevisionState
    sequence: int
    title: str
    language: str
    source_uri: str
    total_chars: int
    content_sha256: str
    previous_id: str
    at: str
    """When it was published, for a draft when it was stored; ISO 8601 in UTC."""


@dataclass(frozen=True, slots=True)
class ItemEntry:
    """One item, its base's state beside its own, and the drafts that wait for it."""

    head: ItemHead
    base_archived: bool
    drafts: tuple[RevisionEntry, ...]


async def list_items(store: Store, scope: Scope, base_id: str | None = None) -> tuple[ItemEntry, ...]:
    """Items of a scope or of one of its bases, by base, source path and id; empty where nothing was ever published."""
    tables = await require_scope(store, scope)
    if tables is None:
        return ()
    heads = sorted(await tables.heads_in(base_id), key=lambda head: (head.base_id, head.source_uri, head.item_id))
    archived, drafts = await tables.archived_bases(), await _drafts(tables, None)
    return tuple(ItemEntry(head, head.base_id in archived, drafts.get(head.item_id, ())) for head in heads)


async def history(store: Store, scope: Scope, item_id: str) -> tuple[RevisionEntry, ...]:
    """Revisions of an item, latest first, drafts before them. Raises `InvalidRequestError` for an unknown id."""
    tables = await require_scope(store, scope)
    head = await tables.head(item_id) if tables else None
    if tables is None or head is None:
        msg = f"{scope.name} has no item {item_id!r}. `knowledge list` shows the items there are."
        raise InvalidRequestError(msg, field="item_id")
    published = [
        _published(row, current=row.revision_id == head.revision_id) for row in await tables.history_of(item_id)
    ]
    published.sort(
        key=lambda entry: (entry.state == "current", entry.sequence, entry.at, entry.revision_id), reverse=True
    )
    return (*(await _drafts(tables, item_id)).get(item_id, ()), *published)


async def _drafts(tables: ScopeTables, item_id: str | None) -> dict[str, tuple[RevisionEntry, ...]]:
    published = {row.revision_id for row in await tables.history_of(item_id)}
    found: dict[str, list[StoredMetadata]] = {}
    for stored in await tables.stored_metadata(item_id):
        if stored.revision_id not in published:
            found.setdefault(stored.item_id, []).append(stored)
    return {item: tuple(_draft(stored) for stored in _latest_first(several)) for item, several in found.items()}


def _latest_first(several: list[StoredMetadata]) -> list[StoredMetadata]:
    return sorted(several, key=lambda stored: (stored.created_at, stored.revision_id), reverse=True)


def _draft(stored: StoredMetadata) -> RevisionEntry:
    return RevisionEntry(
        revision_id=stored.revision_id,
        state="draft",
        sequence=0,
        title=stored.title,
        language=stored.language,
        source_uri=stored.source_uri,
        total_chars=stored.total_chars,
        content_sha256=stored.content_sha256,
        previous_id=stored.previous_id,
        at=stored.created_at,
    )


def _published(row: ItemHead, *, current: bool) -> RevisionEntry:
    return RevisionEntry(
        revision_id=row.revision_id,
        state="current" if current else "earlier",
        sequence=row.sequence,
        title=row.title,
        language=row.language,
        source_uri=row.source_uri,
        total_chars=row.total_chars,
        content_sha256=row.content_sha256,
        previous_id=row.previous_id,
        at=row.published_at,
    )
