"""The publisher's values of rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from knowledge.scopes import Scope
from knowledge.store.revision import RevisionInfo
from publish_knowledge.passages.splitting import Passage
from publish_knowledge.store.records import StoredRevision, is_tiled

INFO = RevisionInfo(Scope("owner", "ana"), "notes", "ki_1", "kr_1", "Pump", "en", "", "file", "pump.md", 6, "0" * 64)
PASSAGES = (Passage(0, 0, 4, "", "Open"), Passage(1, 4, 6, "", " it"[:2]))
STORED = StoredRevision(INFO, "", "f" * 32, "2026-01-01T00:00:00Z", PASSAGES, np.zeros((2, 4), np.float16))


@pytest.mark.parametrize(
    ("ranges", "total", "whole"),
    [
        ([(0, 4), (4, 6)], 6, True),
        ([(0, 0)], 0, True),
        ([], 0, False),
        ([(0, 4), (5, 6)], 6, False),
        ([(0, 5), (4, 6)], 6, False),
        ([(0, 4)], 6, False),
        ([(1, 6)], 6, False),
        ([(0, 7)], 6, False),
    ],
)
def test_ranges_tile_without_gap_and_overlap(ranges: list[tuple[int, int]], total: int, *, whole: bool) -> None:
    assert is_tiled(ranges, total) is whole


def test_a_revision_is_complete_with_all_its_passages() -> None:
    assert STORED.is_complete
    assert not replace(STORED, passages=PASSAGES[1:]).is_complete


def test_a_revision_is_known_by_item_and_revision() -> None:
    assert STORED.key == ("ki_1", "kr_1")
    assert (STORED.item_id, STORED.base_id, STORED.revision_id) == ("ki_1", "notes", "kr_1")
