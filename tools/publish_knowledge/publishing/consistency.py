"""Making the passages of `current` agree with its head and base rows.

A base is archived and restored beside publishers, and its row and theirs share no key, so that neither sees the other's
commit. Each therefore looks again after its own commit and settles the base: what it finds wrong at one version it puts
right, until a version is found where nothing is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from knowledge.errors import StorageUnavailableError
from knowledge.store.schema import PASSAGE, PUBLISHED
from publish_knowledge.publishing.plan import ItemHead
from publish_knowledge.store.arrow_rows import StoredRevision, current_passages, tiles
from publish_knowledge.store.scope_tables import Address, ScopeTables, address_of

ROUNDS: Final = 10
"""Looks before it is given up: each means that another writer changed the same base meanwhile."""

COMMIT_CHARS: Final = 1_000_000
"""Text of one commit when many items are written: about 2,500 passages, half a second."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What is wrong at one version: passages nobody may see, and items that lack theirs."""

    strays: tuple[tuple[str, str], ...]
    """(item, revision) of passages that are not of the current revision of a published item in an active base."""
    missing: tuple[ItemHead, ...]
    """Published items of active bases whose passages do not tile their text."""

    def __bool__(self) -> bool:
        return bool(self.strays or self.missing)


async def disagreement(tables: ScopeTables, base_id: str | None = None, *, as_active: bool = False) -> Disagreement:
    """Compare passages with heads and bases at one version; `as_active` takes the base as if it were not archived."""
    at = await tables.current.version()
    archived = frozenset[str]() if as_active else await tables.archived_bases(at)
    heads = [head for head in await tables.heads_in(base_id, at) if head.state == PUBLISHED]
    seen = {(head.item_id, head.revision_id): head for head in heads if head.base_id not in archived}
    found = await tables.current_ranges(base_id, at)
    strays = tuple(sorted(key for key in found if key not in seen))
    missing = tuple(head for key, head in seen.items() if not tiles(found.get(key, []), head.total_chars))
    return Disagreement(strays, missing)


async def settle(tables: ScopeTables, base_id: str | None = None, *, as_active: bool = False) -> bool:
    """Put right what disagrees, in one base or the scope; true if anything did."""
    for turn in range(ROUNDS):
        wrong = await disagreement(tables, base_id, as_active=as_active)
        if not wrong:
            return turn > 0
        await remove(tables, wrong.strays)
        await fill(tables, wrong.missing)
    msg = f"Other writers kept changing {tables.scope.name} meanwhile. Run the same command again when they are done."
    raise StorageUnavailableError(msg)


async def remove(tables: ScopeTables, strays: Iterable[tuple[str, str]]) -> None:
    """Take passages of these revisions out of `current`."""
    revisions = sorted({revision for _, revision in strays})
    if revisions:
        await tables.current.delete({"kind": PASSAGE, "revision_id": revisions})


async def fill(tables: ScopeTables, heads: Iterable[ItemHead]) -> None:
    """Put the passages of current revisions into `current`, from the archive and without a model."""
    for batch in _batches(heads):
        stored = await whole_revisions(tables, [address_of(head) for head in batch])
        await tables.current.merge(passages_of(tables, stored))


async def whole_revisions(tables: ScopeTables, addresses: Iterable[Address]) -> list[StoredRevision]:
    """These revisions from the archive. Raises `StorageUnavailableError` where one is not there in full."""
    wanted = list(addresses)
    stored = await tables.stored(wanted)
    for address in wanted:
        revision = stored.get(address.revision_id)
        if revision is None or not revision.complete:
            msg = (
                f"The text of revision {address.revision_id} of {address.item_id} is not stored in full. "
                "Publish its source again, or run `knowledge doctor` to see what else is missing."
            )
            raise StorageUnavailableError(msg)
    return [stored[address.revision_id] for address in wanted]


def passages_of(tables: ScopeTables, revisions: Iterable[StoredRevision]) -> pa.Table:
    """Passage rows of `current` for several revisions."""
    schema = tables.current_schema
    rows = [current_passages(tables.scope, schema, revision) for revision in revisions]
    return pa.concat_tables([schema.empty_table(), *rows])


def _batches(heads: Iterable[ItemHead]) -> Iterator[list[ItemHead]]:
    batch: list[ItemHead] = []
    for head in heads:
        if batch and sum(each.total_chars for each in batch) + head.total_chars > COMMIT_CHARS:
            yield batch
            batch = []
        batch.append(head)
    if batch:
        yield batch
