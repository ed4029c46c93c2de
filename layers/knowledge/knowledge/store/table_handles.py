"""Handles of a dataset's tables, each checked to belong to the dataset and to its scope.

A handle never follows new versions by itself, so a handle *is* a snapshot. After `REFRESH_SECONDS` the next call asks
whether there is a later version, and opens a new handle if so; calls in progress keep theirs.

The question is one HEAD for each table and one for the marker, whose versions tell of scopes that were created or
purged: a table that is dropped and created again starts at its first version. After `LIST_SECONDS` all is opened again.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from cachetools import LRUCache

from knowledge.errors import DatasetMismatchError, StorageUnavailableError
from knowledge.store.concurrency import ByteLimiter, gather_pair
from knowledge.store.faults import MissingTableError, storage_faults
from knowledge.store.lance import connect, find_probed_version
from knowledge.store.options import can_connect, is_local, normalize_uri
from knowledge.store.schema import (
    ANALYZER_VERSION,
    MARKER_TABLE,
    META_SCOPE,
    find_mismatch,
    format_analyzer_versions,
    knows_analyzers,
    read_analyzer_versions,
    read_metadata,
)
from knowledge.store.version_probe import VersionProbe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from knowledge.scopes import Scope
    from knowledge.store.lance import AsyncTable, Connection
    from knowledge.store.revision import ScopeHeads

REFRESH_SECONDS: Final = 3.0
"""Age at which a handle is replaced: with the time of a call well below the 5 s promised for a publish."""

LIST_SECONDS: Final = 60.0
"""Age at which a handle is replaced without asking: bounds what a HEAD does not notice, such as a removed dataset."""

MAX_HANDLES: Final = 256
"""Handles kept: both tables of the most scopes that one call may span, twice over."""

VECTOR_BYTES: Final = 48 * 1024 * 1024
"""Vectors that searches in parallel may hold, of scopes that are not cached: as many as keep two processors busy."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A time by two clocks: one stands still in a process that sleeps, the other may be set."""

    monotonic: float
    wall: float

    @classmethod
    def now(cls) -> Moment:
        """The present."""
        return cls(time.monotonic(), time.time())

    def is_past(self, seconds: float) -> bool:
        """Whether more time has passed by either clock, or the clock was set back."""
        now = self.now()
        return now.monotonic - self.monotonic > seconds or not 0 <= now.wall - self.wall <= seconds


@dataclass(slots=True)
class VersionFacts:
    """Facts about one version of a `current` table, each read once: the handle stays at that version."""

    rows: int | None = None
    passages: int | None = None
    heads: ScopeHeads | None = None
    heads_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    indices: Sequence[Any] | None = None
    version: object | None = None
    addresses_loaded: bool = False


@dataclass(frozen=True, slots=True)
class OpenTable:
    """A handle with the facts about its version.

    `version` is its number, 0 if a later one cannot be asked for. `loader` is a handle for loading indexes, if one was
    opened beside. `analyzer_versions` are those of its terms.
    """

    handle: AsyncTable
    version: int = 0
    loader: AsyncTable | None = None
    analyzer_versions: tuple[int, ...] = ()
    facts: VersionFacts = field(default_factory=VersionFacts)


@dataclass(frozen=True, slots=True)
class _Opened:
    """The outcome of opening a table; `None` means that the dataset does not have it."""

    table: OpenTable | None
    opened: Moment
    marker: int
    """The marker's version before it was opened; 0 on disk, where nobody asks."""
    confirmed: float
    """Monotonic time at which this was known to be the latest version."""


@dataclass(frozen=True, slots=True)
class Marker:
    """The latest version of the dataset's marker, and when it was opened and last known to be the latest."""

    version: int
    opened: Moment
    confirmed: float


class TableHandles:
    """Opens the tables of one dataset for one embedding model, and keeps their handles for `REFRESH_SECONDS`."""

    def __init__(self, uri: str, model: str, dimensions: int, storage_options: Mapping[str, str] | None) -> None:
        self._uri = normalize_uri(uri)
        self._model = model
        self.dimensions = dimensions
        self._options = {} if is_local(self._uri) else dict(storage_options or {})
        self.vector_limiter = ByteLimiter(VECTOR_BYTES)
        self._connection: Connection | None = None
        self._probe = VersionProbe(self._uri, self._options)
        self._opened: LRUCache[str, _Opened] = LRUCache(MAX_HANDLES)
        self._marker: Marker | None = None
        self._marker_lock = asyncio.Lock()
        self.had_fault = False
        """Whether a fault was passed over, as that of loading an index ahead: the connection may be unusable."""

    async def connect(self) -> Connection:
        """Connect on first use. Raises `StorageUnavailableError`."""
        if self._connection is None:
            if not can_connect(self._uri):
                raise StorageUnavailableError
            with storage_faults():
                self._connection = await connect(self._uri, self._options)
        return self._connection

    def close(self) -> None:
        """Drop the handles and the connection."""
        self.clear()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def clear(self) -> None:
        """Drop all handles."""
        self._opened.clear()
        self._marker = None

    async def check_marker(self) -> Marker:
        """Open the marker.

        Raises `StorageUnavailableError` without one, `DatasetMismatchError` for another model or schema.
        """
        opened = Moment.now()
        try:
            with storage_faults():
                table = await (await self.connect()).open_table(MARKER_TABLE)
                schema = await table.schema()
                version = await table.version()
        except MissingTableError as error:
            raise StorageUnavailableError from error
        self._check_metadata(read_metadata(schema))
        self._marker = Marker(version, opened, opened.monotonic)
        return self._marker

    async def find_marker(self) -> Marker:
        """The marker's latest version, at most `REFRESH_SECONDS` old; raises as `check_marker`.

        One of the calls in progress asks for all of them.
        """
        async with self._marker_lock:
            marker, asked = self._marker, time.monotonic()
            if marker is not None and asked - marker.confirmed <= REFRESH_SECONDS:
                return marker
            if marker is None or not await self._is_latest_marker(marker):
                return await self.check_marker()
            self._marker = replace(marker, confirmed=asked)
            return self._marker

    async def open_current(self, scope: Scope, *, searching: bool) -> OpenTable | None:
        """The scope's `current` table; `None` where the dataset has none.

        If it is opened for the first time and for a search, the handle for loading indexes is opened beside it.
        """
        return await self._open(scope, scope.current_table, with_loader=searching)

    async def open_revisions(self, scope: Scope, *, fresh: bool) -> OpenTable | None:
        """The scope's `revisions` table; `fresh` replaces the handle whatever its age."""
        if fresh:
            self._opened.pop(scope.revisions_table, None)
        return await self._open(scope, scope.revisions_table, with_loader=False)

    async def open_loader(self, name: str) -> AsyncTable:
        """A handle for loading indexes. Raises `MissingTableError`."""
        with storage_faults():
            return await (await self.connect()).open_table(name, whole_files=True)

    async def _open(self, scope: Scope, name: str, *, with_loader: bool) -> OpenTable | None:
        known = self._opened.get(name)
        if known is None or time.monotonic() - known.confirmed > REFRESH_SECONDS:
            confirmed = await self._confirm(name, known) if known else None
            known = self._opened[name] = confirmed or await self._reopen(
                scope, name, with_loader=with_loader and known is None
            )
        return known.table

    async def _reopen(self, scope: Scope, name: str, *, with_loader: bool) -> _Opened:
        # Asked for first, so that what is created or purged after this version of the marker is not missed.
        marker = (await self.find_marker()).version if self._probe.is_possible else 0
        opened = Moment.now()
        table = await self._open_table(scope, name, with_loader=with_loader)
        return _Opened(table, opened, marker, opened.monotonic)

    async def _confirm(self, name: str, known: _Opened) -> _Opened | None:
        """The same handle, if its version is still the latest one; `None` if that is not certain."""
        if known.opened.is_past(LIST_SECONDS) or not self._probe.is_possible:
            return None
        asked = time.monotonic()
        marker, is_latest = await gather_pair(self.find_marker(), self._is_latest(name, known.table))
        if not is_latest or marker.version != known.marker:
            return None
        return replace(known, confirmed=min(asked, marker.confirmed))

    async def _is_latest(self, name: str, table: OpenTable | None) -> bool:
        # The marker tells of a table that is created.
        return table is None or (table.version > 0 and await self._probe.is_latest(name, table.version))

    async def _is_latest_marker(self, marker: Marker) -> bool:
        if marker.opened.is_past(LIST_SECONDS) or not self._probe.is_possible:
            return False
        return await self._probe.is_latest(MARKER_TABLE, marker.version)

    async def _open_table(self, scope: Scope, name: str, *, with_loader: bool) -> OpenTable | None:
        if not with_loader:
            handle, loader = await self._open_handle(scope, name), None
        else:
            handle, loader = await gather_pair(self._open_handle(scope, name), self._find_loader(name))
        return None if handle is None else replace(handle, loader=loader)

    async def _open_handle(self, scope: Scope, name: str) -> OpenTable | None:
        try:
            with storage_faults():
                table = await (await self.connect()).open_table(name)
                schema = await table.schema()
                version = await find_probed_version(table)
        except MissingTableError:
            # A deleted or moved dataset has no tables either, and must not count as a scope without knowledge.
            await self.check_marker()
            return None
        metadata = read_metadata(schema)
        self._check_metadata(metadata)
        if metadata.get(META_SCOPE) != scope.name:
            raise StorageUnavailableError
        return OpenTable(table, version, analyzer_versions=_check_analyzers(read_analyzer_versions(schema)))

    async def _find_loader(self, name: str) -> AsyncTable | None:
        try:
            return await self.open_loader(name)
        except MissingTableError:
            return None

    def _check_metadata(self, metadata: Mapping[str, str]) -> None:
        if (wrong := find_mismatch(metadata, self._model, self.dimensions)) is not None:
            msg = (
                f"The dataset says {wrong.name} = {wrong.found!r}, this function expects {wrong.expected!r}. "
                "Publish the dataset again with this embedding, or set EMBEDDING to the dataset's."
            )
            raise DatasetMismatchError(msg)


def _check_analyzers(versions: tuple[int, ...]) -> tuple[int, ...]:
    if not knows_analyzers(versions):
        written = format_analyzer_versions(versions) or "an unknown version"
        msg = (
            f"The dataset's terms were written by analyzer {written}, this function knows 1 to {ANALYZER_VERSION}. "
            "Deploy the version of the function that the dataset was published with."
        )
        raise DatasetMismatchError(msg)
    return versions
