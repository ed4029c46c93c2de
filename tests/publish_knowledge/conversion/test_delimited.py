"""CSV of several writers becomes one table."""

from __future__ import annotations

import pytest

from publish_knowledge.conversion.delimited import convert
from publish_knowledge.conversion.protocol import ConversionError
from tests.support.conversions import convert_file

TABLE = "| Tool | Size | Price |\n| --- | --- | --- |\n| Hex key | 5 mm | 3.50 |\n| Spanner, wide | 15 mm | 12.00 |\n"


@pytest.mark.parametrize("name", ["comma.csv", "excel.csv", "unicode.csv", "tabs.tsv", "pipes.csv", "quoted.csv"])
def test_rows_of_every_writer_are_the_same_table(name: str) -> None:
    assert convert_file(name).text == TABLE


def test_one_column_is_a_table_too() -> None:
    assert convert(b"Tool\nHex key\n").text == "| Tool |\n| --- |\n| Hex key |\n"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"na\xefve,b\n", "not valid UTF-8"),
        (b"a,b\0\n", "looks like a binary file"),
        (b"\n\n", "It is empty"),
        (b'a,"' + b"x" * 1_000_001 + b'"\n', "cannot be read as CSV"),
    ],
)
def test_what_is_no_csv_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ConversionError, match=reason):
        convert(data)
