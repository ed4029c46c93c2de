"""Why a search or a read failed, for those who may know it: the operator of a dataset, not a caller of the tool."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from knowledge.embedding.base import EmbeddingUnavailableError
from knowledge.errors import (
    DatasetMismatchError,
    InvalidRequestError,
    KnowledgeError,
    ResourceUnavailableError,
    StorageUnavailableError,
)
from knowledge.scopes import Scope
from knowledge.store.schema import ARCHIVED, PUBLISHED
from publish_knowledge.cli.output import UnknownIdError
from publish_knowledge.publishing import known_names
from publish_knowledge.store import marker
from publish_knowledge.store.scope_tables import open_scope

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store
    from publish_knowledge.store.records import ItemHead
    from publish_knowledge.store.scope_tables import ScopeTables

DEADLINE_SECONDS: Final = 15.0
"""Time for finding the reason of a failure that is already known."""


@dataclass(frozen=True, slots=True)
class Addressed:
    """What a command asked for; an id is "" where it named none."""

    scopes: tuple[Scope, ...]
    base_id: str = ""
    item_id: str = ""
    revision_id: str = ""


async def explain_failure(store: Store, error: KnowledgeError, addressed: Addressed) -> KnowledgeError:
    """The same failure with its reason; the failure itself where no reason is found in time."""
    unavailable = isinstance(error, StorageUnavailableError | DatasetMismatchError)
    if isinstance(error.__cause__, EmbeddingUnavailableError) or not (
        unavailable or isinstance(error, ResourceUnavailableError)
    ):
        return error
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            await marker.require_dataset(store)
            return error if unavailable else UnknownIdError(await _explain_resource(store, addressed))
    except KnowledgeError as reason:
        return UnknownIdError(reason.message) if isinstance(reason, InvalidRequestError) else reason
    except TimeoutError:
        return _explain_timeout(store.uri) if unavailable else error


async def list_unknown_scopes(store: Store, scopes: Sequence[Scope]) -> list[str]:
    """A sentence on each owner and team to which nothing was ever published.

    Raises `UnknownIdError` where that is all of them.
    """
    unknown = await known_names.find_unknown_scopes(store, scopes)
    sentences = [await known_names.explain_unknown_scope(store, scope) for scope in unknown]
    if len(unknown) == len(scopes):
        raise UnknownIdError(" ".join(sentences))
    return sentences


async def _explain_resource(store: Store, addressed: Addressed) -> str:
    await list_unknown_scopes(store, addressed.scopes)
    scopes = [(scope, await open_scope(store, scope)) for scope in addressed.scopes]
    tables = [each for _, each in scopes if each is not None]
    if addressed.item_id:
        heads = [(each, head) for each in tables if (head := await each.find_head(addressed.item_id))]
        for each, head in heads:
            return await _explain_item(each, head, addressed)
        names = " or ".join(scope.name for scope in addressed.scopes)
        return f"There is no item {addressed.item_id!r} of {names}. `knowledge list` shows the items there are."
    await known_names.require_known_base(store, addressed.scopes, addressed.base_id)
    archived = [each.scope.name for each in tables if await each.is_base_archived(addressed.base_id)]
    state = f"is archived in {', '.join(archived)}" if archived else "has no published item"
    return f"The base {addressed.base_id!r} {state}. `knowledge list` shows the states."


async def _explain_item(tables: ScopeTables, head: ItemHead, addressed: Addressed) -> str:
    if addressed.base_id not in {"", head.base_id}:
        return f"The item {head.item_id} is in the base {head.base_id!r}, not in {addressed.base_id!r}."
    if await tables.is_base_archived(head.base_id):
        return f"The base {head.base_id!r} of {tables.scope.name} is archived. `knowledge restore` brings it back."
    if head.state == ARCHIVED:
        return f"The item {head.item_id} is archived. `knowledge restore` brings it back."
    if head.state != PUBLISHED:
        return f"The item {head.item_id} is a draft. Publish it without --draft to make it readable."
    return (
        f"The item {head.item_id} has no published revision {addressed.revision_id!r}. "
        "`knowledge history` shows its revisions."
    )


def _explain_timeout(uri: str) -> KnowledgeError:
    return StorageUnavailableError(
        f"The dataset at {uri} cannot be reached. Check the address, the credentials and the network, then run the "
        "same command again."
    )
