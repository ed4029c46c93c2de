"""Check that the rows of a scope agree, and reconcile the passages of `current` with its heads and bases.

A base is archived and restored beside publishers, and its row and theirs share no key, so that neither sees the other's
commit. Each therefore reads again after its own commit and reconciles the base: it corrects what is wrong at one
version, until it reads a version where nothing is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from knowledge.errors import StorageUnavailableError
from knowledge.store.revision import is_readable
from knowledge.store.schema import PASSAGE
from publish_knowledge.publishing.terms import write_passages
from publish_knowledge.store.commits import split_into_commits
from publish_knowledge.store.records import ItemHead, Range, RevisionKey, StoredRevision, is_tiled
from publish_knowledge.store.scope_tables import Address, Ranges, ScopeTables, address_of

ROUNDS: Final = 10
"""Attempts before reconciling is given up; each further one means that another writer changed the same base."""


@dataclass(frozen=True, slots=True)
class CurrentRows:
    """Heads, archived bases and passage ranges of `current`, at one version."""

    heads: Mapping[str, ItemHead]
    archived_bases: frozenset[str]
    ranges: Mapping[RevisionKey, list[Range]]

    @property
    def readable(self) -> dict[RevisionKey, ItemHead]:
        """Current revisions of readable items: whose passages `current` must have."""
        heads = self.heads.values()
        return {head.key: head for head in heads if is_readable(head.state, head.base_id, self.archived_bases)}

    @property
    def orphan_passages(self) -> list[RevisionKey]:
        """Revisions whose passages are in `current` although no reader may see them."""
        return sorted(self.ranges.keys() - self.readable.keys())

    @property
    def incomplete(self) -> list[ItemHead]:
        """Readable items whose passages do not tile their text, by item."""
        return _find_incomplete(self.readable, self.ranges)


@dataclass(frozen=True, slots=True)
class ScopeSurvey:
    """All rows of a scope, without their texts: `current` at one version, then the archive."""

    scope: str
    current: CurrentRows
    history: Mapping[RevisionKey, ItemHead]
    archive: Ranges

    @property
    def archive_gaps(self) -> list[ItemHead]:
        """Published revisions whose passages in the archive do not tile their text."""
        return _find_incomplete({**self.history, **self.current.readable}, self.archive)

    @property
    def lost(self) -> list[ItemHead]:
        """Readable items whose text is complete neither in `current` nor in the archive."""
        gaps = {head.key for head in self.archive_gaps}
        return [head for head in self.current.incomplete if head.key in gaps]

    @property
    def items_without_head(self) -> list[str]:
        """Items that have a history but no head."""
        return sorted({item for item, _ in self.history} - self.current.heads.keys())

    @property
    def unfinished_items(self) -> list[str]:
        """Items of which only the archive knows: publishing them was interrupted."""
        return sorted({item for item, _ in self.archive} - self.current.heads.keys() - set(self.items_without_head))


def _find_incomplete(
    expected: Mapping[RevisionKey, ItemHead], ranges: Mapping[RevisionKey, list[Range]]
) -> list[ItemHead]:
    return [head for key, head in sorted(expected.items(), key=lambda one: one[0]) if not _is_complete(head, ranges)]


def _is_complete(head: ItemHead, ranges: Mapping[RevisionKey, list[Range]]) -> bool:
    return is_tiled(ranges.get(head.key, []), head.info.total_chars)


async def read_current_rows(
    tables: ScopeTables, base_id: str | None = None, at: int | None = None, *, as_active: bool = False
) -> CurrentRows:
    """Read one base or the whole scope at one version; `as_active` treats archived bases as active."""
    at = await tables.current.version() if at is None else at
    archived = frozenset[str]() if as_active else await tables.list_archived_bases(at)
    heads = {head.item_id: head for head in await tables.list_heads(base_id, at)}
    return CurrentRows(heads, archived, await tables.read_current_ranges(base_id, at))


async def survey_scope(tables: ScopeTables) -> ScopeSurvey:
    """Read all rows of a scope."""
    at = await tables.current.version()
    history = {row.key: row for row in await tables.list_history(None, at)}
    return ScopeSurvey(
        tables.scope.name, await read_current_rows(tables, at=at), history, await tables.read_archive_ranges()
    )


async def reconcile(tables: ScopeTables, base_id: str | None = None, *, as_active: bool = False) -> bool:
    """Correct the passages of `current` in one base or the scope; return whether anything was wrong."""
    for turn in range(ROUNDS):
        found = await read_current_rows(tables, base_id, as_active=as_active)
        if not found.orphan_passages and not found.incomplete:
            return turn > 0
        await remove_passages(tables, found.orphan_passages)
        await fill_passages(tables, found.incomplete)
    msg = f"Other writers kept changing {tables.scope.name} meanwhile. Run the same command again when they are done."
    raise StorageUnavailableError(msg)


async def remove_passages(tables: ScopeTables, keys: Iterable[RevisionKey]) -> None:
    """Remove the passages of revisions from `current`."""
    revisions = sorted({revision for _, revision in keys})
    if revisions:
        await tables.current.delete({"kind": PASSAGE, "revision_id": revisions})


async def fill_passages(tables: ScopeTables, heads: Iterable[ItemHead]) -> None:
    """Write the passages of current revisions into `current`, from the archive and without a model."""
    for batch in split_into_commits(heads, lambda head: head.info.total_chars):
        stored = await load_revisions(tables, [address_of(head) for head in batch])
        await write_passages(tables, stored)


async def load_revisions(tables: ScopeTables, addresses: Iterable[Address]) -> list[StoredRevision]:
    """Load revisions from the archive. Raises `StorageUnavailableError` where one is not there in full."""
    wanted = list(addresses)
    stored = await tables.read_revisions(wanted)
    for address in wanted:
        revision = stored.get(address.revision_id)
        if revision is None or not revision.is_complete:
            msg = (
                f"The text of revision {address.revision_id} of {address.item_id} is not stored in full. "
                "Publish its source again, or run `knowledge doctor` to see what else is missing."
            )
            raise StorageUnavailableError(msg)
    return [stored[address.revision_id] for address in wanted]
