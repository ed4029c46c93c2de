"""Convert the publisher's values to Arrow rows of the schema and back; nothing is opened here."""

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
    TERMS,
    archive_address,
    base_address,
    current_address,
    head_address,
    history_address,
    metadata_json,
    read_analyzer_versions,
    row_key,
)
from publish_knowledge.passages.indexed_text import list_indexed_terms
from publish_knowledge.passages.splitting import Passage
from publish_knowledge.store.records import (
    HalfVectors,
    IndexedRevision,
    ItemHead,
    Lineage,
    RevisionKey,
    StoredMetadata,
    StoredRevision,
)


def _list_columns(kind: type[Lineage]) -> tuple[str, ...]:
    """Columns of the values of one class: those of the revision's info, and its own fields, which have their names."""
    return (*INFO_COLUMNS, *(field.name for field in fields(kind) if field.name != "info"))


HEAD_COLUMNS: Final = _list_columns(ItemHead)
REVISION_COLUMNS: Final = tuple(name for name in _list_columns(StoredMetadata) if name != "published_at")
PASSAGE_COLUMNS: Final = tuple(field.name for field in fields(Passage))


def build_head_rows(schema: pa.Schema, heads: Iterable[ItemHead]) -> pa.Table:
    """Build one head row for each item."""
    return pa.Table.from_pylist(list(map(_build_head_row, heads)), schema=schema)


def build_history_rows(schema: pa.Schema, heads: Iterable[ItemHead]) -> pa.Table:
    """Build the history rows of the revisions that these heads make current."""
    return pa.Table.from_pylist(list(map(_build_history_row, heads)), schema=schema)


def build_base_rows(scope: Scope, schema: pa.Schema, base_id: str, *, archived: bool) -> pa.Table:
    """Build the row that holds a base's state."""
    row = {
        **_build_identity(BASE, scope, base_id, ""),
        "key": row_key(BASE, base_id),
        ROW_ADDRESS: base_address(base_id),
        "revision_id": "",
        "state": ARCHIVED if archived else PUBLISHED,
    }
    return pa.Table.from_pylist([_add_metadata_json(row)], schema=schema)


def build_current_rows(schema: pa.Schema, revision: StoredRevision) -> pa.Table:
    """Build the passage rows that make a revision searchable; vectors are the stored ones.

    Terms are computed here, by the version of the analyzer that the schema names.
    """
    info = revision.info
    version = read_analyzer_versions(schema)[-1]
    terms = list_indexed_terms(version, info.title, info.language, info.source_uri, revision.passages)
    addresses = [current_address(info.item_id, each.start) for each in revision.passages]
    # Passage rows have the labels of head rows too: repeated values take no space on disk, whereas nulls among values
    # do, and reading one head would fetch them.
    labels = {"state": PUBLISHED, "sequence": 0, "published_at": ""}
    return _build_passage_rows(schema, revision, labels, {ROW_ADDRESS: addresses, "terms": terms})


def build_archive_rows(schema: pa.Schema, revision: StoredRevision) -> pa.Table:
    """Build the rows that keep a revision permanently; each has the revision's metadata, and can be read by itself."""
    addresses = [archive_address(*revision.key, each.start) for each in revision.passages]
    return _build_passage_rows(schema, revision, {}, {ROW_ADDRESS: addresses})


def parse_heads(scope: Scope, rows: pa.Table) -> list[ItemHead]:
    """Read head or history rows; a column that is null becomes empty."""
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


def parse_metadata(scope: Scope, rows: pa.Table) -> list[StoredMetadata]:
    """Read rows of the archive without their texts."""
    return [
        StoredMetadata(**_parse_metadata_columns(scope, row)) for row in rows.select(list(REVISION_COLUMNS)).to_pylist()
    ]


def parse_revisions(scope: Scope, rows: pa.Table) -> dict[str, StoredRevision]:
    """Read revisions from rows of the archive, by revision id."""
    ordered = rows.sort_by([("revision_id", "ascending"), ("ordinal", "ascending")])
    vectors = parse_vectors(ordered.column("vector"))
    grouped: dict[str, list[int]] = {}
    for index, revision in enumerate(ordered.column("revision_id").to_pylist()):
        grouped.setdefault(revision, []).append(index)
    listed = ordered.select([*REVISION_COLUMNS, *PASSAGE_COLUMNS]).to_pylist()
    return {
        revision: StoredRevision(
            **_parse_metadata_columns(scope, listed[indexes[0]]),
            passages=_parse_passages(listed[index] for index in indexes),
            vectors=vectors[indexes[0] : indexes[-1] + 1],
        )
        for revision, indexes in grouped.items()
    }


def parse_indexed_revisions(scope: Scope, rows: pa.Table) -> list[IndexedRevision]:
    """Read revisions with their terms from passage rows of `current`."""
    grouped: dict[RevisionKey, list[dict[str, Any]]] = {}
    for row in rows.sort_by([("ordinal", "ascending")]).to_pylist():
        grouped.setdefault((row["item_id"], row["revision_id"]), []).append(row)
    return [
        IndexedRevision(info_of(scope, own[0]), _parse_passages(own), tuple(row[TERMS] for row in own))
        for own in grouped.values()
    ]


def parse_current_revision(head: ItemHead, rows: pa.Table) -> StoredRevision:
    """Read a revision from its passage rows in `current` and the head that describes them."""
    ordered = rows.sort_by([("ordinal", "ascending")])
    return StoredRevision(
        info=replace(head.info, published_at=""),
        previous_id=head.previous_id,
        fingerprint=head.fingerprint,
        created_at=head.info.published_at,
        passages=_parse_passages(ordered.select(list(PASSAGE_COLUMNS)).to_pylist()),
        vectors=parse_vectors(ordered.column("vector")),
    )


def parse_vectors(column: pa.ChunkedArray) -> HalfVectors:
    """Read a vector column as an array of shape (rows, dimensions), with NaN where it is null."""
    vectors = np.full((len(column), column.type.list_size), np.nan, dtype=np.float16)
    if len(column):
        flat = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
        vectors[column.is_valid().to_numpy()] = np.asarray(flat, dtype=np.float16).reshape(-1, column.type.list_size)
    return vectors


def _build_head_row(head: ItemHead) -> dict[str, Any]:
    key, address = row_key(HEAD, head.item_id), head_address(head.item_id)
    return _add_metadata_json({**_build_item_row(HEAD, head), "key": key, ROW_ADDRESS: address})


def _build_history_row(head: ItemHead) -> dict[str, Any]:
    key, address = row_key(HISTORY, *head.key), history_address(*head.key)
    return _add_metadata_json({**_build_item_row(HISTORY, head), "state": None, "key": key, ROW_ADDRESS: address})


def _build_item_row(kind: str, head: ItemHead) -> dict[str, Any]:
    identity = _build_identity(kind, head.info.scope, head.base_id, head.item_id)
    return {**_collect_columns(head, HEAD_COLUMNS), **identity}


def _collect_columns(revision: Lineage, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(revision.info if name in INFO_COLUMNS else revision, name) for name in names}


def _add_metadata_json(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, METADATA_JSON: metadata_json(row)}


def _build_identity(kind: str, scope: Scope, base_id: str, item_id: str) -> dict[str, Any]:
    return {"kind": kind, "scope": scope.name, "base_id": base_id, "item_id": item_id, "ordinal": 0}


def _build_passage_rows(
    schema: pa.Schema, revision: StoredRevision, labels: Mapping[str, Any], columns: Mapping[str, Sequence[Any]]
) -> pa.Table:
    """Build one row for each passage: what all rows share, the passages, and further columns."""
    shared = {
        **_collect_columns(revision, REVISION_COLUMNS),
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
    return _build_arrow_table(schema, values, revision.vectors)


def _build_arrow_table(schema: pa.Schema, columns: Mapping[str, Sequence[Any]], vectors: HalfVectors) -> pa.Table:
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float16).reshape(-1))
    arrays = {
        name: pa.array(values, schema.field(name).type) for name, values in columns.items() if name in schema.names
    }
    size = schema.field("vector").type.list_size
    missing_vectors = np.isnan(vectors).any(axis=1)
    mask = pa.array(missing_vectors) if missing_vectors.any() else None
    arrays["vector"] = pa.FixedSizeListArray.from_arrays(flat, size, mask=mask)
    missing = {field.name: pa.nulls(len(vectors), field.type) for field in schema if field.name not in arrays}
    return pa.Table.from_pydict({**arrays, **missing}, schema=schema)


def _parse_metadata_columns(scope: Scope, row: Mapping[str, Any]) -> dict[str, Any]:
    own = (name for name in REVISION_COLUMNS if name not in INFO_COLUMNS)
    return {"info": info_of(scope, row), **{name: row[name] for name in own}}


def _parse_passages(rows: Iterable[Mapping[str, Any]]) -> tuple[Passage, ...]:
    return tuple(Passage(**{name: row[name] for name in PASSAGE_COLUMNS}) for row in rows)
