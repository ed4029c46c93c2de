"""Ids, addresses and metadata: what is on disk, and what must never meet."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from knowledge.scopes import Scope
from knowledge.store.schema import (
    BUCKET_CHARS,
    HEAD,
    MAX_OFFSET,
    META_SCOPE,
    METADATA_JSON,
    PASSAGE,
    PASSAGE_MAX_CHARS,
    ROW_ADDRESS,
    SCHEMA_VERSION,
    archive_address,
    base_address,
    current_address,
    current_schema,
    digest,
    earliest_start,
    find_mismatch,
    fingerprint,
    head_address,
    history_address,
    item_id,
    marker_schema,
    metadata_json,
    read_metadata,
    revision_id,
    revisions_schema,
    row_key,
)

ANA, TEAM = Scope("owner", "ana"), Scope("team", "ana")
INT64 = 2**63


def test_a_digest_depends_on_where_its_parts_end() -> None:
    assert digest("a", "bc") != digest("ab", "c") != digest("abc")
    assert digest("a", "") != digest("a")
    assert len(digest("\ud800")) == 32


def test_ids_differ_by_scope_base_source_and_history() -> None:
    assert len({item_id(ANA, "b", "s"), item_id(TEAM, "b", "s"), item_id(ANA, "c", "s"), item_id(ANA, "b", "t")}) == 4
    print_a, print_b = (fingerprint(text, "title", "en", "path") for text in ("a", "b"))
    first = revision_id("item", "", print_a)
    second = revision_id("item", first, print_b)
    third = revision_id("item", second, print_a)
    assert len({first, second, third}) == 3
    assert revision_id("item", "", print_a) == first


def test_the_names_that_datasets_hold_do_not_change() -> None:
    assert (ROW_ADDRESS, METADATA_JSON, SCHEMA_VERSION) == ("place", "about", "2")
    assert item_id(ANA, "notes", "a.md") == "ki_417acfaad1097cf9935d694d50f5c679"
    assert row_key(HEAD, "ki_1") == "404091d5d5ef85c2c2f4d073716dce35"
    assert head_address("ki_1") == 3_282_606_299_445_788_672


def test_the_passages_of_an_item_stand_after_its_head_in_the_order_of_their_starts() -> None:
    starts = [0, BUCKET_CHARS - 1, BUCKET_CHARS, 10 * BUCKET_CHARS, MAX_OFFSET]
    addresses = [current_address("ki_1", start) for start in starts]
    first = head_address("ki_1") + 1
    assert addresses == [first, first, first + 1, first + 10, first + MAX_OFFSET // BUCKET_CHARS]
    assert archive_address("ki_1", "kr_1", BUCKET_CHARS) == archive_address("ki_1", "kr_1", 0) + 1


@pytest.mark.parametrize("number", range(50))
def test_addresses_fit_the_column_and_the_longest_text_ends_before_the_next_item(number: int) -> None:
    name = f"ki_{number}"
    own = 1 << 16
    for address in (
        head_address(name),
        history_address(name, "kr"),
        base_address(name),
        archive_address(name, "kr", 0),
    ):
        assert 0 <= address < INT64 - own
        assert address % own == 0
    assert current_address(name, MAX_OFFSET + PASSAGE_MAX_CHARS) < head_address(name) + own


def test_no_passage_that_reaches_an_offset_starts_earlier() -> None:
    assert [earliest_start(offset) for offset in (0, PASSAGE_MAX_CHARS - 1, PASSAGE_MAX_CHARS)] == [0, 0, 1]


def test_the_metadata_column_repeats_what_a_reader_needs_besides_state_and_text() -> None:
    row = {
        "kind": PASSAGE,
        "scope": "owner:ana",
        "item_id": "ki",
        "start": 7,
        "heading": "Öl",
        "text": "t",
        "state": "s",
    }
    found = json.loads(metadata_json(row))
    names = {"kind", "scope", "item_id", "revision_id", "start", "heading"}
    assert found == {name: row.get(name) for name in names}
    assert "Öl" in metadata_json(row)
    head = json.loads(metadata_json({**row, "kind": HEAD, "state": "published"}))
    assert {"title", "base_id", "content_sha256"} <= set(head)
    assert not {"state", "text", "start"} & set(head)


def test_a_table_says_which_scope_model_and_schema_it_was_made_for() -> None:
    for schema in (current_schema(ANA, "m", 4), revisions_schema(ANA, "m", 4)):
        metadata = read_metadata(schema)
        assert find_mismatch(metadata, "m", 4) is None
        assert metadata[META_SCOPE] == "owner:ana"
        assert schema.field("vector").type == pa.list_(pa.float16(), 4)
    assert find_mismatch(read_metadata(marker_schema("m", 4, "2026-11-30T12:00:00Z")), "m", 4) is None


def test_the_first_difference_of_a_table_is_named() -> None:
    metadata = read_metadata(current_schema(ANA, "m", 4))
    assert find_mismatch(metadata, "other", 4) == ("knowledge.embedding_model", "m", "other")
    assert find_mismatch(metadata, "m", 5) == ("knowledge.embedding_dimensions", "4", "5")
    old = {**metadata, "knowledge.schema_version": "1"}
    assert find_mismatch(old, "other", 5) == ("knowledge.schema_version", "1", SCHEMA_VERSION)
    assert find_mismatch(read_metadata(pa.schema([])), "m", 4) == ("knowledge.schema_version", None, SCHEMA_VERSION)
