"""From what an item's id is derived."""

from __future__ import annotations

from knowledge.store.schema import item_id
from publish_knowledge.sources.documents import derive_item_source
from tests.support.datasets import ANA


def test_a_path_and_an_id_of_the_same_name_never_collide() -> None:
    assert derive_item_source("a.md") == "path:a.md"
    assert derive_item_source("b.md", "a.md") == "id:a.md"


def test_an_item_with_an_id_stays_the_same_when_its_file_is_renamed() -> None:
    before, after = derive_item_source("a.md", "refunds"), derive_item_source("moved/b.md", "refunds")
    assert item_id(ANA, "base", before) == item_id(ANA, "base", after)
    assert item_id(ANA, "base", derive_item_source("a.md")) != item_id(ANA, "base", derive_item_source("b.md"))
