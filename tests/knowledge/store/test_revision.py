"""Rows as values, and the rule for who may see an item."""

from __future__ import annotations

import pytest

from knowledge.store.revision import is_readable
from knowledge.store.schema import ARCHIVED, DRAFT, PUBLISHED


@pytest.mark.parametrize("state", [DRAFT, ARCHIVED, "", "PUBLISHED"])
def test_only_a_published_item_is_readable(state: str) -> None:
    assert is_readable(PUBLISHED, "manuals", ())
    assert not is_readable(state, "manuals", ())


def test_an_item_is_not_readable_while_its_base_is_archived() -> None:
    assert is_readable(PUBLISHED, "manuals", frozenset({"notes", "Manuals"}))
    assert not is_readable(PUBLISHED, "manuals", frozenset({"notes", "manuals"}))
