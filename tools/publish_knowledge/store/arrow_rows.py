"""Values to Arrow rows of the schema, and back. Nothing here opens anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from knowledge.scopes import Scope
from knowledge.store.revision import INFO_COLUMNS, info_of
from knowledge.store.schema import (
    ARCHIVED,
    BASE,
    DRAFT,
    HEAD,
    HISTORY,
    METADATA_JSON,
    PASSAGE,
    PUBLISHED,
    ROW_ADDRESS,
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
from publish_knowledge.store.records import HalfVectors, ItemHead, StoredMetadata, StoredRevision

PASSAGE_COLUMNS: Final = tuple(field.name for field in fields(Passage))
_LINEAGE: Final = ("previous_id", "fingerprint")
HEAD_COLUMNS: Final = (*INFO_COLUMNS, *_LINEAGE, "state", "sequence")
REVISION_COLUMNS: Final = (*(name for name in INFO_COLUMNS if name != "published_at"), *_LINEAGE, "created_at")


def head_rows(schema: pa.Schema, heads: Iterable[ItemHead]) -> pa.Table:
    """One head row for each item."""
    return pa.Table.from_pylist(list(map(_head, heads)), schema=schema)


def history_rows(schema: pa.Schema, heads: Iterable[ItemHead]) -> pa.Table:
    """The history rows of the revisions that these heads make current."""
    return pa.Table.from_pylist(list(map(_history, heads)), schema=schema)


def base_rows(scope: Scope, schema: pa.Schema, base_id: str, *, archived: bool) -> pa.Table:
    """The row that holds a base's state."""
    row = {
        **_identity(BASE, scope, base_id, ""),
        "key": row_key(BASE, base_id),
        ROW_ADDRESS: base_address(base_id),
        "revision_id": "",
        "state": ARCHIVED if archived else PUBLISHED,
    }
    return pa.Table.from_pylist([_add_metadata_json(row)], schema=schema)


def current_passages(schema: pa.Schema, revision: StoredRevision) -> pa.Table:
    """The passage rows that make a revision searchable; terms are computed here, vectors are the stored ones."""
    info = revision.info
    terms = [build_indexed_terms(info.title, info.language, passage) for passage in revision.passages]
    addresses = [current_address(info.item_id, each.start) for each in revision.passages]
    # What a head row says, on passage rows too: repeated values take no room on disk, while nulls among values do, and
    # the read of one head would fetch them.
    labels = {"state": PUBLISHED, "sequence": 0, "published_at": ""}
    return _passage_table(schema, revision, labels, {ROW_ADDRESS: addresses, "terms": terms})


def archive_rows(schema: pa.Schema, revision: StoredRevision) -> pa.Table:
    """The rows that keep a revision permanently: each carries the revision's metadata, and so explains itself."""
    addresses = [archive_address(*revision.key, each.start) for each in revision.passages]
    return _passage_table(schema, revision, {}, {ROW_ADDRESS: addresses})


def heads_from(scope: Scope, rows: pa.Table) -> list[ItemHead]:
    """Head or history rows as values; a column that is null becomes empty."""
    return [
        ItemHead(
            info_of(scope, row),
            row["previous_id"] or "",
            row["fingerprint"] or "",
            row["state"] or DRAFT,
            row["sequence"] or 0,
        )
        for row in rows.select(list(HEAD_COLUMNS)).to_pylist()
    ]


def metadata_from(scope: Scope, rows: pa.Table) -> list[StoredMetadata]:
    """Rows of the archive without their texts."""
    return [StoredMetadata(**_metadata(scope, row)) for row in rows.select(list(REVISION_COLUMNS)).to_pylist()]


def revisions_from(scope: Scope, rows: pa.Table) -> dict[str, StoredRevision]:
    """Rows of the archive, grouped by revision id."""
    ordered = rows.sort_by([("revision_id", "ascending"), ("ordinal", "ascending")])
    vectors = vectors_from(ordered.column("vector"))
    grouped: dict[str, list[int]] = {}
    for index, revision in enumerate(ordered.column("revision_id").to_pylist()):
        grouped.setdefault(revision, []).append(index)
    listed = ordered.select([*REVISION_COLUMNS, *PASSAGE_COLUMNS]).to_pylist()
    return {
        revision: StoredRevision(
            **_metadata(scope, listed[indexes[0]]),
            passages=_passages_from(listed[index] for index in indexes),
            vectors=vectors[indexes[0] : indexes[-1] + 1],
        )
        for revision, indexes in grouped.items()
    }


def revision_from_current(head: ItemHead, rows: pa.Table) -> StoredRevision:
    """A revision from the passage rows of `current` and the head that describes them."""
    ordered = rows.sort_by([("ordinal", "ascending")])
    return StoredRevision(
        info=replace(head.info, published_at=""),
        previous_id=head.previous_id,
        fingerprint=head.fingerprint,
        created_at=head.info.published_at,
        passages=_passages_from(ordered.select(list(PASSAGE_COLUMNS)).to_pylist()),
        vectors=vectors_from(ordered.column("vector")),
    )


def vectors_from(column: pa.ChunkedArray) -> HalfVectors:
    """Shape (rows, dimensions) of a vector column without nulls."""
    width = column.type.list_size
    flat = column.combine_chunks().flatten() if len(column) else pa.array([], pa.float16())
    return np.asarray(flat.to_numpy(zero_copy_only=False), dtype=np.float16).reshape(-1, width)


def _head(head: ItemHead) -> dict[str, Any]:
    key, address = row_key(HEAD, head.item_id), head_address(head.item_id)
    return _add_metadata_json({**_item(HEAD, head), "key": key, ROW_ADDRESS: address})


def _history(head: ItemHead) -> dict[str, Any]:
    key, address = row_key(HISTORY, *head.key), history_address(*head.key)
    return _add_metadata_json({**_item(HISTORY, head), "state": None, "key": key, ROW_ADDRESS: address})


def _item(kind: str, head: ItemHead) -> dict[str, Any]:
    columns = {**_columns(head), "state": head.state, "sequence": head.sequence}
    return {**columns, **_identity(kind, head.info.scope, head.base_id, head.item_id)}


def _columns(one: ItemHead | StoredRevision) -> dict[str, Any]:
    info = {name: getattr(one.info, name) for name in INFO_COLUMNS}
    return {**info, "previous_id": one.previous_id, "fingerprint": one.fingerprint}


def _add_metadata_json(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, METADATA_JSON: metadata_json(row)}


def _identity(kind: str, scope: Scope, base_id: str, item_id: str) -> dict[str, Any]:
    return {"kind": kind, "scope": scope.name, "base_id": base_id, "item_id": item_id, "ordinal": 0}


def _passage_table(
    schema: pa.Schema, revision: StoredRevision, labels: Mapping[str, Any], columns: Mapping[str, Sequence[Any]]
) -> pa.Table:
    """One row for each passage: what all rows share, the passages themselves, and columns of their own."""
    shared = {
        **_columns(revision),
        "created_at": revision.created_at,
        **labels,
        "kind": PASSAGE,
        "scope": revision.info.scope.name,
    }
    parts = [{name: getattr(each, name) for name in PASSAGE_COLUMNS} for each in revision.passages]
    values: dict[str, Sequence[Any]] = {
        **{name: [value] * len(parts) for name, value in shared.items()},
        **{name: [part[name] for part in parts] for name in PASSAGE_COLUMNS},
        "key": [row_key(PASSAGE, *revision.key, each.ordinal) for each in revision.passages],
        METADATA_JSON: [metadata_json({**shared, **part}) for part in parts],
        **columns,
    }
    return _arrow_table(schema, values, revision.vectors)


def _arrow_table(schema: pa.Schema, columns: Mapping[str, Sequence[Any]], vectors: HalfVectors) -> pa.Table:
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float16).reshape(-1))
    arrays = {
        name: pa.array(values, schema.field(name).type) for name, values in columns.items() if name in schema.names
    }
    arrays["vector"] = pa.FixedSizeListArray.from_arrays(flat, schema.field("vector").type.list_size)
    missing = {field.name: pa.nulls(len(vectors), field.type) for field in schema if field.name not in arrays}
    return pa.Table.from_pydict({**arrays, **missing}, schema=schema)


def _metadata(scope: Scope, row: Mapping[str, Any]) -> dict[str, Any]:
    return {"info": info_of(scope, row), **{name: row[name] for name in (*_LINEAGE, "created_at")}}


def _passages_from(rows: Iterable[Mapping[str, Any]]) -> tuple[Passage, ...]:
    return tuple(Passage(**{name: row[name] for name in PASSAGE_COLUMNS}) for row in rows)
