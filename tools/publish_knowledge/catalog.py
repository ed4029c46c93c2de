"""What a scope holds, for its operator: items in every state, and the revisions of one item."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.scopes import Scope
from publish_knowledge.plan import ItemHead
from publish_knowledge.store import Store


@dataclass(frozen=True, slots=True)
class RevisionEntry:
    """One revision: `state` is "current", "earlier" or "draft" (stored, never published)."""

    revision_id: str
    state: str
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
    raise NotImplementedError


async def history(store: Store, scope: Scope, item_id: str) -> tuple[RevisionEntry, ...]:
    """Revisions of an item, latest first, drafts before them. Raises `InvalidRequestError` for an unknown id."""
    raise NotImplementedError
