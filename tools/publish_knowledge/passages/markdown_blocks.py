"""The block structure of a text: its top-level blocks in order, from a Markdown parser or from blank lines.

Only blocks are parsed, in time linear in the text: link definitions and tables, whose parsing can grow faster than the
text, stay paragraphs. A Markdown text of more than `MAX_LINES` lines is treated as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from knowledge.search.unreadable import leave_out_unreadable

TextKind = Literal["markdown", "plain"]
"""How a text is read: plain text has no headings, lists and tables."""

BlockKind = Literal["heading", "prose", "lines", "list", "unreadable"]

MAX_LINES: Final = 200_000
"""Lines of Markdown that are parsed: 10 MB of ordinary text, and seconds at worst for a hostile one."""

MAX_HEADING_CHARS: Final = 160
"""A heading path precedes the text of each of its passages: longer ones would crowd out the text."""

_HTML_TITLE_CHARS: Final = 2_000
"""A heading with its tags and attributes; a longer one is text."""

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_ANCHOR: Final = re.compile(r"\s*\{:?\s*[#.][^{}]*\}\s*$")
_MARKUP: Final = re.compile(r"[\\`*_\[\]<>&!~]")
_HTML_HEADING: Final = re.compile(r"<h([1-6])(?:\s[^<>]*)?>", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]*>")
_TABLE: Final = re.compile(r"[ ]{0,3}\||[^\n]{0,1000}\n[ ]{0,3}:?-+:?[ ]*\|")
_KINDS: Final[dict[str, BlockKind]] = {
    "heading_open": "heading",
    "fence": "lines",
    "code_block": "lines",
    "html_block": "lines",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
}


@dataclass(frozen=True, slots=True)
class Block:
    """`text[start:end]`, with the blank lines after it.

    `level` and `title` belong to headings, and to HTML with a heading in it; `items` are the starts of a list's items.
    """

    start: int
    end: int
    kind: BlockKind = "prose"
    level: int = 0
    title: str = ""
    items: tuple[int, ...] = ()


def parse_blocks(text: str, kind: TextKind) -> Iterator[Block]:
    """Blocks that tile the text; none for an empty one."""
    if kind == "markdown" and text.count("\n") + text.count("\r") <= MAX_LINES:
        return _parse_markdown(text)
    return _split_paragraphs(text)


@lru_cache(maxsize=1_024)
def clean_heading(raw: str) -> str:
    """A heading without markup and `{ #anchor }`, on one line, shortened."""
    source = _ANCHOR.sub("", leave_out_unreadable(raw[: 4 * MAX_HEADING_CHARS]))
    return shorten_title(_strip_markup(source) if _MARKUP.search(source) else source)


def shorten_title(title: str) -> str:
    """One line of at most `MAX_HEADING_CHARS` characters, cut between words where there are any."""
    line = " ".join(title.split())
    if len(line) <= MAX_HEADING_CHARS:
        return line
    head = line[: MAX_HEADING_CHARS - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head) + "…"


def _strip_markup(raw: str) -> str:
    (inline,) = _load_inline_parser().parseInline(raw)
    return "".join(_get_visible_text(token) for token in inline.children or ())


def _get_visible_text(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return "" if token.type == "html_inline" else token.content


def _split_paragraphs(text: str) -> Iterator[Block]:
    """Paragraphs: each starts at a non-blank line that follows a blank one."""
    start, line, blank_before = 0, 0, False
    while line < len(text):
        match = _LINE_END.search(text, line)
        following = match.end() if match else len(text)
        blank = text[line:following].isspace()
        if blank_before and not blank:
            yield Block(start, line)
            start = line
        line, blank_before = following, blank
    if text:
        yield Block(start, len(text))


def _parse_markdown(text: str) -> Iterator[Block]:
    lines = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]
    tokens = _load_block_parser().parse(text)
    starts = [position for position, token in enumerate(tokens) if token.level == 0 and token.map]
    for number, position in enumerate(starts):
        following = starts[number + 1] if number + 1 < len(starts) else len(tokens)
        start = lines[_get_first_line(tokens[position])] if number else 0
        end = lines[_get_first_line(tokens[following])] if following < len(tokens) else len(text)
        yield _build_block(text, (start, end), tokens[position:following], lines)
    if text and not starts:
        yield Block(0, len(text))


def _get_first_line(token: Token) -> int:
    return token.map[0] if token.map else 0


def _build_block(text: str, span: tuple[int, int], tokens: Sequence[Token], lines: Sequence[int]) -> Block:
    kind = _KINDS.get(tokens[0].type, "prose")
    if kind == "heading":
        return Block(*span, kind, int(tokens[0].tag[1:]), clean_heading(tokens[1].content))
    if kind == "list":
        items = tuple(
            lines[_get_first_line(token)] for token in tokens if token.type == "list_item_open" and token.level == 1
        )
        return Block(*span, kind, items=items)
    if tokens[0].type == "html_block":
        return _build_html_block(span, tokens[0].content)
    return Block(*span, "lines" if kind == "prose" and _TABLE.match(text, *span) else kind)


def _build_html_block(span: tuple[int, int], html: str) -> Block:
    """A heading where an `<h1>` to `<h6>` is all that can be read in the block; lines, with its title, otherwise."""
    opening = _HTML_HEADING.search(html)
    end = html.lower().find(f"</h{opening[1]}", opening.end()) if opening else -1
    if opening is None or end < 0:
        return Block(*span, "lines")
    title = clean_heading(_TAG.sub("", html[opening.end() : end][:_HTML_TITLE_CHARS]))
    rest = _TAG.sub("", html[: opening.start()] + html[end:])
    is_heading = bool(title) and not rest.strip()
    return Block(*span, "heading" if is_heading else "lines", int(opening[1]), title)


@cache
def _load_block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.block.ruler.disable("reference")
    return parser


@cache
def _load_inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")
