"""Values to Arrow rows of the schema, and back. Nothing here opens anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from knowledge.scopes import Scope
from knowledge.store.schema import (
    ARCHIVED,
    BASE,
    DRAFT,
    HEAD,
    HISTORY,
    PASSAGE,
    PUBLISHED,
    archive_address,
    base_address,
    current_address,
    head_address,
    history_address,
    metadata_json,
    row_key,
)
from publish_knowledge.passages.indexed_text import build_indexed_terms
from publish_knowledge.passages.splitting import Passage
from publish_knowledge.publishing.plan import ItemHead

HalfVectors = npt.NDArray[np.float16]

HEAD_COLUMNS: Final = tuple(field.name for field in fields(ItemHead))
PASSAGE_COLUMNS: Final = tuple(field.name for field in fields(Passage))


@dataclass(frozen=True, slots=True)
class StoredMetadata:
    """What every row of a stored revision says about it."""

    item_id: str
    base_id: str
    revision_id: str
    title: str
    language: str
    source_type: str
    source_uri: str
    total_chars: int
    content_sha256: str
    previous_id: str
    fingerprint: str
    created_at: str


REVISION_COLUMNS: Final = tuple(field.name for field in fields(StoredMetadata))


@dataclass(frozen=True, slots=True)
class StoredRevision(StoredMetadata):
    """A revision as the archive has it. `vectors` has shape (len(passages), dimensions), in passage order."""

    passages: tuple[Passage, ...]
    vectors: HalfVectors

    @property
    def complete(self) -> bool:
        """Whether the passages tile [0, total_chars) exactly."""
        return tiles([(passage.start, passage.end) for passage in self.passages], self.total_chars)


def tiles(ranges: Sequence[tuple[int, int]], total: int) -> bool:
    """Whether ranges in order cover [0, total) without gap or overlap; even an empty text has one."""
    starts = [0, *(end for _, end in ranges)]
    return bool(ranges) and starts[:-1] == [start for start, _ in ranges] and starts[-1] == total


def head_rows(scope: Scope, schema: pa.Schema, heads: Iterable[ItemHead]) -> pa.Table:
    """One head row for each item."""
    return pa.Table.from_pylist([_head(scope, head) for head in heads], schema=schema)


def history_rows(scope: Scope, schema: pa.Schema, heads: Iterable[ItemHead]) -> pa.Table:
    """The history rows of the revisions that these heads make current."""
    return pa.Table.from_pylist([_history(scope, head) for head in heads], schema=schema)


def base_rows(scope: Scope, schema: pa.Schema, base_id: str, *, archived: bool) -> pa.Table:
    """The row that holds a base's state."""
    row = {
        **_identity(scope, BASE, base_id, ""),
        "key": row_key(BASE, base_id),
        "place": base_address(base_id),
        "revision_id": "",
        "state": ARCHIVED if archived else PUBLISHED,
    }
    return pa.Table.from_pylist([_told(row)], schema=schema)


def current_passages(scope: Scope, schema: pa.Schema, revision: StoredRevision) -> pa.Table:
    """The passage rows that make a revision searchable; terms are worked out here, vectors are the stored ones."""
    terms = [build_indexed_terms(revision.title, revision.language, passage) for passage in revision.passages]
    places = [current_address(revision.item_id, each.start) for each in revision.passages]
    return _table(
        schema, {**_labels(revision), **_passages(scope, revision), "place": places, "terms": terms}, revision
    )


def archive_rows(scope: Scope, schema: pa.Schema, revision: StoredRevision) -> pa.Table:
    """The rows that keep a revision for good: each carries the revision's metadata, and so explains itself."""
    item, own = revision.item_id, revision.revision_id
    places = [archive_address(item, own, each.start) for each in revision.passages]
    return _table(schema, {**_repeated(revision), **_passages(scope, revision), "place": places}, revision)


def heads_from(rows: pa.Table) -> list[ItemHead]:
    """Head or history rows as values; a column that is null becomes empty."""
    return [_head_from(row) for row in rows.select(list(HEAD_COLUMNS)).to_pylist()]


def metadata_from(rows: pa.Table) -> list[StoredMetadata]:
    """Rows of the archive without their texts."""
    return [StoredMetadata(**row) for row in rows.select(list(REVISION_COLUMNS)).to_pylist()]


def revisions_from(rows: pa.Table) -> dict[str, StoredRevision]:
    """Rows of the archive, grouped by revision id."""
    ordered = rows.sort_by([("revision_id", "ascending"), ("ordinal", "ascending")])
    vectors = vectors_from(ordered.column("vector"))
    grouped: dict[str, list[int]] = {}
    for index, revision in enumerate(ordered.column("revision_id").to_pylist()):
        grouped.setdefault(revision, []).append(index)
    listed = ordered.select([*REVISION_COLUMNS, *PASSAGE_COLUMNS]).to_pylist()
    return {
        revision: _revision_from([listed[index] for index in indexes], vectors[indexes[0] : indexes[-1] + 1])
        for revision, indexes in grouped.items()
    }


def revision_from_current(head: ItemHead, rows: pa.Table) -> StoredRevision:
    """A revision from the passage rows of `current` and the head that describes them."""
    ordered = rows.sort_by([("ordinal", "ascending")])
    metadata = {name: getattr(head, name) for name in REVISION_COLUMNS if name != "created_at"}
    passages = tuple(Passage(**row) for row in ordered.select(list(PASSAGE_COLUMNS)).to_pylist())
    vectors = vectors_from(ordered.column("vector"))
    return StoredRevision(**metadata, created_at=head.published_at, passages=passages, vectors=vectors)


def vectors_from(column: pa.ChunkedArray) -> HalfVectors:
    """Shape (rows, dimensions) of a vector column without nulls."""
    width = column.type.list_size
    flat = column.combine_chunks().flatten() if len(column) else pa.array([], pa.float16())
    return np.asarray(flat.to_numpy(zero_copy_only=False), dtype=np.float16).reshape(-1, width)


def _head(scope: Scope, head: ItemHead) -> dict[str, Any]:
    key, place = row_key(HEAD, head.item_id), head_address(head.item_id)
    return _told({**_item(scope, HEAD, head), "key": key, "place": place})


def _history(scope: Scope, head: ItemHead) -> dict[str, Any]:
    key = row_key(HISTORY, head.item_id, head.revision_id)
    place = history_address(head.item_id, head.revision_id)
    return _told({**_item(scope, HISTORY, head), "state": None, "key": key, "place": place})


def _item(scope: Scope, kind: str, head: ItemHead) -> dict[str, Any]:
    columns = {name: getattr(head, name) for name in HEAD_COLUMNS}
    return {**columns, **_identity(scope, kind, head.base_id, head.item_id)}


def _told(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "about": metadata_json(row)}


def _identity(scope: Scope, kind: str, base_id: str, item_id: str) -> dict[str, Any]:
    return {"kind": kind, "scope": scope.name, "base_id": base_id, "item_id": item_id, "ordinal": 0}


def _passages(scope: Scope, revision: StoredRevision) -> dict[str, list[Any]]:
    item, own, count = revision.item_id, revision.revision_id, len(revision.passages)
    same = {"kind": PASSAGE, "scope": scope.name, "base_id": revision.base_id, "item_id": item, "revision_id": own}
    parts = [{name: getattr(each, name) for name in PASSAGE_COLUMNS} for each in revision.passages]
    return {
        "key": [row_key(PASSAGE, item, own, each.ordinal) for each in revision.passages],
        "about": [metadata_json({**same, **part}) for part in parts],
        **{name: [value] * count for name, value in same.items()},
        **{name: [part[name] for part in parts] for name in PASSAGE_COLUMNS},
    }


def _repeated(revision: StoredRevision) -> dict[str, list[Any]]:
    return {name: [getattr(revision, name)] * len(revision.passages) for name in REVISION_COLUMNS}


def _labels(revision: StoredRevision) -> dict[str, list[Any]]:
    # What a head row says, on passage rows too: repeated values take no room on disk, while nulls among values do, and
    # the read of one head would fetch them.
    count = len(revision.passages)
    return {**_repeated(revision), "state": [PUBLISHED] * count, "sequence": [0] * count, "published_at": [""] * count}


def _table(schema: pa.Schema, columns: dict[str, list[Any]], revision: StoredRevision) -> pa.Table:
    count, width = len(revision.passages), schema.field("vector").type.list_size
    flat = pa.array(np.ascontiguousarray(revision.vectors, dtype=np.float16).reshape(-1))
    arrays = {
        field.name: pa.array(columns[field.name], field.type) if field.name in columns else pa.nulls(count, field.type)
        for field in schema
    }
    arrays["vector"] = pa.FixedSizeListArray.from_arrays(flat, width)
    return pa.Table.from_arrays([arrays[field.name].cast(field.type) for field in schema], schema=schema)


def _head_from(row: dict[str, Any]) -> ItemHead:
    empty: dict[str, Any] = {"sequence": 0, "total_chars": 0, "state": DRAFT}
    filled = {name: empty.get(name, "") if row[name] is None else row[name] for name in HEAD_COLUMNS}
    return ItemHead(**filled)


def _revision_from(rows: list[dict[str, Any]], vectors: HalfVectors) -> StoredRevision:
    passages = tuple(Passage(**{name: row[name] for name in PASSAGE_COLUMNS}) for row in rows)
    return StoredRevision(**{name: rows[0][name] for name in REVISION_COLUMNS}, passages=passages, vectors=vectors)
