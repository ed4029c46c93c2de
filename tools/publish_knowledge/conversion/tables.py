"""Tables of rows as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from publish_knowledge.conversion.protocol import ConversionError

MAX_CELLS: Final = 2_000_000
"""A million cells are converted; far more come from a fault, or from a table that nobody reads."""


def format_table(rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, its first row the header; empty rows and columns at the end are left out."""
    kept: list[list[str]] = []
    cells = 0
    for row in rows:
        values = [escape_cell(value) for value in row]
        while values and not values[-1]:
            values.pop()
        cells += len(values)
        if cells > MAX_CELLS:
            raise ConversionError(f"It has more than {MAX_CELLS:,} cells. Split it into several files.")
        if values:
            kept.append(values)
    if not kept:
        return ""
    width = max(map(len, kept))
    if width * len(kept) > MAX_CELLS:
        raise ConversionError(f"It has more than {MAX_CELLS:,} cells. Split it into several files.")
    header, *rest = ([*row, *[""] * (width - len(row))] for row in kept)
    lines = [_join(header), _join(["---"] * width), *map(_join, rest)]
    return "\n".join(lines) + "\n"


def escape_cell(value: str) -> str:
    """A value on one line that no cell's border breaks."""
    return " ".join(value.split()).replace("|", "\\|")


def _join(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
