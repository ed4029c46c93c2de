"""Purges of scopes: recorded in the dataset marker, where they outlive the tables, and seen there by every writer.

A purge writes a row before it drops the tables of a scope, and another when it has looked again. A writer notes the
rows at its start and reads them again before and after each write. A write that began before a purge may land after it,
because the storage library creates a table's files again: the writer that finds a new row after its write removes
everything again. One that is killed before it can leaves tables whose metadata name an earlier purge than the marker.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from knowledge.errors import StorageUnavailableError
from knowledge.scopes import Scope
from knowledge.store.schema import MARKER_TABLE, read_metadata

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store, Table

META_PURGE: Final = "knowledge.purge"
"""Entry in the schema metadata of a table: the number of the last purge before it was created. None stands for 0."""

ROUNDS: Final = 5
"""Attempts to drop the tables: after each, a write that was on its way may have created one again."""

SECOND_LOOK: Final = 0.3
"""Seconds between dropping the tables and looking again: most writes that were on their way land within them."""

WAIT: Final = 5.0
POLL: Final = 0.2
"""Seconds that a writer waits for a purge to end, and between two looks: a purge takes one or two."""

MAX_FRAGMENTS: Final = 10
"""Fragments of the marker before it is compacted; every row written is one."""

OBJECTS_PREFIX: Final = "objects_"
"""How the name of the table begins that says from which objects of buckets items were published."""

_PREFIXES: Final = ("current_", "revisions_", OBJECTS_PREFIX)
_BEGUN: Final = "begun"
_DONE: Final = "done"
_ROW: Final = re.compile(f"([0-9a-f]+) ([0-9]+:[0-9a-f]+) ({_BEGUN}|{_DONE})")
_KEYS: Final = pa.schema([pa.field("key", pa.string())])


class PurgedError(StorageUnavailableError):
    """The scope was purged while it was being written to."""


@dataclass(frozen=True, slots=True)
class PurgeRecord:
    """The purges of one scope, by ids `NUMBER:TOKEN`."""

    begun: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()

    @property
    def number(self) -> int:
        """Number of the latest purge; 0 where there was none."""
        return max((int(one.partition(":")[0]) for one in self.begun), default=0)

    @property
    def unfinished(self) -> frozenset[str]:
        """Purges that are running, or were interrupted."""
        return self.begun - self.done


def find_digest(name: str) -> str:
    """The digest of a scope in the name of one of its tables, "" in any other name."""
    return next((name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix)), "")


def digest_of(scope: Scope) -> str:
    """The digest by which a scope's tables are named; it does not reveal whose they are."""
    return find_digest(scope.current_table)


async def read_records(store: Store) -> dict[str, PurgeRecord]:
    """Read the purges of all scopes, by digest."""
    marker = await store.open_table(MARKER_TABLE)
    return _parse_records(await marker.read_column("key")) if marker else {}


async def read_record(store: Store, digest: str) -> PurgeRecord:
    """Read the purges of one scope."""
    return (await read_records(store)).get(digest, PurgeRecord())


def _parse_records(keys: Iterable[str]) -> dict[str, PurgeRecord]:
    found: dict[str, dict[str, set[str]]] = {}
    for row in filter(None, map(_ROW.fullmatch, keys)):
        digest, one, event = row.groups()
        found.setdefault(digest, {_BEGUN: set(), _DONE: set()})[event].add(one)
    return {digest: PurgeRecord(frozenset(one[_BEGUN]), frozenset(one[_DONE])) for digest, one in found.items()}


def is_leftover(schema: pa.Schema, record: PurgeRecord) -> bool:
    """Whether a table was created before the latest purge, so that nothing in it may stay."""
    return int(read_metadata(schema).get(META_PURGE, "0")) < record.number


def label_schema(schema: pa.Schema, record: PurgeRecord) -> pa.Schema:
    """Add the number of the latest purge, if there was one, to the metadata of a table to be created."""
    if not record.number:
        return schema
    return schema.with_metadata({**(schema.metadata or {}), META_PURGE.encode(): str(record.number).encode()})


async def purge_tables(store: Store, digest: str) -> bool:
    """Remove the tables of a scope with all their files; return whether there were any.

    Ends purges that were interrupted. Raises `StorageUnavailableError` where writes keep coming.
    """
    marker = await store.open_table(MARKER_TABLE)
    if marker is None:
        return await _drop_until_gone(store, digest, None)
    before = await read_record(store, digest)
    own = f"{before.number + 1}:{uuid.uuid4().hex}"
    await marker.insert_missing(_build_row(digest, own, _BEGUN))
    found = await _drop_until_gone(store, digest, own)
    await marker.insert_missing(_build_row(digest, own, _DONE))
    await _forget(marker, digest, before)
    return found


async def _drop_until_gone(store: Store, digest: str, own: str | None) -> bool:
    names = tuple(prefix + digest for prefix in _PREFIXES)
    found = False
    for _ in range(ROUNDS):
        if own is not None and own not in (await read_record(store, digest)).begun:
            # A later purge has done all this, and what is there now may have been published since.
            return True
        present = {*names} & {*await store.list_tables()}
        if found and not present:
            return True
        with suppress(StorageUnavailableError):
            # Removing a folder fails where a file is created in it meanwhile: the next round finds it.
            for name in names:
                await store.drop_table(name)
        if not present and not found:
            return False
        found = True
        await asyncio.sleep(SECOND_LOOK)
    msg = "Something keeps writing to this owner or team. Stop its publishers, then run the same command again."
    raise StorageUnavailableError(msg)


def _build_row(digest: str, one: str, event: str) -> pa.Table:
    return pa.table({"key": [f"{digest} {one} {event}"]}, schema=_KEYS)


async def _forget(marker: Table, digest: str, before: PurgeRecord) -> None:
    """Remove the rows of earlier purges, which the latest one replaces, so that a scope has two rows at most."""
    if before.begun:
        await marker.delete({"key": [f"{digest} {one} {event}" for one in before.begun for event in (_BEGUN, _DONE)]})
    if (await marker.read_health()).fragments > MAX_FRAGMENTS:
        await marker.optimize()


class PurgeGuard:
    """Keeps one writer from writing into a scope that was purged since the writer opened it."""

    def __init__(self, store: Store, scope: Scope, record: PurgeRecord) -> None:
        self.record = record
        self._store = store
        self.scope = scope
        self._marker: Table | None = None
        self._version = 0

    async def check(self) -> None:
        """Raise `PurgedError` if the scope was purged. Costs one request while nothing in the dataset is purged."""
        if await self._is_purged():
            raise PurgedError(
                f"{self.scope.name} was purged meanwhile, and everything published to it before with it. "
                "To publish it again, run the same command."
            )

    async def check_after_write(self) -> None:
        """Raise `PurgedError` if the scope was purged, after removing what the write may have left."""
        if await self._is_purged():
            await purge_tables(self._store, digest_of(self.scope))
            await self.check()

    async def _is_purged(self) -> bool:
        if self._marker is None:
            self._marker = await self._store.open_table(MARKER_TABLE)
        if self._marker is None:
            return False
        version = await self._marker.version()
        if version == self._version:
            return False
        record = _parse_records(await self._marker.read_column("key")).get(digest_of(self.scope), PurgeRecord())
        if record.begun - self.record.begun:
            return True
        self._version = version
        return False


async def wait_for_purge(store: Store, scope: Scope) -> PurgeGuard:
    """Guard the writes of a command that starts now. Raises `StorageUnavailableError` for a purge that does not end."""
    record = await read_record(store, digest_of(scope))
    for _ in range(round(WAIT / POLL)):
        if not record.unfinished:
            return PurgeGuard(store, scope, record)
        await asyncio.sleep(POLL)
        record = await read_record(store, digest_of(scope))
    msg = (
        f"{scope.name} is being purged, or a purge of it was interrupted. Run `knowledge purge` for it again, "
        "then the same command."
    )
    raise StorageUnavailableError(msg)
