"""How items are split into commits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from publish_knowledge.store.commits import COMMIT_CHARS, COMMIT_ITEMS, split_into_commits


@given(st.lists(st.integers(0, 2 * COMMIT_CHARS), max_size=3 * COMMIT_ITEMS))
def test_every_item_is_in_one_commit_in_order(sizes: list[int]) -> None:
    commits = list(split_into_commits(sizes, lambda size: size))
    assert [size for commit in commits for size in commit] == sizes
    assert all(commits)


@given(st.lists(st.integers(0, 2 * COMMIT_CHARS), max_size=3 * COMMIT_ITEMS))
def test_no_commit_is_larger_than_its_limits_but_for_one_large_item(sizes: list[int]) -> None:
    for commit in split_into_commits(sizes, lambda size: size):
        assert len(commit) <= COMMIT_ITEMS
        assert sum(commit) <= COMMIT_CHARS or len(commit) == 1


def test_many_small_items_are_split_by_their_number() -> None:
    commits = list(split_into_commits(range(COMMIT_ITEMS + 1), lambda _item: 1))
    assert [len(commit) for commit in commits] == [COMMIT_ITEMS, 1]
