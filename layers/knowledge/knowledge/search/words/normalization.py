"""Normalization of a text before its words are cut, with the way back to the places of the original.

Compatibility forms are replaced (NFKC), invisible characters are dropped, hyphens and apostrophes become one character
each, and Markdown's escapes, character entities and simple inline tags are resolved. Case and accents are kept: they
are folded word by word, after stemming.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, repeat
from typing import Final

Part = tuple[str, int, int, bool]
"""A normalized piece of a text, the range that it comes from, and whether it is that range as it stands."""

_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0000-\U000e0fff"
)
"""Soft hyphen, zero-width characters, direction marks, fillers, variation selectors and tags."""

_HYPHENS: Final = "\u058a\u05be\u1400\u1806\u2010-\u2013\u2212\u2e17\u30a0\ufe58\ufe63\uff0d"
"""All hyphens, the minus sign, and the dash of ranges; not the long dash, which stands between two clauses."""

_APOSTROPHES: Final = "\u00b4\u02b9\u02bb\u02bc\u02c8\u02ee\u055a\u05f3\u07f4\u2018\u2019\u201b\u2032\uff07"

_TAGS: Final = "b|big|bdi|code|del|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt|u|var|wbr"

_MARKUP: Final = rf"""
    \\(?P<escaped>[!-/:-@\[-`{{-~])
  | &(?:[A-Za-z][A-Za-z0-9]{{1,31}}|\#[0-9]{{1,7}}|\#[xX][0-9A-Fa-f]{{1,6}});
  | (?<=[\w)\]])(?P<arrow>->)(?=\w)
  | (?<=\d)(?P<times>\u00d7)(?=\d)
  | </?(?:{_TAGS})(?:\s[^<>]{{0,200}})?/?>
  | (?<=[^\W\d_])(?P<broken>[-\u2010\u00ad])[ \t]*(?:\r\n|\n|\r)[ \t>]{{0,20}}(?=[^\W\d_])
"""
"""An escaped sign, an entity, an inline tag, or a hyphen at a line's end inside a word."""

_SHORT_CLUSTER: Final = 4

_MARKUP_SIGNS: Final = re.compile(r"[\\&<\u00d7]|->|[-\u2010\u00ad][ \t]*[\r\n]")


@dataclass(frozen=True, slots=True)
class NormalizedText:
    """A normalized text, and where it comes from: its character n from the original's [starts[n], ends[n])."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def normalize(text: str) -> str:
    """The text with its characters and markup normalized; in time linear in its length."""
    if _MARKUP_SIGNS.search(text):
        text = _load_markup().sub(_resolve_markup, text)
    if text.isascii():
        return text
    if _load_unusual().search(text):
        text = _load_unusual().sub(_replace_unusual, text)
    return text if unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)


def normalize_with_sources(text: str) -> NormalizedText:
    """The same text as `normalize` gives, with the places that its characters come from."""
    expected = normalize(text)
    if expected == text:
        return NormalizedText(text, range(len(text)), range(1, len(text) + 1))
    parts = list(_split_into_parts(text))
    if "".join(replaced for replaced, *_ in parts) != expected:
        # Characters of two parts have composed: one part for all is coarse, but true.
        parts = [(expected, 0, len(text), len(expected) == len(text))]
    starts, ends = list[int](), list[int]()
    for replaced, start, end, exact in parts:
        if exact:
            starts += range(start, end)
            ends += range(start + 1, end + 1)
        else:
            starts += repeat(start, len(replaced))
            ends += repeat(end, len(replaced))
    return NormalizedText(expected, starts, ends)


def _split_into_parts(text: str) -> Iterator[Part]:
    at = 0
    for match in _load_parts().finditer(text):
        if match.start() > at:
            yield text[at : match.start()], at, match.start(), True
        if match["run"] is None:
            yield normalize(_resolve_markup(match)), *match.span(), False
        else:
            yield from _split_run(match["run"], match.start())
        at = match.end()
    if at < len(text):
        yield text[at:], at, len(text), True


def _split_run(run: str, source: int) -> Iterable[Part]:
    replaced, end = normalize(run), source + len(run)
    if replaced == run:
        return [(run, source, end, True)]
    clusters = _load_cluster().findall(run)
    known = {cluster: _normalize_cluster(cluster) for cluster in set(clusters)}
    if "".join([known[cluster] for cluster in clusters]) != replaced:
        return [(replaced, source, end, False)]
    ends = accumulate(map(len, clusters), initial=source)
    return [
        (known[cluster], at, at + len(cluster), known[cluster] == cluster)
        for cluster, at in zip(clusters, ends, strict=False)
    ]


@lru_cache(maxsize=4_096)
def _normalize_short(cluster: str) -> str:
    return normalize(cluster)


def _normalize_cluster(cluster: str) -> str:
    # Only short ones are kept, so that the cache has at most half a megabyte.
    return _normalize_short(cluster) if len(cluster) <= _SHORT_CLUSTER else normalize(cluster)


def _resolve_markup(match: re.Match[str]) -> str:
    if match["escaped"] is not None:
        return match["escaped"]
    if match["arrow"] is not None:
        return "::"
    if match["times"] is not None:
        return "x"
    if match["broken"] is not None:
        return "" if match["broken"] == "\u00ad" else "-"
    found = match.group()
    return html.unescape(found) if found[0] == "&" else ""


def _replace_unusual(match: re.Match[str]) -> str:
    if match["hyphen"] is not None:
        return "-"
    return "'" if match["apostrophe"] is not None else ""


@lru_cache(maxsize=1)
def _load_markup() -> re.Pattern[str]:
    return re.compile(_MARKUP, re.VERBOSE)


@lru_cache(maxsize=1)
def _load_unusual() -> re.Pattern[str]:
    return re.compile(f"(?P<hyphen>[{_HYPHENS}])|(?P<apostrophe>[{_APOSTROPHES}])|[{_INVISIBLE}]+")


@lru_cache(maxsize=1)
def _load_parts() -> re.Pattern[str]:
    # The character before a run beyond ASCII belongs to it: a mark may compose with it.
    return re.compile(rf"{_MARKUP}|(?P<run>[\x00-\x7f]?[^\x00-\x7f]+)", re.VERBOSE)


@lru_cache(maxsize=1)
def _load_cluster() -> re.Pattern[str]:
    # A character with what may compose with it: marks, the vowels and final consonants of Hangul, voiced kana signs.
    return re.compile(rf".[{list_marks()}\u1160-\u11ff\uff9e\uff9f]*", re.DOTALL)


@lru_cache(maxsize=1)
def list_marks() -> str:
    """All combining marks of Unicode that are not dropped, as ranges of a character class."""
    marks = [code for code in range(0x300, 0x20000) if unicodedata.category(chr(code))[0] == "M"]
    known = frozenset(marks)
    first = [code for code in marks if code - 1 not in known]
    last = [code for code in marks if code + 1 not in known]
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in zip(first, last, strict=True))
