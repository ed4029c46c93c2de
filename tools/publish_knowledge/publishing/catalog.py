"""List what a scope contains, for its operator: items in every state, and the revisions of one item."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from knowledge.errors import InvalidRequestError
from knowledge.scopes import Scope
from knowledge.store.revision import RevisionInfo, is_readable
from publish_knowledge.store.records import ItemHead, Lineage, StoredMetadata
from publish_knowledge.store.scope_tables import ScopeTables, require_scope

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store

RevisionState = Literal[
    "current",
    "earlier",
    "draft",  # stored, never published
]


@dataclass(frozen=True, slots=True)
class RevisionEntry:
    """One revision of one item. `at` is when it was published, or for a draft stored; ISO 8601 in UTC."""

    info: RevisionInfo
    state: RevisionState
    sequence: int
    previous_id: str
    at: str


@dataclass(frozen=True, slots=True)
class ItemEntry:
    """One item, its base's state beside its own, and its drafts."""

    head: ItemHead
    base_archived: bool
    drafts: tuple[RevisionEntry, ...]

    @property
    def is_readable(self) -> bool:
        """Whether readers may see the item."""
        archived = [self.head.base_id] if self.base_archived else []
        return is_readable(self.head.state, self.head.base_id, archived)


async def list_items(store: Store, scope: Scope, base_id: str | None = None) -> tuple[ItemEntry, ...]:
    """List the items of a scope or of one of its bases, by base, source path and id."""
    tables = await require_scope(store, scope)
    if tables is None:
        return ()
    heads = sorted(
        await tables.list_heads(base_id), key=lambda head: (head.base_id, head.info.source_uri, head.item_id)
    )
    archived, drafts = await tables.list_archived_bases(), await _list_drafts(tables, None)
    return tuple(ItemEntry(head, head.base_id in archived, drafts.get(head.item_id, ())) for head in heads)


async def list_revisions(store: Store, scope: Scope, item_id: str) -> tuple[RevisionEntry, ...]:
    """List an item's revisions, latest first, drafts before them. Raises `InvalidRequestError` for an unknown id."""
    tables, head = await require_item(store, scope, item_id)
    published = [
        _build_entry(
            row, "current" if row.revision_id == head.revision_id else "earlier", row.sequence, row.info.published_at
        )
        for row in await tables.list_history(item_id)
    ]
    published.sort(
        key=lambda entry: (entry.state == "current", entry.sequence, entry.at, entry.info.revision_id), reverse=True
    )
    return (*(await _list_drafts(tables, item_id)).get(item_id, ()), *published)


async def require_item(store: Store, scope: Scope, item_id: str) -> tuple[ScopeTables, ItemHead]:
    """Open a scope's tables and find the head of one item. Raises `InvalidRequestError` for an unknown id."""
    tables = await require_scope(store, scope)
    head = await tables.find_head(item_id) if tables else None
    if tables is None or head is None:
        msg = f"{scope.name} has no item {item_id!r}. `knowledge list` shows the items there are."
        raise InvalidRequestError(msg, field="item_id")
    return tables, head


async def _list_drafts(tables: ScopeTables, item_id: str | None) -> dict[str, tuple[RevisionEntry, ...]]:
    published = {row.revision_id for row in await tables.list_history(item_id)}
    found: dict[str, list[StoredMetadata]] = {}
    for stored in await tables.list_stored_metadata(item_id):
        if stored.revision_id not in published:
            found.setdefault(stored.item_id, []).append(stored)
    return {item: tuple(_build_draft_entries(several)) for item, several in found.items()}


def _build_draft_entries(several: Iterable[StoredMetadata]) -> Iterable[RevisionEntry]:
    """Latest first."""
    ordered = sorted(several, key=lambda stored: (stored.created_at, stored.revision_id), reverse=True)
    return (_build_entry(stored, "draft", 0, stored.created_at) for stored in ordered)


def _build_entry(revision: Lineage, state: RevisionState, sequence: int, at: str) -> RevisionEntry:
    return RevisionEntry(revision.info, state, sequence, revision.previous_id, at)
