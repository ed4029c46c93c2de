"""Taking items and bases out of service and back, and removing a scope for good."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.scopes import Scope
from publish_knowledge.store import Store


@dataclass(frozen=True, slots=True)
class LifecycleReport:
    """What a command did. `changed` is false where the state was already as asked for.

    `item_ids` are the items that went out of or came back into service.
    """

    changed: bool
    item_ids: tuple[str, ...] = ()
    detail: str = ""


async def archive_item(store: Store, scope: Scope, item_id: str) -> LifecycleReport:
    """Take an item out of queries and reads. Raises `InvalidRequestError` for an unknown id."""
    raise NotImplementedError


async def restore_item(store: Store, scope: Scope, item_id: str) -> LifecycleReport:
    """Bring an archived item back at the revision it had. Raises `InvalidRequestError` for an unknown id."""
    raise NotImplementedError


async def archive_base(store: Store, scope: Scope, base_id: str) -> LifecycleReport:
    """Take all items of a base out of queries and reads; their own states stay as they are."""
    raise NotImplementedError


async def restore_base(store: Store, scope: Scope, base_id: str) -> LifecycleReport:
    """Bring back exactly what was published; items that were archived one by one stay archived."""
    raise NotImplementedError


async def purge_scope(store: Store, scope: Scope) -> LifecycleReport:
    """Remove both tables of a scope, and with them every text in it, for good."""
    raise NotImplementedError
