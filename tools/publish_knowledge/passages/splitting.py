"""Split a text into passages: exact slices that tile it, none longer than the schema allows.

A passage never spans a heading, except that headings without a text of their own join what follows them. Inside a
section, blocks are joined up to a target size, kept whole where they fit, and otherwise cut at list items, lines,
sentences, words, or anywhere, in that order. A long run that is unreadable, as a picture in a data URI, is cut off from
the text around it.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter
from typing import Final

from knowledge.search.unreadable import Range, find_unreadable
from knowledge.store.schema import PASSAGE_MAX_CHARS
from publish_knowledge.passages.markdown_blocks import Block, BlockKind, TextKind, parse_blocks

TARGET_CHARS: Final = 500
"""About 125 tokens of English: one thought, well inside what the embedding models read (512 tokens at most)."""

WHOLE_CHARS: Final = 800
"""A list, a table or a piece of code is kept whole up to here: half a table answers no question."""

SMALL_CHARS: Final = 150
"""A smaller piece has too little content to be retrieved by, and joins its neighbour."""

CUT_OFF_CHARS: Final = 500
"""A longer unreadable run has passages of its own, as long as the schema allows: they are stored, but not searched."""

SEPARATOR: Final = " > "

_MIN_AVERAGE_CHARS: Final = 40
_MANY_PASSAGES: Final = 10_000
"""More passages than this, and that short on average, come from lines that only look like headings: such a text is
split as a plain one."""

_SENTENCE: Final = re.compile(r"[.!?…][\"'”’»)\]*_]{0,4}\s+|[。！？．]['\"”’」』）)\]]{0,4}\s*")
_LINE: Final = re.compile(r"\r\n|\n|\r")
_WORD: Final = re.compile(r"\s+")
_AFTER_RUN: Final = re.compile(r"[^\w\s#<]{0,8}[^\S\r\n]*(?:\r?\n\s*)?")
"""What closes a picture or a string, up to the next text; markup and headings belong to what follows."""

_CUTS: Final[dict[BlockKind, tuple[re.Pattern[str], ...]]] = {
    "heading": (_LINE, _SENTENCE, _WORD),
    "prose": (_SENTENCE, _LINE, _WORD),
    "lines": (_LINE, _WORD),
    "list": (_LINE, _SENTENCE, _WORD),
    "unreadable": (),
}
_ZERO_WIDTH_JOINER: Final = "\u200d"
_JOINING: Final = frozenset({_ZERO_WIDTH_JOINER, "\ufe0e", "\ufe0f", *map(chr, range(0x1F3FB, 0x1F400))})


@dataclass(frozen=True, slots=True)
class Passage:
    """`text` is [start, end) of the whole text, in code points; `heading` its heading path, as "Install > Linux"."""

    ordinal: int
    start: int
    end: int
    heading: str
    text: str


@dataclass(slots=True)
class _Section:
    heading: str = ""
    blocks: list[Block] = field(default_factory=list)
    has_text: bool = False


def split_text(text: str, kind: TextKind) -> tuple[Passage, ...]:
    """Passages in order, tiling [0, len(text)); an empty text has one empty passage."""
    if not text:
        return (Passage(0, 0, 0, "", ""),)
    hidden = find_unreadable(text)
    passages = _build_passages(text, parse_blocks(text, kind), hidden)
    if len(passages) > _MANY_PASSAGES and len(text) < _MIN_AVERAGE_CHARS * len(passages):
        return _build_passages(text, parse_blocks(text, "plain"), hidden)
    return passages


def _build_passages(text: str, blocks: Iterable[Block], hidden: Sequence[Range]) -> tuple[Passage, ...]:
    runs = [(start, _find_run_end(text, end)) for start, end in hidden if end - start >= CUT_OFF_CHARS]
    pieces = (
        (start, end, section.heading)
        for section in _group_by_heading(blocks)
        for part in _cut_off_runs(section.blocks, runs)
        for start, end in _split_part(text, part, hidden)
    )
    return tuple(
        Passage(ordinal, start, end, heading, text[start:end]) for ordinal, (start, end, heading) in enumerate(pieces)
    )


def _group_by_heading(blocks: Iterable[Block]) -> Iterator[_Section]:
    """Blocks under one heading path; headings that follow each other directly open one section."""
    section, path = _Section(), list[tuple[int, str]]()
    for block in blocks:
        if block.kind == "heading":
            if section.has_text:
                yield section
                section = _Section()
            path = [*(step for step in path if step[0] < block.level), (block.level, block.title)]
            section.heading = SEPARATOR.join(title for _, title in path if title)
        else:
            section.has_text = True
        section.blocks.append(block)
    yield section


def _find_run_end(text: str, end: int) -> int:
    match = _AFTER_RUN.match(text, end)
    return match.end() if match else end


def _cut_off_runs(blocks: Iterable[Block], runs: Sequence[Range]) -> Iterator[list[Block]]:
    """Blocks between unreadable runs, and each run, or what of it is in one block, as a block of its own."""
    part: list[Block] = []
    for block in blocks:
        start = block.start
        for run in runs[bisect_right(runs, block.start, key=itemgetter(1)) :]:
            first, last = max(run[0], start), min(run[1], block.end)
            if first >= block.end:
                break
            if start < first:
                part.append(replace(block, start=start, end=first))
            if part:
                yield part
            if first < last:
                yield [Block(first, last, "unreadable")]
            start, part = max(start, last), []
        if start < block.end:
            part.append(replace(block, start=start))
    if part:
        yield part


def _split_part(text: str, part: Sequence[Block], hidden: Sequence[Range]) -> Iterator[Range]:
    if part[0].kind == "unreadable":
        edges = [*range(part[0].start, part[0].end, PASSAGE_MAX_CHARS), part[0].end]
        return pairwise(edges)
    return _join_small_end(_split_section(text, part, hidden))


def _join_small_end(pieces: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The same pieces, but a small one joins the piece before it where the passage stays within the schema's limit."""
    pending: tuple[int, int] | None = None
    for piece in pieces:
        if pending and piece[1] - piece[0] < SMALL_CHARS and piece[1] - pending[0] <= PASSAGE_MAX_CHARS:
            pending = (pending[0], piece[1])
        else:
            if pending:
                yield pending
            pending = piece
    if pending:
        yield pending


def _split_section(text: str, blocks: Iterable[Block], hidden: Sequence[Range]) -> Iterator[tuple[int, int]]:
    """Ranges that tile the blocks of one section, each of about `TARGET_CHARS`."""
    start = end = -1
    for block in blocks:
        start = block.start if start < 0 else start
        if block.end - start > TARGET_CHARS and end - start >= SMALL_CHARS:
            yield start, end
            start = block.start
        if block.end - start > WHOLE_CHARS:
            for cut in _find_cuts(text, start, block, hidden):
                yield start, cut
                start = cut
        end = block.end
    if start < end:
        yield start, end


def _find_cuts(text: str, start: int, block: Block, hidden: Sequence[Range]) -> Iterator[int]:
    """Where to cut [start, block.end) so that no piece is longer than `WHOLE_CHARS`."""
    while block.end - start > WHOLE_CHARS:
        start = _move_off_run(_find_next_cut(text, start, block), start, hidden)
        yield start


def _find_next_cut(text: str, start: int, block: Block) -> int:
    """The last end of the best kind within the target size: of a list item, a line, a sentence, a word."""
    low, high = start + SMALL_CHARS, start + TARGET_CHARS
    item = block.items[bisect_right(block.items, high) - 1] if block.items else -1
    if item >= low:
        return item
    for pattern in _CUTS[block.kind]:
        ends = [match.end() for match in pattern.finditer(text, low, high)]
        if ends:
            return _move_off_grapheme(text, ends[-1], start + WHOLE_CHARS)
    return _move_off_grapheme(text, high, start + WHOLE_CHARS)


def _move_off_run(cut: int, start: int, hidden: Sequence[Range]) -> int:
    """Move a cut before the unreadable run that it would split, or else behind it: half of one might seem readable."""
    at = bisect_right(hidden, cut, key=itemgetter(1))
    if at == len(hidden) or not hidden[at][0] < cut < hidden[at][1]:
        return cut
    first, last = hidden[at]
    return first if first - start >= SMALL_CHARS else min(last, start + PASSAGE_MAX_CHARS)


def _move_off_grapheme(text: str, cut: int, limit: int) -> int:
    """Move a cut forward while it would split what a reader sees as one character."""
    while cut < limit and _is_joined(text[cut - 1], text[cut]):
        cut += 1
    return cut


def _is_joined(before: str, after: str) -> bool:
    if before == "\r":
        return after == "\n"
    return after in _JOINING or before == _ZERO_WIDTH_JOINER or unicodedata.combining(after) > 0
