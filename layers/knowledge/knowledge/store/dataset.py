"""Read access to a dataset: a snapshot of each of a caller's scopes, from one version of its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knowledge.store.concurrency import gather_all, gather_pair
from knowledge.store.faults import StaleVersionError
from knowledge.store.scope_cache import LoadAllowance, ScopeCache
from knowledge.store.snapshot import TableSnapshot
from knowledge.store.table_handles import TableHandles

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from typing import TypeVar

    from knowledge.scopes import Scope
    from knowledge.store.snapshot import Snapshot

    T = TypeVar("T")


class Dataset:
    """One dataset at one URI, read only, for one embedding model. Opens nothing before the first call."""

    def __init__(
        self, uri: str, *, model: str, dimensions: int, storage_options: Mapping[str, str] | None = None
    ) -> None:
        self._tables = TableHandles(uri, model, dimensions, storage_options)
        self._cache = ScopeCache()
        self._marker_checked = False

    async def open(self) -> None:
        """Connect and check the marker once. Raises `StorageUnavailableError` or `DatasetMismatchError`."""
        if not self._marker_checked:
            await self._tables.check_marker()
            self._marker_checked = True

    async def close(self) -> None:
        """Drop the connection, all handles and what is cached; `open()` works again afterwards."""
        self._tables.close()
        self._cache.clear()
        self._marker_checked = False

    async def run(
        self, scopes: Sequence[Scope], work: Callable[[list[Snapshot]], Awaitable[T]], *, searching: bool = False
    ) -> T:
        """Do work on a snapshot of each scope that has tables; again, once, if a version was removed meanwhile.

        With `searching`, small scopes are loaded into memory before the work begins.
        """
        try:
            return await work(await self._snapshots(scopes, searching=searching))
        except StaleVersionError:
            self._tables.clear()
            self._cache.clear()
        return await work(await self._snapshots(scopes, searching=searching))

    async def snapshot(self, scope: Scope) -> Snapshot | None:
        """The scope as it is now; `None` where the dataset has no tables for it."""
        return next(iter(await self._snapshots([scope], searching=False)), None)

    async def _snapshots(self, scopes: Sequence[Scope], *, searching: bool) -> list[Snapshot]:
        # One connection before everything that runs in parallel: two would not share what they load.
        await self._tables.connect()
        # The marker is checked in parallel: what the tables return is not used if it turns out to be wrong.
        self._cache.touch(scopes)
        allowance = LoadAllowance() if searching else None
        opening = gather_all(self._open_snapshot(scope, allowance) for scope in scopes)
        _, found = await gather_pair(self.open(), opening)
        return [snapshot for snapshot in found if snapshot is not None]

    async def _open_snapshot(self, scope: Scope, allowance: LoadAllowance | None) -> Snapshot | None:
        table = await self._tables.open_current(scope, searching=allowance is not None)
        if table is None:
            return None
        snapshot = TableSnapshot(scope, table, self._tables)
        return await (self._cache.find(snapshot) if allowance is None else self._cache.load(snapshot, allowance))
