"""The two tables of one scope: created with all their indexes before the first row, and read by row address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from knowledge.errors import DatasetMismatchError, StorageUnavailableError
from knowledge.scopes import Scope, parse_scope
from knowledge.store.faults import MissingTableError
from knowledge.store.revision import INFO_COLUMNS
from knowledge.store.schema import (
    ANALYZER_VERSION,
    ARCHIVED,
    BASE,
    HEAD,
    HISTORY,
    MARKER_TABLE,
    META_ANALYZER,
    META_SCOPE,
    PASSAGE,
    ROW_ADDRESS,
    TERMS,
    archive_address,
    base_address,
    current_address,
    current_schema,
    embeds_context,
    format_analyzer_versions,
    head_address,
    knows_analyzers,
    read_analyzer_versions,
    read_metadata,
    revisions_schema,
)
from publish_knowledge.store import marker
from publish_knowledge.store.arrow_rows import (
    HEAD_COLUMNS,
    PASSAGE_COLUMNS,
    REVISION_COLUMNS,
    parse_current_revision,
    parse_heads,
    parse_indexed_revisions,
    parse_metadata,
    parse_revisions,
)
from publish_knowledge.store.purges import (
    OBJECTS_PREFIX,
    PurgeGuard,
    PurgeRecord,
    digest_of,
    find_digest,
    is_leftover,
    label_schema,
    purge_tables,
    read_record,
    wait_for_purge,
)
from publish_knowledge.store.records import (
    IndexedRevision,
    ItemHead,
    Range,
    RevisionKey,
    StoredMetadata,
    StoredRevision,
)

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store, Table, Where

CURRENT_INDEXES: Final = ("terms", ROW_ADDRESS, "scope", "kind", "base_id")
REVISIONS_INDEXES: Final = (ROW_ADDRESS,)

Ranges = dict[RevisionKey, list[Range]]
"""Ranges of passages by item and revision, in order of ordinals."""

_TABLES: Final = ("current_", "revisions_")
"""How the names of a scope's tables begin."""

_RANGE_COLUMNS: Final = ("item_id", "revision_id", "ordinal", "start", "end")
_ADDRESSES: Final = 100
"""Addresses in one query; each is a term of the filter, and very deep filters overflow the planner's stack."""


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """Where a revision's passages are: enough to find them by index."""

    item_id: str
    revision_id: str
    total_chars: int

    @property
    def row_addresses(self) -> range:
        """Row addresses of all its passages."""
        first = archive_address(self.item_id, self.revision_id, 0)
        return range(first, archive_address(self.item_id, self.revision_id, self.total_chars) + 1)


def address_of(head: ItemHead) -> Address:
    """Where the current revision of an item is."""
    return Address(*head.key, head.info.total_chars)


@dataclass(frozen=True, slots=True)
class ScopeTables:
    """One scope's pair of tables and their schemas."""

    scope: Scope
    current: Table
    revisions: Table
    current_schema: pa.Schema
    revisions_schema: pa.Schema
    embeds_context: bool

    async def read_analyzer_versions(self) -> tuple[int, ...]:
        """Versions of the analyzer that the terms are of now, ascending; the last is the one to write."""
        return check_analyzers(self.current.name, await self.current.schema())

    def current_schema_for(self, analyzer_version: int) -> pa.Schema:
        """The schema of `current` for rows with terms of one version."""
        at = self.current_schema.get_field_index(TERMS)
        metadata = {META_ANALYZER: format_analyzer_versions((analyzer_version,))}
        return self.current_schema.set(at, self.current_schema.field(at).with_metadata(metadata))

    async def find_head(self, item_id: str) -> ItemHead | None:
        """Find the head of one item."""
        heads = await self.find_heads([item_id])
        return heads.get(item_id)

    async def find_heads(self, item_ids: Sequence[str], at: int | None = None) -> dict[str, ItemHead]:
        """Find the heads of the items that have one, in the latest version of `current` or in version `at`."""
        if not item_ids:
            return {}
        where: Where = {"kind": HEAD, ROW_ADDRESS: [head_address(item) for item in item_ids]}
        rows = await self.current.read_rows(where, HEAD_COLUMNS, at)
        wanted = set(item_ids)
        return {head.item_id: head for head in parse_heads(self.scope, rows) if head.item_id in wanted}

    async def list_heads(self, base_id: str | None, at: int | None = None) -> list[ItemHead]:
        """List the heads of all items of a base, or of the scope."""
        rows = await self.current.read_rows(_build_where(HEAD, base_id), HEAD_COLUMNS, at)
        return parse_heads(self.scope, rows)

    async def list_history(self, item_id: str | None, at: int | None = None) -> list[ItemHead]:
        """List the history rows of one item, or of all."""
        where: Where = {"kind": HISTORY} if item_id is None else {"kind": HISTORY, "item_id": item_id}
        rows = await self.current.read_rows(where, HEAD_COLUMNS, at)
        return parse_heads(self.scope, rows)

    async def list_stored_metadata(self, item_id: str | None = None) -> list[StoredMetadata]:
        """List all revisions of the archive, or those of one item, without their texts."""
        first: Where = {"kind": PASSAGE, "ordinal": 0}
        where = first if item_id is None else {**first, "item_id": item_id}
        rows = await self.revisions.read_rows(where, REVISION_COLUMNS)
        return parse_metadata(self.scope, rows)

    async def list_archived_bases(self, at: int | None = None) -> frozenset[str]:
        """List the bases that are archived."""
        rows = await self.current.read_rows({"kind": BASE, "state": ARCHIVED}, ["base_id"], at)
        return frozenset(rows.column("base_id").to_pylist())

    async def is_base_archived(self, base_id: str) -> bool:
        """Whether a base is archived; one without a row is not."""
        where: Where = {ROW_ADDRESS: [base_address(base_id)], "kind": BASE, "base_id": base_id, "state": ARCHIVED}
        rows = await self.current.read_rows(where, ["base_id"])
        return bool(rows.num_rows)

    async def read_revisions(self, addresses: Iterable[Address]) -> dict[str, StoredRevision]:
        """Read revisions of the archive, by revision id; those that are not there are left out."""
        wanted = sorted(set(addresses))
        columns = [*REVISION_COLUMNS, *PASSAGE_COLUMNS, "vector"]
        found: dict[str, StoredRevision] = {}
        for first in range(0, len(wanted), _ADDRESSES):
            batch = wanted[first : first + _ADDRESSES]
            rows = await self.revisions.read_rows({ROW_ADDRESS: [address.row_addresses for address in batch]}, columns)
            found |= parse_revisions(self.scope, rows)
        known = {address.revision_id for address in wanted}
        return {revision: stored for revision, stored in found.items() if revision in known}

    async def read_visible_revision(self, head: ItemHead) -> StoredRevision:
        """Read the current revision of a published item from `current`."""
        columns = ["revision_id", *PASSAGE_COLUMNS, "vector"]
        addresses = _list_current_addresses(head)
        where: Where = {"kind": PASSAGE, ROW_ADDRESS: [addresses], "revision_id": head.revision_id}
        return parse_current_revision(head, await self.current.read_rows(where, columns))

    async def read_indexed_revisions(self, heads: Sequence[ItemHead]) -> list[IndexedRevision]:
        """Read the current revisions of items from `current`, with their terms; of items without passages none."""
        columns = [*INFO_COLUMNS, *PASSAGE_COLUMNS, TERMS]
        found: list[IndexedRevision] = []
        for first in range(0, len(heads), _ADDRESSES):
            batch = heads[first : first + _ADDRESSES]
            where: Where = {"kind": PASSAGE, ROW_ADDRESS: [_list_current_addresses(head) for head in batch]}
            keys = {head.key for head in batch}
            rows = await self.current.read_rows(where, columns)
            found += (one for one in parse_indexed_revisions(self.scope, rows) if one.key in keys)
        return found

    async def read_current_ranges(self, base_id: str | None = None, at: int | None = None) -> Ranges:
        """Read the ranges of the passages in `current`, of a base or of the scope."""
        rows = await self.current.read_rows(_build_where(PASSAGE, base_id), _RANGE_COLUMNS, at)
        return _group_ranges(rows)

    async def read_archive_ranges(self) -> Ranges:
        """Read the ranges of all passages in `revisions`."""
        rows = await self.revisions.read_rows({"kind": PASSAGE}, _RANGE_COLUMNS)
        return _group_ranges(rows)


def _list_current_addresses(head: ItemHead) -> range:
    return range(current_address(head.item_id, 0), current_address(head.item_id, head.info.total_chars) + 1)


def _build_where(kind: str, base_id: str | None) -> Where:
    return {"kind": kind} if base_id is None else {"kind": kind, "base_id": base_id}


def _group_ranges(rows: pa.Table) -> Ranges:
    found: Ranges = {}
    for row in rows.sort_by([("ordinal", "ascending")]).to_pylist():
        found.setdefault((row["item_id"], row["revision_id"]), []).append((row["start"], row["end"]))
    return found


@dataclass(frozen=True, slots=True)
class ScopeListing:
    """The scopes that have tables, by name, and the names of tables that belong to none."""

    scopes: list[Scope]
    unknown_tables: list[str]


async def find_scopes(store: Store) -> ScopeListing:
    """Look at every table of the dataset; a scope with only one of its two tables counts."""
    scopes: set[Scope] = set()
    unknown: list[str] = []
    for name in await store.list_tables():
        scope = await _find_scope(store, name)
        if scope is not None:
            scopes.add(scope)
        elif name != MARKER_TABLE and not name.startswith(OBJECTS_PREFIX):
            unknown.append(name)
    return ScopeListing(sorted(scopes), unknown)


async def _find_scope(store: Store, name: str) -> Scope | None:
    named = await _read_scope_name(store, name) if name.startswith(_TABLES) else None
    scope = parse_scope(named) if named else None
    return scope if scope and name in (scope.current_table, scope.revisions_table) else None


async def _read_scope_name(store: Store, name: str) -> str | None:
    try:
        table = await store.open_table(name)
        return read_metadata(await table.schema()).get(META_SCOPE) if table else None
    except (StorageUnavailableError, MissingTableError):
        # One table that cannot be opened does not hide the others; this raises where it is the whole store.
        await store.list_tables()
        return None


async def open_scope(store: Store, scope: Scope) -> ScopeTables | None:
    """Open the tables of a scope; `None` where nothing was published to it since it was last purged.

    Raises `StorageUnavailableError` where one of the pair is missing.
    """
    guard = PurgeGuard(store, scope, await read_record(store, digest_of(scope)))
    current = await store.open_table(scope.current_table, guard)
    revisions = await store.open_table(scope.revisions_table, guard)
    if current is None or guard.record.unfinished or await _is_left_over(current, guard):
        # Tables are created in the other order, so that a scope exists only when both do.
        return None
    if revisions is None:
        msg = (
            f"The table {scope.revisions_table} of {scope.name} is missing. Run `knowledge doctor` to see what is left."
        )
        raise StorageUnavailableError(msg)
    await _check_schema(store, scope, current)
    return _build_tables(store, scope, current, revisions, await _check_schema(store, scope, revisions))


async def require_scope(store: Store, scope: Scope) -> ScopeTables | None:
    """Check the dataset, then open the scope."""
    await marker.require_dataset(store)
    return await open_scope(store, scope)


async def ensure_scope(store: Store, scope: Scope) -> ScopeTables:
    """Open the tables of a scope; create those that are missing, with all their indexes.

    Waits for a purge that is running. Raises `StorageUnavailableError` where it does not end.
    """
    guard = await _start_writing(store, scope)
    archive = revisions_schema(scope, store.model, store.dimensions)
    revisions = await _ensure_table(store, guard, scope.revisions_table, archive, REVISIONS_INDEXES)
    visible = current_schema(scope, store.model, store.dimensions)
    current = await _ensure_table(store, guard, scope.current_table, visible, CURRENT_INDEXES)
    if not (await current.read_health()).rows:
        # Before the first row, so that a publisher that is killed between the two has committed nothing to be seen.
        await marker.announce_scope(store)
    return _build_tables(store, scope, current, revisions, await revisions.schema())


async def _start_writing(store: Store, scope: Scope) -> PurgeGuard:
    guard = await wait_for_purge(store, scope)
    if await has_leftovers(store, digest_of(scope), guard.record):
        await purge_tables(store, digest_of(scope))
        guard = await wait_for_purge(store, scope)
    return guard


async def has_leftovers(store: Store, digest: str, record: PurgeRecord) -> bool:
    """Whether files of a scope are left that a writer created after they had been purged."""
    if not record.number:
        return False
    present = [name for name in await store.list_tables() if find_digest(name) == digest]
    tables = [await store.open_table(name) for name in present]
    return any([table is None or is_leftover(await table.schema(), record) for table in tables])


async def _is_left_over(table: Table, guard: PurgeGuard) -> bool:
    return is_leftover(await table.schema(), guard.record)


async def _ensure_table(store: Store, guard: PurgeGuard, name: str, schema: pa.Schema, indexes: Sequence[str]) -> Table:
    labelled = label_schema(schema, guard.record)
    table = await store.open_table(name, guard) or await store.create_table(name, labelled, guard)
    await _check_schema(store, guard.scope, table)
    present = (await table.read_health()).indexes
    for column in indexes:
        if column not in present:
            await table.create_index(column)
    return table


async def _check_schema(store: Store, scope: Scope, table: Table) -> pa.Schema:
    schema = await table.schema()
    marker.check_schema(store, schema)
    if read_metadata(schema).get(META_SCOPE) != scope.name:
        msg = f"The table {table.name} does not belong to {scope.name}. Run `knowledge doctor`."
        raise StorageUnavailableError(msg)
    check_analyzers(table.name, schema)
    return schema


def check_analyzers(name: str, schema: pa.Schema) -> tuple[int, ...]:
    """Versions of a table's terms; raises `DatasetMismatchError` for one that this code does not know."""
    versions = read_analyzer_versions(schema)
    if not knows_analyzers(versions):
        written = format_analyzer_versions(versions) or "an unknown version"
        msg = (
            f"The terms of the table {name} were written by analyzer {written}, this command knows "
            f"1 to {ANALYZER_VERSION}. Install the version of this project that they were published with."
        )
        raise DatasetMismatchError(msg)
    return versions


def _build_tables(
    store: Store, scope: Scope, current: Table, revisions: Table, archive_schema: pa.Schema
) -> ScopeTables:
    return ScopeTables(
        scope=scope,
        current=current,
        revisions=revisions,
        current_schema=current_schema(scope, store.model, store.dimensions),
        revisions_schema=revisions_schema(scope, store.model, store.dimensions),
        embeds_context=embeds_context(archive_schema),
    )
