"""Archive and restore items and bases, and remove a scope permanently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from knowledge.errors import InvalidRequestError, StorageUnavailableError
from knowledge.scopes import Scope
from knowledge.store.schema import ARCHIVED, BASE, DRAFT, HEAD, PASSAGE, PUBLISHED, row_key
from publish_knowledge.publishing.catalog import require_item
from publish_knowledge.publishing.consistency import ROUNDS, fill_passages, reconcile
from publish_knowledge.publishing.known_names import explain_unknown_base, list_bases
from publish_knowledge.store import marker
from publish_knowledge.store.arrow_rows import build_base_rows
from publish_knowledge.store.purges import digest_of, purge_tables
from publish_knowledge.store.records import ItemHead
from publish_knowledge.store.scope_tables import ScopeTables, require_scope

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store


@dataclass(frozen=True, slots=True)
class LifecycleReport:
    """What a command did. `changed` is false where the state was already the requested one.

    `item_ids` are the items that were archived or restored.
    """

    changed: bool
    item_ids: tuple[str, ...] = ()
    detail: str = ""


async def archive_item(store: Store, scope: Scope, item_id: str) -> LifecycleReport:
    """Remove an item from queries and reads. Raises `InvalidRequestError` for an unknown id."""
    tables, head = await require_item(store, scope, item_id)
    if head.state == ARCHIVED:
        return LifecycleReport(changed=False, detail="The item was archived already.")
    await archive_items(tables, [head])
    return LifecycleReport(changed=True, item_ids=(item_id,))


async def archive_items(tables: ScopeTables, heads: Sequence[ItemHead]) -> None:
    """Archive items in one commit. Only states are written, so a revision published meanwhile is not lost."""
    if heads:
        items = [head.item_id for head in heads]
        keys = [row_key(HEAD, item) for item in items]
        await tables.current.set_states(keys, ARCHIVED, delete={"kind": PASSAGE, "item_id": items})


async def restore_item(store: Store, scope: Scope, item_id: str) -> LifecycleReport:
    """Make an archived item readable again, at the revision it had. Raises `InvalidRequestError` for an unknown id."""
    tables, head = await require_item(store, scope, item_id)
    if head.state != ARCHIVED:
        return LifecycleReport(changed=False, detail="The item is not archived.")
    for _ in range(ROUNDS):
        if await _try_to_restore(tables, head):
            break
        # It was published, or archived at another revision, since it was read.
        tables, head = await require_item(store, scope, item_id)
        if head.state != ARCHIVED:
            break
    else:
        raise StorageUnavailableError(f"Other writers kept changing {item_id} meanwhile. Run the same command again.")
    await reconcile(tables, head.base_id)
    hidden = await tables.is_base_archived(head.base_id)
    detail = "Its base is archived: the item becomes readable when the base is restored." if hidden else ""
    return LifecycleReport(changed=True, item_ids=(item_id,), detail=detail)


async def _try_to_restore(tables: ScopeTables, head: ItemHead) -> bool:
    """Write the passages, which no reader sees while the head is archived, then the head, unless it has changed."""
    if head.revision_id and not await tables.is_base_archived(head.base_id):
        await fill_passages(tables, [head])
    state = PUBLISHED if head.revision_id else DRAFT
    unmoved = {"state": ARCHIVED, "revision_id": head.revision_id}
    return (await tables.current.set_states([row_key(HEAD, head.item_id)], state, only_if=unmoved)).updated > 0


async def archive_base(store: Store, scope: Scope, base_id: str) -> LifecycleReport:
    """Remove all items of a base from queries and reads; their own states do not change."""
    tables = await require_scope(store, scope)
    items = await _list_published(tables, scope, base_id)
    if tables is None or await tables.is_base_archived(base_id):
        # An interrupted run of this command is completed here.
        changed = tables is not None and await reconcile(tables, base_id)
        return LifecycleReport(changed=changed, detail="The base was archived already.")
    rows = build_base_rows(scope, tables.current_schema, base_id, archived=True)
    await tables.current.merge(rows, {"kind": PASSAGE, "base_id": base_id})
    # Items published between the read and the commit of that merge kept their passages.
    await reconcile(tables, base_id)
    return LifecycleReport(changed=True, item_ids=items)


async def restore_base(store: Store, scope: Scope, base_id: str) -> LifecycleReport:
    """Make a base readable again with exactly what was published; items archived one by one stay archived."""
    tables = await require_scope(store, scope)
    items = await _list_published(tables, scope, base_id)
    if tables is None or not await tables.is_base_archived(base_id):
        return LifecycleReport(changed=False, detail="The base is not archived.")
    # Readers refuse the base until its row says otherwise, so it comes back whole.
    await reconcile(tables, base_id, as_active=True)
    await tables.current.set_states([row_key(BASE, base_id)], PUBLISHED)
    await reconcile(tables, base_id)
    return LifecycleReport(changed=True, item_ids=items)


async def purge_scope(store: Store, scope: Scope) -> LifecycleReport:
    """Remove both tables of a scope, and with them every text in it, permanently.

    A publisher that runs meanwhile fails, and removes what it may have written after the tables were dropped.
    """
    await marker.require_dataset(store)
    return LifecycleReport(changed=await purge_tables(store, digest_of(scope)))


async def _list_published(tables: ScopeTables | None, scope: Scope, base_id: str) -> tuple[str, ...]:
    heads = [] if tables is None else await tables.list_heads(base_id)
    if not heads:
        msg = explain_unknown_base([scope], base_id, await list_bases(tables))
        raise InvalidRequestError(msg, field="base_id")
    return tuple(sorted(head.item_id for head in heads if head.state == PUBLISHED))
