"""Excel workbooks to Markdown: a heading and a table for each sheet."""

from __future__ import annotations

import datetime as dt
import io
import warnings
import zipfile
from collections.abc import Iterator
from xml.etree.ElementTree import ParseError

import openpyxl

from publish_knowledge.conversion.packaged.archives import open_archive
from publish_knowledge.conversion.protocol import ConversionError, Converted
from publish_knowledge.conversion.tables import format_table


def convert(data: bytes) -> Converted:
    """Convert the visible sheets that have values; of formulas what Excel computed last."""
    open_archive(data, "xl/workbook.xml", "an Excel workbook (.xlsx)").close()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions, which are not converted
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            text = "\n".join(_convert_sheets(book))
    except (zipfile.BadZipFile, ParseError, KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise ConversionError(
            f"It is damaged ({type(error).__name__}: {error}). Open it in Excel and save it again."
        ) from None
    if not text:
        raise ConversionError("It has no values. Fill its cells, or remove the file.")
    return Converted(text, " ".join((book.properties.title or "").split()))


def _convert_sheets(book: openpyxl.Workbook) -> Iterator[str]:
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        # The range that a sheet declares may be of a million rows, or missing.
        sheet.reset_dimensions()
        table = format_table([*map(format_value, row)] for row in sheet.iter_rows(values_only=True))
        if table:
            yield f"# {' '.join(sheet.title.split())}\n\n{table}"


def format_value(value: object) -> str:
    """A cell as text: dates in ISO 8601, whole numbers without a point."""
    if value is None:
        return ""
    if isinstance(value, dt.datetime):
        return value.date().isoformat() if value.time() == dt.time() else value.isoformat(" ", "minutes")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
