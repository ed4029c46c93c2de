"""Conversion of values to rows of both tables and back, without a store."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import numpy as np
import pyarrow as pa
import pytest

from knowledge.scopes import Scope
from knowledge.store.revision import RevisionInfo
from knowledge.store.schema import ARCHIVED, BASE, PUBLISHED, current_schema, revisions_schema
from publish_knowledge.passages.splitting import Passage
from publish_knowledge.store.arrow_rows import (
    build_archive_rows,
    build_base_rows,
    build_current_rows,
    build_head_rows,
    build_history_rows,
    parse_current_revision,
    parse_heads,
    parse_metadata,
    parse_revisions,
    parse_vectors,
)
from publish_knowledge.store.records import ItemHead, StoredMetadata, StoredRevision

ANA = Scope("owner", "ana")
CURRENT = current_schema(ANA, "model", 4)
REVISIONS = revisions_schema(ANA, "model", 4)
INFO = RevisionInfo(ANA, "notes", "ki_1", "kr_1", "Pump", "en", "2026-01-02T03:04:05Z", "file", "pump.md", 6, "0" * 64)
HEAD = ItemHead(INFO, previous_id="kr_0", fingerprint="f", state=PUBLISHED, sequence=3)
STORED = StoredRevision(
    info=replace(INFO, published_at=""),
    previous_id="kr_0",
    fingerprint="f",
    created_at="2026-01-01T00:00:00Z",
    passages=(Passage(0, 0, 4, "Use", "Open"), Passage(1, 4, 6, "Use", " 1")),
    vectors=np.arange(8, dtype=np.float16).reshape(2, 4),
)


def test_heads_come_back_as_they_were() -> None:
    assert parse_heads(ANA, build_head_rows(CURRENT, [HEAD])) == [HEAD]


def test_a_history_row_has_no_state_of_its_own() -> None:
    rows = build_history_rows(CURRENT, [HEAD])
    assert rows.column("state").to_pylist() == [None]
    (row,) = parse_heads(ANA, rows)
    assert row.info == INFO


def test_revisions_come_back_as_they_were() -> None:
    other = replace(STORED, info=replace(STORED.info, revision_id="kr_2"), vectors=STORED.vectors + np.float16(1))
    rows = pa.concat_tables([build_archive_rows(REVISIONS, other), build_archive_rows(REVISIONS, STORED)])
    found = parse_revisions(ANA, rows)
    assert sorted(found) == ["kr_1", "kr_2"]
    assert_same(found["kr_1"], STORED)
    assert_same(found["kr_2"], other)
    assert parse_metadata(ANA, rows.slice(2, 1)) == [
        StoredMetadata(STORED.info, STORED.previous_id, STORED.fingerprint, STORED.created_at)
    ]


def test_a_revision_is_rebuilt_from_current_rows_and_its_head() -> None:
    rebuilt = parse_current_revision(HEAD, build_current_rows(CURRENT, STORED))
    assert_same(rebuilt, replace(STORED, created_at=INFO.published_at))


def test_what_a_reader_shows_is_in_one_column() -> None:
    (row,) = build_head_rows(CURRENT, [HEAD]).to_pylist()
    metadata = json.loads(row["about"])
    assert (metadata["title"], metadata["content_sha256"], metadata["scope"]) == ("Pump", "0" * 64, "owner:ana")
    passages = build_current_rows(CURRENT, STORED).to_pylist()
    assert [json.loads(one["about"])["start"] for one in passages] == [0, 4]


@pytest.mark.parametrize(("archived", "state"), [(True, ARCHIVED), (False, PUBLISHED)])
def test_a_base_row_holds_the_state_of_its_base(*, archived: bool, state: str) -> None:
    (row,) = build_base_rows(ANA, CURRENT, "notes", archived=archived).to_pylist()
    assert (row["kind"], row["base_id"], row["state"]) == (BASE, "notes", state)


def test_a_column_without_rows_keeps_its_dimensions() -> None:
    assert parse_vectors(CURRENT.empty_table().column("vector")).shape == (0, 4)


def assert_same(found: StoredRevision, expected: StoredRevision) -> None:
    """Vectors compare element by element, and the other fields as they are."""
    assert np.array_equal(found.vectors, expected.vectors)
    names = [field.name for field in fields(StoredRevision) if field.name != "vectors"]
    assert [getattr(found, name) for name in names] == [getattr(expected, name) for name in names]
