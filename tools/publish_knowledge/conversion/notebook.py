"""Jupyter notebooks to Markdown: texts, code, and what the code printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from publish_knowledge.conversion.protocol import ConversionError, Converted

MAX_OUTPUT_CHARS: Final = 2_000
"""Of one output: a longer one is a log or a table, and hides the text."""

_ESCAPES: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_FENCE: Final = re.compile(r"`{3,}")


def convert(data: bytes) -> Converted:
    """Convert the cells in order; pictures and other rich outputs are left out."""
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
        metadata = notebook.get("metadata", {})
        language = str(
            metadata.get("kernelspec", {}).get("language") or metadata.get("language_info", {}).get("name", "")
        )
        blocks = [block for cell in cells for block in _convert_cell(cell, language) if block.strip()]
    except (ValueError, LookupError, TypeError, AttributeError):
        raise ConversionError("It is not a Jupyter notebook (.ipynb). Check its extension, or save it again.") from None
    if not blocks:
        raise ConversionError("It has no text. Write its cells, or remove the file.")
    return Converted("\n\n".join(blocks) + "\n", str(metadata.get("title") or ""))


def _convert_cell(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = _join(cell.get("source", cell.get("input", "")))
    if cell["cell_type"] != "code":
        yield source.strip("\n")
        return
    if source.strip():
        yield _fence(source, language)
    for output in cell.get("outputs", []):
        text = _join(output.get("text") or output.get("data", {}).get("text/plain", ""))
        if text.strip():
            yield _fence(_ESCAPES.sub("", text)[:MAX_OUTPUT_CHARS], "")


def _join(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)


def _fence(text: str, language: str) -> str:
    longest = max((len(run) for run in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    end = text.rstrip("\n")
    return f"{fence}{language}\n{end}\n{fence}"
