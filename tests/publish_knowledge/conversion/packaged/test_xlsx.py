"""Workbooks become a heading and a table for each sheet."""

from __future__ import annotations

import datetime as dt
import io

import openpyxl
import pytest

from publish_knowledge.conversion.packaged.xlsx import convert, format_value
from publish_knowledge.conversion.protocol import ConversionError
from tests.support.conversions import convert_file, make_zip


def test_a_workbook_of_openpyxl_has_its_visible_sheets() -> None:
    assert convert_file("openpyxl.xlsx").text == (
        "# Prices\n\n| Tool | Size | Price | Since |\n| --- | --- | --- | --- |\n"
        "| Hex key | 5 mm | 3.5 | 2024-05-01 |\n"
        "| Spanner \\| wide | 15 mm | 12 | 2024-05-01 09:30 |\n\n# Stock\n\n| Tool | Count |\n| --- | --- |\n"
        "| Hex key | 7 |\n"
    )


def test_a_workbook_of_xlsxwriter_has_what_formulas_came_to() -> None:
    assert convert_file("xlsxwriter.xlsx").text == (
        "# Prices\n\n| Tool | Size | Price |\n| --- | --- | --- |\n| Hex key | 5 mm | 3.5 |\n| Spanner | 15 mm | 12 |\n"
        "|  |  | 15.5 |\n"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (3.0, "3"),
        (3.25, "3.25"),
        (dt.datetime(2024, 5, 1), "2024-05-01"),  # noqa: DTZ001 - cells have no zone
        (dt.datetime(2024, 5, 1, 9, 30), "2024-05-01 09:30"),  # noqa: DTZ001 - as above
        (True, "True"),
    ],
)
def test_values_are_written_as_text(value: object, text: str) -> None:
    assert format_value(value) == text


def test_an_empty_workbook_is_refused() -> None:
    data = io.BytesIO()
    openpyxl.Workbook().save(data)
    with pytest.raises(ConversionError, match="It has no values"):
        convert(data.getvalue())


def test_a_damaged_workbook_is_refused() -> None:
    with pytest.raises(ConversionError, match="It is damaged"):
        convert(make_zip({"xl/workbook.xml": b"<workbook"}))
