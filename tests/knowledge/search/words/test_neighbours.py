"""Numbers beside their unit, their name or their own groups."""

from __future__ import annotations

import pytest

from knowledge.search.words.neighbours import find_long_number, is_gap, join_neighbours
from knowledge.search.words.text import analyze_text
from knowledge.search.words.tokens import tokenize


@pytest.mark.parametrize(
    ("before", "after", "terms"),
    [
        ("16", "GB", ["16gb"]),
        ("3,5", "kg", ["3,5kg", "3.5kg"]),
        ("Python", "3.11.7", ["python3", "python3.11", "python3.11.7"]),
        ("16", "people", []),
        ("in", "2024", []),
        ("A1", "5", []),
    ],
)
def test_a_number_is_joined_to_its_unit_or_its_name(before: str, after: str, terms: list[str]) -> None:
    assert join_neighbours(before, after) == terms


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("(030) 123-4567 now", (2, "0301234567")),
        ("+1 415 555 2671", (4, "14155552671")),
        ("2021 2022 2023", (0, "")),
        ("(1) 2", (0, "")),
        ("030", (0, "")),
    ],
)
def test_a_number_in_groups_says_so_by_a_sign(query: str, found: tuple[int, str]) -> None:
    assert find_long_number(list(tokenize(query)), query) == found


@pytest.mark.parametrize("text", ["030 1234567", "(030) 123-4567", "030.123.4567", "+49 030 123 4567"])
def test_a_telephone_number_has_one_term_whatever_its_separators(text: str) -> None:
    assert "0301234567" in analyze_text(f"Call {text} today.", "en")


@pytest.mark.parametrize(
    ("between", "gap"), [(" ", True), ("°", True), (" °", True), ("  ", False), (", ", False), ("", False)]
)
def test_a_space_or_a_degree_stands_between_a_number_and_its_unit(between: str, gap: bool) -> None:  # noqa: FBT001 - a case
    assert is_gap(between) == gap
