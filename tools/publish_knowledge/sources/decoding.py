"""Decode the bytes of a file: UTF-8 only, a byte-order mark dropped, nothing else changed."""

from __future__ import annotations

import codecs
from typing import Final

from publish_knowledge.sources.file_errors import UnusableFileError

_CONTROL_SHARE: Final = 0.4
"""UTF-16 without a byte-order mark is half NULs; a text with a few NULs is still a text."""

_UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_TEXT_CONTROLS: Final = frozenset("\t\n\v\f\r\x1b")
_SAMPLE_CHARS: Final = 8_192


def decode_text(data: bytes) -> str:
    """Text of a file, line ends and NULs unchanged; raises `UnusableFileError`."""
    if data.startswith(_UTF16_MARKS):
        raise UnusableFileError("It is UTF-16. Save it as UTF-8.")
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnusableFileError(_explain_invalid_utf8(data, error.start)) from None
    if not text.strip():
        raise UnusableFileError("It is empty. Write its text, or remove the file.")
    if _looks_binary(text):
        raise UnusableFileError("It looks like a binary file, not a text. Publish its text as UTF-8.")
    return text


def _explain_invalid_utf8(data: bytes, start: int) -> str:
    line = data.count(b"\n", 0, start) + 1
    return f"It is not valid UTF-8 (byte {start}, line {line}): binary, or text in another encoding. Save it as UTF-8."


def _looks_binary(text: str) -> bool:
    sample = text[:_SAMPLE_CHARS]
    controls = sum(1 for char in sample if char < " " and char not in _TEXT_CONTROLS)
    return controls > _CONTROL_SHARE * len(sample)
