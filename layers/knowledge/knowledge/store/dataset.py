"""Read access to a dataset: a snapshot of each of a caller's scopes, from one version of its tables."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from knowledge.embedding.base import QueryEmbeddingError
from knowledge.errors import ResourceUnavailableError
from knowledge.store.concurrency import gather_all, gather_pair
from knowledge.store.faults import StaleVersionError
from knowledge.store.scope_cache import LoadAllowance, ScopeCache
from knowledge.store.snapshot import TableSnapshot
from knowledge.store.table_handles import TableHandles

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from knowledge.scopes import Scope
    from knowledge.store.snapshot import Snapshot

    T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Resources:
    """What a fault may leave in an unusable state, and is therefore replaced as a whole."""

    tables: TableHandles
    cache: ScopeCache


class Dataset:
    """One dataset at one URI, read only, for one embedding model. Opens nothing before the first call.

    After a fault of the store, or a call that was cancelled at its deadline, the next call uses a new connection with
    a new session: what the library's caches share may then wait for ever for a load that has ended, or keep a damaged
    answer. Calls in progress finish with the resources that they began with.
    """

    def __init__(
        self, uri: str, *, model: str, dimensions: int, storage_options: Mapping[str, str] | None = None
    ) -> None:
        self._new_tables = partial(TableHandles, uri, model, dimensions, storage_options)
        self._resources = self._new_resources()
        self._marker_checked = False

    async def open(self) -> None:
        """Connect and check the marker once. Raises `StorageUnavailableError` or `DatasetMismatchError`."""
        resources = self._resources
        with self._replacing(resources):
            await self._check_marker(resources)

    async def close(self) -> None:
        """Drop the connection, all handles and what is cached; `open()` works again afterwards."""
        self._resources.tables.close()
        self._resources = self._new_resources()
        self._marker_checked = False

    async def run(
        self, scopes: Sequence[Scope], work: Callable[[list[Snapshot]], Awaitable[T]], *, searching: bool = False
    ) -> T:
        """Do work on a snapshot of each scope that has tables; again, once, if a version was removed meanwhile.

        With `searching`, small scopes are loaded into memory before the work begins.
        """
        with suppress(StaleVersionError):
            return await self._run_once(scopes, work, searching=searching)
        return await self._run_once(scopes, work, searching=searching)

    async def snapshot(self, scope: Scope) -> Snapshot | None:
        """The scope as it is now; `None` where the dataset has no tables for it."""

        async def first(found: list[Snapshot]) -> Snapshot | None:
            return next(iter(found), None)

        return await self.run([scope], first)

    async def _run_once(
        self, scopes: Sequence[Scope], work: Callable[[list[Snapshot]], Awaitable[T]], *, searching: bool
    ) -> T:
        resources = self._resources
        with self._replacing(resources):
            return await work(await self._open_snapshots(resources, scopes, searching=searching))

    async def _open_snapshots(
        self, resources: _Resources, scopes: Sequence[Scope], *, searching: bool
    ) -> list[Snapshot]:
        # One connection before everything that runs in parallel: two would not share what they load.
        await resources.tables.connect()
        resources.cache.touch(scopes)
        allowance = LoadAllowance() if searching else None
        opening = gather_all(_open_snapshot(resources, scope, allowance) for scope in scopes)
        # On disk in parallel: what the tables return is not used if the marker turns out to be wrong.
        _, found = await gather_pair(self._check_marker(resources), opening)
        return [snapshot for snapshot in found if snapshot is not None]

    async def _check_marker(self, resources: _Resources) -> None:
        if not self._marker_checked:
            await resources.tables.find_marker()
            self._marker_checked = True

    @contextmanager
    def _replacing(self, used: _Resources) -> Iterator[None]:
        """Replace the resources if a block ends with a fault, unless another call has done so."""
        try:
            yield
        except BaseException as error:
            if self._resources is used and _concerns_store(error):
                # Not closed: calls in progress may need the connection; the last one to end frees it.
                self._resources = self._new_resources()
            raise
        if self._resources is used and used.tables.had_fault:
            self._resources = self._new_resources()

    def _new_resources(self) -> _Resources:
        return _Resources(self._new_tables(), ScopeCache())


def _concerns_store(error: BaseException) -> bool:
    """Whether an error may have left resources unusable: a fault or damage, a cancellation, a panic of the library."""
    return not isinstance(error, (ResourceUnavailableError, QueryEmbeddingError))


async def _open_snapshot(resources: _Resources, scope: Scope, allowance: LoadAllowance | None) -> Snapshot | None:
    table = await resources.tables.open_current(scope, searching=allowance is not None)
    if table is None:
        return None
    snapshot, cache = TableSnapshot(scope, table, resources.tables), resources.cache
    return await (cache.find(snapshot) if allowance is None else cache.load(snapshot, allowance))
