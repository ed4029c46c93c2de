"""Titles of documents that declare none: a first-level heading at the top, else the name of the file."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from publish_knowledge.passages.markdown_blocks import Block, parse_blocks, shorten_title

_TOP_CHARS: Final = 50_000
"""How far down a text its title is searched for."""

_DECORATION_CHARS: Final = 10_000
"""A longer block before a heading is taken for text."""

_DECORATION: Final = re.compile(
    r"""
      <!--.*?-->                             # comments, also of MDX
    | \{/\*.*?\*/\}
    | </?[A-Za-z][^<>]*>                      # tags and components
    | !?\[(?:!?\[[^\[\]]*\]\([^()]*\)|[^\[\]])*\]\([^()]*\)   # images, links and badges
    | ^[ ]{0,3}\[[^\[\]\n]+\]:[^\n]*$         # link definitions
    | ^(?:import|export)[ ][^\n]*$           # of MDX
    | \{%.*?%\} | \{\{.*?\}\}                # shortcodes and templates
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_WORD: Final = re.compile(r"[^\W_]")
_INDEX_NAMES: Final = frozenset(("index", "_index", "readme"))
_PLAIN_NAME: Final = re.compile(r"[^\W\d_]+(?:[-_]+[^\W\d_]+)*")
_HAS_CAPITAL_INSIDE: Final = re.compile(r"[^\W\d_][A-Z]")


def find_title(text: str) -> str:
    """The title of a first-level heading that stands before other text of a Markdown document; "" if there is none.

    Comments, images, badges, lines of links and lines of code that components need may stand before it.
    """
    top = text[:_TOP_CHARS]
    for block in parse_blocks(top, "markdown"):
        if block.title and block.level == 1:
            return block.title
        if not _is_decoration(top, block):
            break
    return ""


def derive_title(path: str) -> str:
    """A file's name made readable; for `index`, `_index` and `README` its folder's, if it has one."""
    pure = PurePosixPath(path)
    name = pure.stem
    if name.lower() in _INDEX_NAMES and pure.parent.name:
        name = pure.parent.name
    return shorten_title(_make_readable(name)) or name


def _is_decoration(text: str, block: Block) -> bool:
    if block.kind == "heading":
        return not block.title
    if block.end - block.start > _DECORATION_CHARS:
        return False
    return not _WORD.search(_DECORATION.sub("", text[block.start : block.end]))


def _make_readable(name: str) -> str:
    """Words instead of `how-to_reset`; a name with digits, points or capitals inside may be an identifier."""
    if _PLAIN_NAME.fullmatch(name) is None or _HAS_CAPITAL_INSIDE.search(name):
        return name
    words = re.sub("[-_]+", " ", name)
    return words[0].upper() + words[1:]
