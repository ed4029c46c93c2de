"""CSV and TSV to one Markdown table."""

from __future__ import annotations

import codecs
import csv
import io
from typing import Final

from publish_knowledge.conversion.protocol import ConversionError, Converted
from publish_knowledge.conversion.tables import format_table

_DELIMITERS: Final = ",;\t|"
_SAMPLE_CHARS: Final = 16_384
_MAX_FIELD_CHARS: Final = 1_000_000


def convert(data: bytes) -> Converted:
    """Convert rows; the first is the header."""
    text = _decode(data)
    csv.field_size_limit(_MAX_FIELD_CHARS)
    try:
        table = format_table(csv.reader(io.StringIO(text, newline=""), delimiter=_find_delimiter(text), strict=False))
    except csv.Error as error:
        raise ConversionError(f"It cannot be read as CSV ({error}). Save it again as CSV.") from None
    if not table:
        raise ConversionError("It is empty. Write its rows, or remove the file.")
    return Converted(table)


def _decode(data: bytes) -> str:
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConversionError(f"It is not valid UTF-8 (byte {error.start}). Save it as “CSV UTF-8”.") from None
    if "\0" in text:
        raise ConversionError("It looks like a binary file, not a text. Save it as “CSV UTF-8”.")
    return text


def _find_delimiter(text: str) -> str:
    """The delimiter that gives the first rows the same number of fields, and most of them."""
    lines = text[:_SAMPLE_CHARS].splitlines()[:20]

    def rate(delimiter: str) -> tuple[bool, int]:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        return len(set(counts[:-1] or counts)) == 1, max(counts, default=0) if counts else 0

    return max(_DELIMITERS, key=lambda delimiter: (rate(delimiter)[1] > 1, *rate(delimiter)))
