"""Read access to a dataset.

A `Dataset` opens nothing until it is asked. Table handles never follow new versions by themselves, so a handle *is* a
snapshot; after `REFRESH_SECONDS` the next call gets a new one, and calls under way keep theirs.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from knowledge.errors import DatasetMismatchError, StorageUnavailableError
from knowledge.store.concurrency import gather_all, gather_pair
from knowledge.store.faults import MissingTableError, StaleVersionError, storage_faults
from knowledge.store.lance import connect
from knowledge.store.schema import MARKER_TABLE, META_DIMENSIONS, META_MODEL, META_SCHEMA, META_SCOPE, SCHEMA_VERSION
from knowledge.store.scope_cache import Shelf, most_held
from knowledge.store.snapshot import Snapshot, Tables

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from typing import TypeVar

    import pyarrow as pa

    from knowledge.scopes import Scope
    from knowledge.store.lance import AsyncTable, Connection

    T = TypeVar("T")

REFRESH_SECONDS: Final = 3.0
"""Age at which a handle is opened anew: with the time of a call well below the 5 s promised for a publish."""

MAX_TABLES: Final = 256
"""Handles kept: both tables of the most scopes one call may span, twice over."""


def normalized_uri(uri: str) -> str:
    """A URI as it stands, a path made absolute: LanceDB takes a relative path that begins with "db" for its cloud."""
    return uri if "://" in uri else str(Path(uri).expanduser().absolute())


def _exists(uri: str) -> bool:
    # Connecting would create a missing folder: a mistyped path must stay an error.
    return "://" in uri or Path(uri).is_dir()


@dataclass(frozen=True, slots=True)
class _Opened:
    table: AsyncTable | None
    at: float
    known: dict[str, Any]
    loader: AsyncTable | None = None


class Dataset:
    """One dataset at one URI, read only, for one embedding model."""

    def __init__(
        self, uri: str, *, model: str, dimensions: int, storage_options: Mapping[str, str] | None = None
    ) -> None:
        self._uri = normalized_uri(uri)
        self._expected = {META_SCHEMA: SCHEMA_VERSION, META_MODEL: model, META_DIMENSIONS: str(dimensions)}
        self._options = dict(storage_options or {}) if "://" in self._uri else {}
        self._connection: Connection | None = None
        self._marked = False
        self._tables: OrderedDict[str, _Opened] = OrderedDict()
        self._shelf = Shelf()

    async def open(self) -> None:
        """Connect and check the marker once. Raises `StorageUnavailableError` or `DatasetMismatchError`."""
        if not self._marked:
            await self._check_marker()
            self._marked = True

    async def close(self) -> None:
        """Let go of the connection and all handles; `open()` works again afterwards."""
        self._tables.clear()
        self._shelf.clear()
        self._marked = False
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def run(
        self, scopes: Sequence[Scope], work: Callable[[list[Snapshot]], Awaitable[T]], *, searching: bool = False
    ) -> T:
        """Do work on a snapshot of each scope that has tables; once more if a version was cleaned away meanwhile.

        `searching` tells that the work will need indexes, so that they can be on their way as early as may be.
        """
        try:
            return await work(await self._snapshots(scopes, searching=searching))
        except StaleVersionError:
            self._tables.clear()
            self._shelf.clear()
        return await work(await self._snapshots(scopes, searching=searching))

    async def snapshot(self, scope: Scope) -> Snapshot | None:
        """The scope as it is now; `None` where the dataset has no tables for it."""
        return next(iter(await self._snapshots([scope], searching=False)), None)

    async def _snapshots(self, scopes: Sequence[Scope], *, searching: bool) -> list[Snapshot]:
        # Before all that runs side by side: what two connections load, they do not share.
        await self._connected()
        # The marker is looked at beside the tables: nothing that they say is used if it is not as it should be.
        most = most_held(len(scopes))
        opening = gather_all(self._snapshot(scope, most, searching=searching) for scope in scopes)
        _, found = await gather_pair(self.open(), opening)
        return [snapshot for snapshot in found if snapshot is not None]

    async def _snapshot(self, scope: Scope, most: int, *, searching: bool) -> Snapshot | None:
        opened = await self._opened(scope, scope.current_table, searching=searching)
        if opened.table is None:
            return None

        async def loader() -> AsyncTable:
            return opened.loader or await self._open_loader(scope.current_table)

        tables = Tables(opened.table, self._revisions_opener(scope), opened.known, loader, self._shelf, most)
        return Snapshot(scope, tables)

    def _revisions_opener(self, scope: Scope) -> Callable[[bool], Awaitable[AsyncTable | None]]:
        async def opener(fresh: bool) -> AsyncTable | None:  # noqa: FBT001 - a callback with one meaning
            if fresh:
                self._tables.pop(scope.revisions_table, None)
            return (await self._opened(scope, scope.revisions_table, searching=False)).table

        return opener

    async def _opened(self, scope: Scope, name: str, *, searching: bool) -> _Opened:
        opened = self._tables.get(name)
        if opened is None or time.monotonic() - opened.at > REFRESH_SECONDS:
            opened = await self._open(scope, name, with_loader=searching and opened is None)
            self._tables[name] = opened
        self._tables.move_to_end(name)
        while len(self._tables) > MAX_TABLES:
            self._tables.popitem(last=False)
        return opened

    async def _open(self, scope: Scope, name: str, *, with_loader: bool) -> _Opened:
        at = time.monotonic()
        if not with_loader:
            return _Opened(await self._open_table(scope, name), at, {})
        table, loader = await gather_pair(self._open_table(scope, name), self._open_loader_if_there(name))
        return _Opened(table, at, {}, loader)

    async def _open_table(self, scope: Scope, name: str) -> AsyncTable | None:
        try:
            with storage_faults():
                table = await (await self._connected()).open_table(name)
                schema = await table.schema()
        except MissingTableError:
            # An emptied or moved store has no tables either, and must not pass for a scope without knowledge.
            await self._check_marker()
            return None
        self._check(schema, scope)
        return table

    async def _open_loader_if_there(self, name: str) -> AsyncTable | None:
        try:
            return await self._open_loader(name)
        except MissingTableError:
            return None

    async def _open_loader(self, name: str) -> AsyncTable:
        with storage_faults():
            return await (await self._connected()).open_table(name, whole_files=True)

    async def _connected(self) -> Connection:
        if self._connection is None:
            if not _exists(self._uri):
                raise StorageUnavailableError
            with storage_faults():
                self._connection = await connect(self._uri, self._options)
        return self._connection

    async def _check_marker(self) -> None:
        try:
            with storage_faults():
                schema = await (await (await self._connected()).open_table(MARKER_TABLE)).schema()
        except MissingTableError as error:
            raise StorageUnavailableError from error
        self._check(schema, None)

    def _check(self, schema: pa.Schema, scope: Scope | None) -> None:
        metadata = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
        for name, expected in self._expected.items():
            if metadata.get(name) != expected:
                msg = (
                    f"The dataset says {name} = {metadata.get(name)!r}, this function expects {expected!r}. "
                    "Publish the dataset again with this embedding, or set EMBEDDING to the dataset's."
                )
                raise DatasetMismatchError(msg)
        if scope is not None and metadata.get(META_SCOPE) != scope.name:
            raise StorageUnavailableError
