"""Rows become Markdown tables."""

from __future__ import annotations

import pytest

from publish_knowledge.conversion import tables
from publish_knowledge.conversion.protocol import ConversionError
from publish_knowledge.conversion.tables import escape_cell, format_table


def test_short_rows_are_filled_and_empty_ones_left_out() -> None:
    assert format_table([["A", "B", ""], [], ["1"], ["", ""]]) == "| A | B |\n| --- | --- |\n| 1 |  |\n"


def test_nothing_is_no_table() -> None:
    assert format_table([["", ""], []]) == ""


def test_a_cell_is_one_line_without_borders() -> None:
    assert escape_cell(" a\n| b ") == "a \\| b"


@pytest.mark.parametrize("rows", [[["x"] * 10] * 10, [["x"] * 50, *[["y"]] * 9]])
def test_too_many_cells_are_refused(rows: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_CELLS", 99)
    with pytest.raises(ConversionError, match="more than 99 cells"):
        format_table(rows)
