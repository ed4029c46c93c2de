"""Rows as values, and the rule for who may see an item."""

from __future__ import annotations

import numpy as np
import pytest

from knowledge.store.revision import (
    Head,
    PassageRow,
    RevisionInfo,
    ScopeHeads,
    head_of,
    is_readable,
    passage_of,
    retrieved_of,
)
from knowledge.store.schema import ARCHIVED, DRAFT, PUBLISHED, head_address
from tests.support.datasets import ANA


@pytest.mark.parametrize("state", [DRAFT, ARCHIVED, "", "PUBLISHED"])
def test_only_a_published_item_is_readable(state: str) -> None:
    assert is_readable(PUBLISHED, "manuals", ())
    assert not is_readable(state, "manuals", ())


def test_an_item_is_not_readable_while_its_base_is_archived() -> None:
    assert is_readable(PUBLISHED, "manuals", frozenset({"notes", "Manuals"}))
    assert not is_readable(PUBLISHED, "manuals", frozenset({"notes", "manuals"}))


def test_a_row_becomes_a_head_and_null_columns_become_empty() -> None:
    row = {"base_id": "b", "item_id": "i", "revision_id": "r", "title": None, "state": None, "total_chars": None}
    head = head_of(ANA, row)
    assert head == Head("", RevisionInfo(ANA, "b", "i", "r", "", "", "", "", "", 0, ""))
    assert not head.published
    assert head_of(ANA, {**row, "state": PUBLISHED}).published


def test_a_passage_ends_where_its_text_ends_in_code_points() -> None:
    passage = passage_of({"item_id": "i", "revision_id": "r", "start": 10, "heading": None, "text": "🙂é"})
    assert passage == PassageRow("i", "r", 10, "", "🙂é")
    assert passage.end == 12
    windows = [(0, 10), (0, 11), (11, 12), (12, 20)]
    assert [passage.overlaps(*window) for window in windows] == [False, True, True, False]


def test_a_candidate_is_named_by_item_and_start() -> None:
    hit = retrieved_of(ANA, {"item_id": "i", "start": 3, "terms": None}, 1.5)
    assert (hit.passage, hit.score, hit.terms) == (("i", 3), 1.5, "")


def test_an_item_can_be_read_if_the_address_of_its_head_is_among_the_readable_ones() -> None:
    addresses = np.sort(np.array([head_address(item) for item in ("a", "b", "c")]))
    heads = ScopeHeads(frozenset(), frozenset(), addresses)
    assert [heads.has_readable(item) for item in ("a", "b", "c", "d", "")] == [True, True, True, False, False]
    assert not ScopeHeads(frozenset(), frozenset(), addresses[:0]).has_readable("a")
