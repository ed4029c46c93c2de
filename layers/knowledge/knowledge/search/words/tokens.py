"""Cutting a normalized text into tokens: chains of words with signs between them, and runs of unspaced scripts.

A chain is what stands between spaces, such as `RULE-A002`, `process.env.NODE_ENV` or `8:00-17:00`. Its pieces are the
longest parts of one kind, letters or digits; names in camel case are cut as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from knowledge.search.words.normalization import list_marks

UNSPACED: Final = (
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\uff66-\uff9f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u0e01-\u0e4e\u0e81-\u0edf\u1000-\u109f\u1780-\u17d3\u1950-\u19df\u1a20-\u1aad\ua9e0-\ua9fe\uaa60-\uaadf"
    "\ua980-\ua9c0\ua9cf-\ua9d9"  # Thai, Lao, Burmese, Khmer, Tai, Javanese
    "\uac00-\ud7a3"  # Hangul, whose particles follow a word without a blank
    "\U00017000-\U00018cff\U0001b000-\U0001b2ff"  # Tangut, Khitan, Nushu and old kana
)
"""Scripts whose words are not separated by spaces, or not where a search needs it."""

MAX_PIECE_CHARS: Final = 64
"""Longer words are cut, in texts and queries alike: nobody types the rest, and terms stay bounded."""

MAX_CHAIN_PIECES: Final = 64
"""A longer chain is several tokens."""

# A comma joins digits alone.
_CONNECTOR: Final = r"(?:[-_./:+#'@\\&]+|(?<=\d),(?=\d))"
_PREFIXES: Final = r"--|\.|[@$]|§+[ ]?|\[!"


_FIRST_MARK: Final = "\u0300"


class Token(NamedTuple):
    """`text` of a normalized text from `start` on; `sign` precedes it and means something (`--`, `§`, `$`, `.`)."""

    text: str
    start: int
    end: int
    unspaced: bool
    sign: str = ""


def tokenize(text: str) -> Iterator[Token]:
    """Every token of a normalized text, left to right."""
    for match in find_tokens(text):
        yield to_token(match)


def find_tokens(text: str) -> Iterator[re.Match[str]]:
    """The same as matches, which are made faster: `to_token` gives their parts."""
    return _load_pattern(_choose_alphabet(text)).finditer(text)


def is_unspaced(found: str) -> bool:
    """Whether a token is a run of an unspaced script."""
    return not found.isascii() and _load_unspaced().match(found) is not None


def to_token(match: re.Match[str]) -> Token:
    """The token of a match."""
    if match.lastgroup == "unspaced":
        return Token(match.group(), match.start(), match.end(), unspaced=True)
    return Token(match["chain"], match.start(), match.end(), unspaced=False, sign=match["sign"] or "")


def _choose_alphabet(text: str) -> str:
    """A narrow alphabet is matched faster, and spares the list of all marks; a normalized Latin text has none."""
    if text.isascii():
        return "ascii"
    return "latin" if max(text) < _FIRST_MARK else "unicode"


@lru_cache(maxsize=1)
def _load_unspaced() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]")


@lru_cache(maxsize=3)
def _load_pattern(alphabet: str) -> re.Pattern[str]:
    unspaced = r"(?!)"
    if alphabet == "ascii":
        letter, word = "[A-Za-z0-9]", "[A-Za-z0-9]+"
    elif alphabet == "latin":
        letter, word = r"[^\W_]", r"[^\W_]+"
    else:
        letter, unspaced = rf"[^\W_{UNSPACED}]", f"[{UNSPACED}]+"
        word = rf"{letter}+(?:[{list_marks()}]+{letter}*)*"
    return re.compile(
        rf"(?P<unspaced>{unspaced})"
        rf"|(?:(?P<sign>(?<![^\s(\"'`,;|>=]){_PREFIXES})(?={letter}))?"
        rf"(?P<chain>{word}(?:{_CONNECTOR}{word})*(?:\+\+|\#|\+)?)"
    )
