"""Read access to a dataset.

A `Dataset` opens nothing until `open()`. Table handles never follow new versions by themselves, so a handle *is* a
snapshot; after `REFRESH_SECONDS` the next call gets a new one, and calls under way keep theirs.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from knowledge.concurrency import together
from knowledge.errors import DatasetMismatchError, StorageUnavailableError
from knowledge.faults import MissingTableError, StaleVersionError, storage_faults
from knowledge.lance import connect
from knowledge.schema import MARKER_TABLE, META_DIMENSIONS, META_MODEL, META_SCHEMA, META_SCOPE, SCHEMA_VERSION
from knowledge.snapshot import Snapshot, Tables

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from typing import TypeVar

    import pyarrow as pa

    from knowledge.lance import AsyncConnection, AsyncTable
    from knowledge.scopes import Scope

    T = TypeVar("T")

REFRESH_SECONDS: Final = 3.0
"""Age at which a handle is opened anew: with the time of a call well below the 5 s promised for a publish."""

MAX_TABLES: Final = 256
"""Handles kept: both tables of the most scopes one call may span, twice over."""

_STORAGE_VARIABLES: Final = {
    "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
    "endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
}
# The library's own defaults retry for minutes; a call has seconds.
_PATIENCE: Final = {"connect_timeout": "3s", "timeout": "10s", "client_max_retries": "2", "client_retry_timeout": "8"}


def storage_options_from(environ: Mapping[str, str]) -> dict[str, str]:
    """LanceDB storage options for the standard AWS variables; credentials are found by the library itself."""
    options = dict(_PATIENCE)
    for option, names in _STORAGE_VARIABLES.items():
        found = next((environ[name] for name in names if environ.get(name)), None)
        if found:
            options[option] = found
    if options.get("endpoint", "").startswith("http://"):
        options["allow_http"] = "true"
    return options


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


class Dataset:
    """One dataset at one URI, read only, for one embedding model."""

    def __init__(
        self, uri: str, *, model: str, dimensions: int, storage_options: Mapping[str, str] | None = None
    ) -> None:
        self._uri = normalized_uri(uri)
        self._expected = {META_SCHEMA: SCHEMA_VERSION, META_MODEL: model, META_DIMENSIONS: str(dimensions)}
        self._options = dict(storage_options or {}) if "://" in self._uri else {}
        self._connection: AsyncConnection | None = None
        self._tables: OrderedDict[str, _Opened] = OrderedDict()

    async def open(self) -> None:
        """Connect and check the marker once. Raises `StorageUnavailableError` or `DatasetMismatchError`."""
        if self._connection is None:
            connection = await self._connect()
            await self._check_marker(connection)
            self._connection = connection

    async def close(self) -> None:
        """Let go of the connection and all handles; `open()` works again afterwards."""
        self._tables.clear()
        if self._connection is not None:
            self._connection.close()  # type: ignore[no-untyped-call]  # the library leaves it untyped
            self._connection = None

    async def run(self, scopes: Sequence[Scope], work: Callable[[list[Snapshot]], Awaitable[T]]) -> T:
        """Do work on a snapshot of each scope that has tables; once more if a version was cleaned away meanwhile."""
        try:
            return await work(await self._snapshots(scopes))
        except StaleVersionError:
            self._tables.clear()
        return await work(await self._snapshots(scopes))

    async def snapshot(self, scope: Scope) -> Snapshot | None:
        """The scope as it is now; `None` where the dataset has no tables for it."""
        await self.open()
        current = await self._opened(scope, scope.current_table)
        if current.table is None:
            return None
        return Snapshot(scope, Tables(current.table, self._revisions_opener(scope), current.known))

    async def _snapshots(self, scopes: Sequence[Scope]) -> list[Snapshot]:
        await self.open()
        found = await together(self.snapshot(scope) for scope in scopes)
        return [snapshot for snapshot in found if snapshot is not None]

    def _revisions_opener(self, scope: Scope) -> Callable[[bool], Awaitable[AsyncTable | None]]:
        async def opener(fresh: bool) -> AsyncTable | None:  # noqa: FBT001 - a callback with one meaning
            if fresh:
                self._tables.pop(scope.revisions_table, None)
            return (await self._opened(scope, scope.revisions_table)).table

        return opener

    async def _opened(self, scope: Scope, name: str) -> _Opened:
        opened = self._tables.get(name)
        if opened is None or time.monotonic() - opened.at > REFRESH_SECONDS:
            at = time.monotonic()
            opened = _Opened(await self._open_table(scope, name), at, {})
            self._tables[name] = opened
        self._tables.move_to_end(name)
        while len(self._tables) > MAX_TABLES:
            self._tables.popitem(last=False)
        return opened

    async def _open_table(self, scope: Scope, name: str) -> AsyncTable | None:
        try:
            with storage_faults():
                table = await self._connected().open_table(name)
                schema = await table.schema()
        except MissingTableError:
            # An emptied or moved store has no tables either, and must not pass for a scope without knowledge.
            await self._check_marker(self._connected())
            return None
        self._check(schema, scope)
        return table

    def _connected(self) -> AsyncConnection:
        if self._connection is None:
            raise StorageUnavailableError
        return self._connection

    async def _connect(self) -> AsyncConnection:
        if not _exists(self._uri):
            raise StorageUnavailableError
        with storage_faults():
            return await connect(self._uri, self._options)

    async def _check_marker(self, connection: AsyncConnection) -> None:
        try:
            with storage_faults():
                schema = await (await connection.open_table(MARKER_TABLE)).schema()
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
