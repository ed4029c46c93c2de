"""Tables in a text, and the header row that each passage of one lacks.

A long table is cut into several passages, and only the first has its header row: the others are numbers without
meaning. The header is found again from the passages alone, so that it need not be stored: tables of Markdown with or
without outer pipes, in lists and quotations too; with a delimiter row of Org or a grid; and of HTML.

Every scan is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from publish_knowledge.passages.splitting import Passage

HEADER_BYTES: Final = 400
"""Longest header row that goes before each passage of its table, in UTF-8: longer ones would crowd out the rows."""

_LINE: Final = re.compile(r"[^\r\n]*+(?:\r\n|\n|\r|\Z)")
_FENCE: Final = re.compile(r"[ \t>]*+(?:[-*+] |\d{1,9}[.)] )?[ \t]*+(```+|~~~+)")
_DELIMITER: Final = re.compile(r"(?m)^[ \t>]*+[|+:=-][|+:= \t-]*+\r?$")
_PREFIX: Final = re.compile(r"[ \t>]*+(?:[-*+] |\d{1,9}[.)] )?[ \t>]*+")
_TABLE: Final = re.compile(r"<table\b", re.IGNORECASE)
_TABLE_END: Final = re.compile(r"</table", re.IGNORECASE)
_HEAD: Final = re.compile(r"<thead\b|<tr\b", re.IGNORECASE)
_ROW_END: Final = {"<thead": re.compile(r"</thead", re.IGNORECASE), "<tr": re.compile(r"</tr|<tr\b", re.IGNORECASE)}
_CELL: Final = re.compile(r"<t[hd]\b[^<>]*+>", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]*+>")


@dataclass(frozen=True, slots=True)
class Table:
    """A table is `text[start:end]`; its rows begin at `rows`, below the header row that says `header`."""

    start: int
    rows: int
    end: int
    header: str


def find_tables(text: str) -> list[Table]:
    """Tables of a text that have a header row, in order; none in fenced code."""
    fences = list(_find_fences(text)) if "```" in text or "~~~" in text else []
    found = sorted([*_find_pipe_tables(text), *_find_html_tables(text)], key=lambda table: table.start)
    starts = [start for start, _ in fences]
    return [table for table in found if not _is_inside(table.start, starts, fences)]


def list_headers(passages: Sequence[Passage]) -> list[str]:
    """The header row that each passage lacks: of the table whose rows it begins with; "" for all others."""
    tables = find_tables("".join(passage.text for passage in passages))
    starts = [table.start for table in tables]
    first = passages[0].start if passages else 0
    headers: list[str] = []
    for start in (passage.start - first for passage in passages):
        at = bisect_right(starts, start - 1) - 1
        headers.append(tables[at].header if at >= 0 and start < tables[at].end else "")
    return headers


def _is_inside(position: int, starts: Sequence[int], ranges: Sequence[tuple[int, int]]) -> bool:
    at = bisect_right(starts, position) - 1
    return at >= 0 and position < ranges[at][1]


def _find_fences(text: str) -> Iterator[tuple[int, int]]:
    opened = ""
    start = 0
    for line in _LINE.finditer(text):
        mark = _FENCE.match(text, line.start(), line.end())
        if opened and mark and mark.group(1).startswith(opened) and not text[mark.end() : line.end()].strip():
            yield start, line.end()
            opened = ""
        elif not opened and mark:
            opened, start = mark.group(1), line.start()
    if opened:
        yield start, len(text)


def _find_pipe_tables(text: str) -> Iterator[Table]:
    end = 0
    for delimiter in _DELIMITER.finditer(text):
        row = delimiter.group()
        if delimiter.start() < end or not _is_delimiter(row):
            continue
        start = text.rfind("\n", 0, max(0, delimiter.start() - 1)) + 1
        header = text[start : delimiter.start()]
        if start < delimiter.start() and "|" in header and _count_cells(header) >= _count_cells(row):
            rows = _skip_line(text, delimiter.end())
            end = _find_table_end(text, rows)
            yield Table(start, rows, end, _clean_header(_PREFIX.sub("", header, count=1).split("|")))


def _is_delimiter(row: str) -> bool:
    return ("-" in row or "=" in row) and ("|" in row or row.count("+") > 1)


def _count_cells(row: str) -> int:
    return len(re.split(r"[|+]", row.strip(" \t\r\n>|+")))


def _skip_line(text: str, position: int) -> int:
    match = _LINE.match(text, position)
    return match.end() if match else position


def _find_table_end(text: str, position: int) -> int:
    """The rows of a table end at a blank line, a heading or a fence; a row may lack pipes."""
    while position < len(text):
        line = _LINE.match(text, position)
        content = _PREFIX.sub("", line.group(), count=1) if line else ""
        if line is None or not content.strip() or content.startswith(("# ", "## ", "### ", "```", "~~~")):
            break
        position = line.end()
    return position


def _find_html_tables(text: str) -> Iterator[Table]:
    position = 0
    while opening := _TABLE.search(text, position):
        closing = _TABLE_END.search(text, opening.end())
        if closing is None:
            # Looking for each of many ends that are missing would take the square of the text.
            return
        position = closing.start()
        head = _HEAD.search(text, opening.end(), closing.start())
        row_end = _ROW_END[head.group().lower()].search(text, head.end(), closing.start()) if head else None
        if head and row_end:
            header = _clean_header(_CELL.split(text[head.end() : row_end.start()])[1:])
            if header:
                yield Table(opening.start(), row_end.end(), closing.start(), header)


def _clean_header(cells: Iterable[str]) -> str:
    """The cells of a header row that are not empty, without tags, cut to `HEADER_BYTES` between words."""
    plain = (" ".join(_TAG.sub(" ", cell).split()) for cell in cells)
    header = " | ".join(cell for cell in plain if cell)
    data = header.encode("utf-8", "surrogatepass")
    if len(data) <= HEADER_BYTES:
        return header
    cut = data[:HEADER_BYTES].decode("utf-8", "ignore")
    return (cut.rpartition(" ")[0] or cut).rstrip(" |")
