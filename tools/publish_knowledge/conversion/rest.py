"""reStructuredText to Markdown, by docutils; nothing is included or executed."""

from __future__ import annotations

from typing import Final

import docutils.core
import docutils.utils

from publish_knowledge.conversion.html import convert_markup
from publish_knowledge.conversion.protocol import ConversionError, Converted

_SETTINGS: Final = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,  # Sphinx's roles and directives are unknown to docutils: their text is kept
    "halt_level": 6,
    "input_encoding": "utf-8",
    "output_encoding": "unicode",
    "syntax_highlight": "none",
    "initial_header_level": 1,
    "doctitle_xform": False,
    "embed_stylesheet": False,
}


def convert(data: bytes) -> Converted:
    """Convert a text in UTF-8."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConversionError(f"It is not valid UTF-8 (byte {error.start}). Save it as UTF-8.") from None
    if not text.strip("\0 \n\r\t"):
        raise ConversionError("It is empty. Write its text, or remove the file.")
    parts = docutils.core.publish_parts(text, writer="html5", settings_overrides=dict(_SETTINGS))
    return Converted(convert_markup(f"<main>{parts['body']}</main>").text)
