"""The objects that a scope's items were published from, kept in the dataset: unchanged ones are not fetched again.

One table for each scope, made when objects of a bucket are first synchronized. Readers never open it, and without it,
or with rows that are not right, objects are only fetched once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from knowledge.scopes import Scope
from knowledge.store.schema import digest
from publish_knowledge.store.purges import OBJECTS_PREFIX, PurgeGuard, digest_of, is_leftover, label_schema, read_record

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store, Table

MAX_FRAGMENTS: Final = 10
"""Fragments of the table before it is compacted; every run that changes something writes one."""


@dataclass(frozen=True, slots=True)
class SourceObject:
    """The object at `uri`, with an ETag, that made a revision when it was read as `reading` says."""

    base_id: str
    source_path: str
    uri: str
    etag: str
    size: int
    item_id: str
    revision_id: str
    reading: str


_COLUMNS: Final = tuple(item.name for item in fields(SourceObject))
_SCHEMA: Final = pa.schema(
    [
        *(pa.field(name, pa.int64() if name == "size" else pa.string(), nullable=False) for name in _COLUMNS),
        pa.field("key", pa.string(), nullable=False, metadata={"lance-schema:unenforced-primary-key": "true"}),
    ]
)


async def read_objects(store: Store, scope: Scope, base_id: str) -> dict[str, SourceObject]:
    """Read the objects of a base, by the paths of their items; none where nothing is known."""
    record = await read_record(store, digest_of(scope))
    table = await store.open_table(_name(scope))
    if table is None or is_leftover(await table.schema(), record):
        return {}
    rows = await table.read_rows({"base_id": base_id}, _COLUMNS)
    found = [SourceObject(**row) for row in rows.to_pylist()]
    return {one.source_path: one for one in found}


async def write_objects(
    store: Store, guard: PurgeGuard, base_id: str, objects: Iterable[SourceObject], before: Mapping[str, SourceObject]
) -> None:
    """Replace the objects of a base in one commit; no commit where they are as `before`."""
    wanted = {one.source_path: one for one in objects}
    if wanted == before:
        return
    table = await _ensure_table(store, guard)
    if wanted:
        await table.merge(_build_rows(wanted.values()), {"base_id": base_id})
    else:
        await table.delete({"base_id": base_id})
    if (await table.read_health()).fragments > MAX_FRAGMENTS:
        await table.optimize()


async def _ensure_table(store: Store, guard: PurgeGuard) -> Table:
    name = _name(guard.scope)
    table = await store.open_table(name, guard)
    return table or await store.create_table(name, label_schema(_SCHEMA, guard.record), guard)


def _build_rows(objects: Iterable[SourceObject]) -> pa.Table:
    rows = [
        {**dict(zip(_COLUMNS, astuple(one), strict=True)), "key": digest("object", one.base_id, one.source_path)}
        for one in objects
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def _name(scope: Scope) -> str:
    return OBJECTS_PREFIX + digest_of(scope)
