"""Numbers beside their unit or their name, and numbers in groups: `16 GB`, `Python 3.11`, `(030) 123-4567`.

A text's are indexed as if they were one word, so that both spellings find each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from knowledge.search.stop_words import STOP_WORDS
from knowledge.search.words.chains import Piece, join, read_number, split_chain
from knowledge.search.words.folding import fold
from knowledge.search.words.tokens import Token

_UNITS: Final = """
b kb mb gb tb pb kib mib gib tib bit kbit mbit gbit bps kbps mbps gbps hz khz mhz ghz v mv kv w mw kw kwh wh ma mah k
am pm m g kg mg μg ug ng t lb lbs oz l ml cl dl m2 m3 mm cm dm km nm μm ft mi s ms ns us μs min h d px pt em rem dpi
fps rpm db c f pa kpa hpa bar mol cal kcal j kj eur usd gbp chf brl jpy mxn
"""
UNITS: Final = frozenset(_UNITS.split())
"""What is joined to a number before it, folded. Not what is mostly a word: `Python 3 in Docker` is about 3."""

_LONG_NUMBER: Final = range(7, 21)
"""Digits of a telephone number, a card or an account, whatever stands between its groups."""

MAX_GROUPS: Final = 7
_MAX_GAP: Final = 3
"""Groups of one number in a text, and signs between two of them."""

_BEGINNINGS: Final = 3
"""Pieces of a number that a name is joined to: `python3` and `python3.11` of `Python 3.11.7`."""

_NUMBER: Final = re.compile(r"[\d./-]+")
_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}(?: \d{3})+")
"""A number whose groups of three digits a space separates."""
_NO_DIGIT: Final = re.compile(r"\D")
_STOP_WORDS: Final = frozenset().union(*STOP_WORDS.values())


def is_gap(between: str) -> bool:
    """Whether a number and its unit may have this between them: a space, or the sign of a degree."""
    return between in (" ", "°", " °")


def join_neighbours(before: str, after: str) -> list[str]:
    """Terms of two chains with one space between them: `16gb` of `16 GB`, and `python3.11` of `Python 3.11`."""
    if not after[0].isdecimal():
        return join_unit(before, after) if before[-1].isdecimal() else []
    name = fold(before)
    if not before.isalpha() or name in _STOP_WORDS:
        return []
    pieces = split_chain(after)
    return [name + join(pieces[:end]) for end in range(1, min(len(pieces), _BEGINNINGS) + 1)]


def join_unit(number: str, unit: str) -> list[str]:
    """The readings of a number with its unit; none where the second chain is no unit."""
    unit = fold(unit)
    if unit not in UNITS:
        return []
    whole = join(split_chain(number))
    return [reading + unit for reading in (whole, *read_number(whole))]


def join_digits(pieces: Sequence[Piece]) -> list[str]:
    """The digits of a number in groups, if they are as many as a telephone number has."""
    return _keep_long("".join(fold(piece.text) for piece in pieces))


def continue_number(groups: Sequence[Token], token: Token, text: str) -> list[Token]:
    """The groups of the number that ends with a token, of which `groups` came before; none if it is no number."""
    if not _NUMBER.fullmatch(token.text):
        return []
    gap = text[groups[-1].end : token.start] if groups else "|"
    continued = len(gap) <= _MAX_GAP and not gap.strip(" ()-/.+")
    return [*groups[1 - MAX_GROUPS :], token] if continued else [token]


def join_groups(groups: Sequence[Token]) -> list[str]:
    """The digits of the numbers that end with the last group: one may begin at any of them."""
    return [number for start in range(len(groups) - 1) for number in _keep_number(groups[start:])]


def _keep_number(groups: Sequence[Token]) -> list[str]:
    digits = _join_group_digits(groups)
    return [digits] if _THOUSANDS.fullmatch(" ".join(group.text for group in groups)) else _keep_long(digits)


def _join_group_digits(groups: Sequence[Token]) -> str:
    """The digits of all groups, without the zero of `+44 (0)20`, which is dialled inside the country alone."""
    return "".join(_NO_DIGIT.sub("", group.text) for at, group in enumerate(groups) if not at or group.text != "0")


def find_long_number(tokens: Sequence[Token], text: str) -> tuple[int, str]:
    """How many of a query's first tokens are one number in groups, and its digits; 0 without a sign that says so.

    The sign is a parenthesis, a plus or a leading zero: other numbers beside each other are several.
    """
    count, digits = 0, ""
    thousands, grouped = 0, ""
    groups: list[Token] = []
    for token in tokens:
        groups = continue_number(groups, token, text)
        if not groups or (count and len(groups) == 1) or len(digits) >= _LONG_NUMBER.stop:
            break
        count, digits = count + 1, _join_group_digits(tokens[: count + 1])
        if _THOUSANDS.fullmatch(text[tokens[0].start : token.end]):
            thousands, grouped = count, digits
    if thousands == count > 0:
        return thousands, grouped
    if count < 2:  # noqa: PLR2004 - groups
        return 0, ""
    written = text[max(0, tokens[0].start - 1) : tokens[count - 1].end].lstrip()
    marked = written[:1] in "+(0" or ")" in written
    return (count, digits) if marked and _keep_long(digits) else (0, "")


def _keep_long(digits: str) -> list[str]:
    return [digits] if len(digits) in _LONG_NUMBER else []
