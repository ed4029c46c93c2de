"""From a text to its passages: exact slices that tile it, none longer than the schema allows.

A passage never spans a heading, except that headings without a text of their own go with what follows them. Inside a
section blocks are gathered up to a size, kept whole where they fit, and otherwise cut at list items, lines, sentences,
words, or anywhere, in that order.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from knowledge.search.analysis import document_terms
from knowledge.store.schema import PASSAGE_MAX_CHARS
from publish_knowledge.passages import compounds
from publish_knowledge.passages.markdown_blocks import Block, BlockKind, blocks
from publish_knowledge.sources.documents import Document, TextKind

TARGET_CHARS: Final = 500
"""About 125 tokens of English: one thought, well inside what the embedding models read (512 tokens at most)."""

WHOLE_CHARS: Final = 800
"""A list, a table or a piece of code is kept whole up to here: half a table answers no question."""

SMALL_CHARS: Final = 150
"""A smaller piece says too little to be found by, and joins its neighbour."""

SEPARATOR: Final = " > "

_MIN_AVERAGE_CHARS: Final = 40
_MANY_PASSAGES: Final = 10_000
"""More passages than this, and that short on average, are headings gone wild: such a text is split as a plain one."""

_SENTENCE: Final = re.compile(r"[.!?…][\"'”’»)\]*_]{0,4}\s+|[。！？．]['\"”’」』）)\]]{0,4}\s*")
_LINE: Final = re.compile(r"\r\n|\n|\r")
_WORD: Final = re.compile(r"\s+")
_CUTS: Final[dict[BlockKind, tuple[re.Pattern[str], ...]]] = {
    "heading": (_LINE, _SENTENCE, _WORD),
    "prose": (_SENTENCE, _LINE, _WORD),
    "lines": (_LINE, _WORD),
    "list": (_LINE, _SENTENCE, _WORD),
}
_ZERO_WIDTH_JOINER: Final = "\u200d"
_JOINING: Final = frozenset({_ZERO_WIDTH_JOINER, "\ufe0e", "\ufe0f", *map(chr, range(0x1F3FB, 0x1F400))})


@dataclass(frozen=True, slots=True)
class Passage:
    """`text[start:end]` in code points; `heading` is the heading path it stands under, as "Install > Linux"."""

    start: int
    end: int
    heading: str
    ordinal: int


@dataclass(slots=True)
class _Section:
    heading: str = ""
    blocks: list[Block] = field(default_factory=list)
    has_text: bool = False


def split(text: str, kind: TextKind) -> tuple[Passage, ...]:
    """Passages in order, tiling [0, len(text)); an empty text has one empty passage."""
    if not text:
        return (Passage(0, 0, "", 0),)
    found = _passages(text, blocks(text, kind))
    if len(found) > _MANY_PASSAGES and len(text) < _MIN_AVERAGE_CHARS * len(found):
        return _passages(text, blocks(text, "plain"))
    return found


def embedded_text(document: Document, passage: Passage) -> str:
    """What a passage's vector is made from: title and heading path on one line, then its text."""
    return f"{label(document.title, passage.heading)}\n{document.text[passage.start : passage.end]}"


def indexed_terms(document: Document, passage: Passage) -> str:
    """What the full-text index covers: the terms of title, heading path and text, joined by blanks."""
    parts = compounds.parts if document.language == compounds.LANGUAGE else compounds.none
    return " ".join(document_terms(embedded_text(document, passage), document.language, parts))


def label(title: str, heading: str) -> str:
    """Title and heading path as one path; most texts have their title for first heading, and once is enough."""
    if not heading or heading == title or heading.startswith(title + SEPARATOR):
        return heading or title
    return f"{title}{SEPARATOR}{heading}"


def _passages(text: str, found: Iterable[Block]) -> tuple[Passage, ...]:
    pieces = ((piece, section.heading) for section in _sections(found) for piece in _packed(text, section.blocks))
    return tuple(Passage(start, end, heading, ordinal) for ordinal, ((start, end), heading) in enumerate(pieces))


def _sections(found: Iterable[Block]) -> Iterator[_Section]:
    """Blocks under one heading path; headings that follow each other directly open one section."""
    section, path = _Section(), list[tuple[int, str]]()
    for block in found:
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


def _packed(text: str, found: Iterable[Block]) -> Iterator[tuple[int, int]]:
    """Ranges that tile the blocks, gathered to about `TARGET_CHARS`; the last one joins its neighbour if small."""
    held: tuple[int, int] | None = None
    for piece in _gathered(text, found):
        if held and piece[1] - piece[0] < SMALL_CHARS and piece[1] - held[0] <= PASSAGE_MAX_CHARS:
            held = (held[0], piece[1])
        else:
            if held:
                yield held
            held = piece
    if held:
        yield held


def _gathered(text: str, found: Iterable[Block]) -> Iterator[tuple[int, int]]:
    start = end = -1
    for block in found:
        start = block.start if start < 0 else start
        if block.end - start > TARGET_CHARS and end - start >= SMALL_CHARS:
            yield start, end
            start = block.start
        if block.end - start > WHOLE_CHARS:
            for cut in _cuts(text, start, block):
                yield start, cut
                start = cut
        end = block.end
    if start < end:
        yield start, end


def _cuts(text: str, start: int, block: Block) -> Iterator[int]:
    """Where to cut [start, block.end) so that no piece is longer than `WHOLE_CHARS`."""
    while block.end - start > WHOLE_CHARS:
        start = _next_cut(text, start, block)
        yield start


def _next_cut(text: str, start: int, block: Block) -> int:
    """The last and best place within the size wanted."""
    low, high = start + SMALL_CHARS, start + TARGET_CHARS
    item = block.items[bisect_right(block.items, high) - 1] if block.items else -1
    if item >= low:
        return item
    for pattern in _CUTS[block.kind]:
        ends = [match.end() for match in pattern.finditer(text, low, high)]
        if ends:
            return _not_inside_a_character(text, ends[-1], start + WHOLE_CHARS)
    return _not_inside_a_character(text, high, start + WHOLE_CHARS)


def _not_inside_a_character(text: str, cut: int, limit: int) -> int:
    """Move a cut on while it would part what is read as one character."""
    while cut < limit and _joined(text[cut - 1], text[cut]):
        cut += 1
    return cut


def _joined(before: str, after: str) -> bool:
    if before == "\r":
        return after == "\n"
    return after in _JOINING or before == _ZERO_WIDTH_JOINER or unicodedata.combining(after) > 0
