"""Matching the document ids of judgments with published items."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from knowledge.scopes import Scope
from knowledge.store.schema import item_id
from publish_knowledge.evaluation.matching import MatchedQrels, PublishedItem, match_items
from publish_knowledge.evaluation.qrels import Qrels, QrelsError, Query
from publish_knowledge.sources.documents import derive_item_source
from tests.support.datasets import ANA, SUPPORT


def item(scope: Scope, base_id: str, path: str, front_matter_id: str | None = None) -> PublishedItem:
    return PublishedItem(scope, base_id, item_id(scope, base_id, derive_item_source(path, front_matter_id)), path)


def match(grades: Sequence[dict[str, int]], items: list[PublishedItem]) -> MatchedQrels:
    queries = (Query(f"q{number}", "text", "", one) for number, one in enumerate(grades))
    return match_items(Qrels(tuple(queries), ()), items)


def test_a_document_is_found_by_path_item_id_or_front_matter_id() -> None:
    by_path, by_id = item(ANA, "notes", "a.md"), item(ANA, "notes", "b.md")
    by_front_matter = item(SUPPORT, "handbook", "moved/c.md", "rules")
    grades = [{"a.md": 1, by_id.item_id: 2}, {"rules": 1, "gone.md": 3}]
    found = match(grades, [by_path, by_id, by_front_matter])
    assert [query.grades for query in found.queries] == [
        {by_path.item_id: 1, by_id.item_id: 2},
        {by_front_matter.item_id: 1, "missing:gone.md": 3},
    ]
    assert found.unknown == ("gone.md",)


def test_a_path_takes_precedence_and_two_names_of_one_item_count_by_the_higher_grade() -> None:
    named_like_a_path = item(ANA, "notes", "b.md", "a.md")
    at_the_path = item(ANA, "notes", "a.md")
    grades = {"a.md": 1, at_the_path.item_id: 2}
    (query,) = match([grades], [named_like_a_path, at_the_path]).queries
    assert query.grades == {at_the_path.item_id: 2}


def test_a_path_in_two_bases_is_refused_with_both() -> None:
    items = [item(ANA, "notes", "a.md"), item(SUPPORT, "handbook", "a.md")]
    with pytest.raises(QrelsError, match=r"handbook of team:support, notes of owner:ana\. Give --base"):
        match([{"a.md": 1}], items)


def test_an_id_in_the_front_matter_of_two_bases_is_refused_with_both() -> None:
    items = [item(ANA, "notes", "a.md", "rules"), item(SUPPORT, "handbook", "b.md", "rules")]
    with pytest.raises(QrelsError, match=r"handbook of team:support, notes of owner:ana\. Give --base"):
        match([{"rules": 1}], items)
