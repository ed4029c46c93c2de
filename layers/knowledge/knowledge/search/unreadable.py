"""Text that nobody reads or searches for: pictures in data URIs, base64, keys, hex dumps, minified code.

It stays in the text, but has no terms, vectors or excerpts: a picture of 300 kB would be 600 passages of noise that
match anything. What people do search for stays: words of any length and script, paths, URLs, hashes and identifiers of
up to `IDENTIFIER_CHARS`, lists of them, JSON.

All patterns are linear: repeats are possessive, and a run is tried at its first character only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

IDENTIFIER_CHARS: Final = 128
"""The longest hash in use has so many hexadecimal digits (SHA-512); longer runs are data."""

Range = tuple[int, int]
"""[start, end) in code points."""

_ALWAYS_CHARS: Final = 1_000
"""A run of so many characters without whitespace is no word, path or name, whatever it looks like."""

_PAYLOAD_CHARS: Final = 64
"""A shorter data URI is an example of one."""

_CODE_LINE_CHARS: Final = 500
_CODE_SPACES: Final = 0.03
_CODE_SIGNS: Final = 0.02
"""Minified code by its long lines: few spaces, many of `();=`. Prose has spaces above 0.11, JSON and minified HTML have
fewer signs or more spaces; scripts and style sheets measured have spaces below 0.025 and signs above 0.03."""

_NOISE_PIECE_CHARS: Final = 3.0
"""Mean length of the words and numbers in a run: 4 and more in names and paths, 2 in base64 and hexadecimal."""

_HEX_LETTERS: Final = 0.1
"""Share of bytes with a letter that tells a hex dump from a table of numbers; about 0.6 in most dumps."""

_CODE: Final = r"[A-Za-z0-9+/=_.%-]"
_BASE64: Final = r"[A-Za-z0-9+/=_-]"
_DATA_URI: Final = re.compile(
    r"(?<![\w-])data:(?:[\w.+-]{1,64}/[\w.+-]{1,64})?(?:;[\w.=+-]{1,64}){0,8},", re.ASCII | re.IGNORECASE
)
_BASE64_PAYLOAD: Final = re.compile(r"[A-Za-z0-9+/=_%-]*+")
_PAYLOADS: Final = {
    **{quote: re.compile(rf"[^{quote}\r\n]*+") for quote in "\"'`"},
    "(": re.compile(r"(?:[^\s<>()]|\([^\s<>()]*+\))*+"),
    "": re.compile(r"[^\s\"'`<>)]*+"),
}
_DRAWING_END: Final = "</svg>"
_DRAWING_CHARS: Final = 20_000
"""How far the end of a drawing that is neither quoted nor encoded is searched for."""

_RUN: Final = re.compile(rf"(?<!{_CODE}){_CODE}{{{IDENTIFIER_CHARS + 1},}}+")
_SEGMENT: Final = re.compile(rf"[^/]{{{IDENTIFIER_CHARS + 1},}}+")
_BEGIN: Final = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,64})-----")
_WRAPPED: Final = re.compile(  # lines of base64, quoted perhaps, as in a mail, a key, or strings of a program
    rf"""(?m)^(?:[ \t>"'(]*+{_BASE64}{{56,}}+["'+\\,;) \t]*+\r?\n){{2,}}+(?:[ \t>"'(]*+{_BASE64}++["'+\\,;) \t]*+$)?+"""
)
_ENCODED_LINES: Final = re.compile(  # uuencode; Intel HEX and S-records; Git's binary patches
    r"(?m)^(?:M[ -`]{60}\r?\n){3,}+|^(?:(?::|S\d)[0-9A-F]{10,}+\r?\n){3,}+|^(?:z[!-~]{56,}+\r?\n){3,}+"
)
_HEX_LINES: Final = re.compile(
    r"(?m)^(?:[ \t|>]*+(?:(?:0x)?[0-9A-Fa-f]{4,16}+:?[ \t]++)?+"
    r"(?:(?:[0-9A-Fa-f]{2}[ \t:]++){8,}+|(?:[0-9A-Fa-f]{4}(?:[0-9A-Fa-f]{4})?[ \t]++){4,}+)[^\r\n]{0,80}+\r?\n){3,}+"
)
_HEX_BYTES: Final = re.compile(
    r"(?<![\w:-])(?:[0-9A-Fa-f]{2}[ :,-]){65,}+|(?:0x[0-9A-Fa-f]{1,2}[,;\s]\s*+){32,}+|(?:\\x[0-9A-Fa-f]{2}){32,}+"
)
_DRAWING: Final = re.compile(r"""(?<=[ st](?:d|s)=["'])[-+MmLlHhVvCcSsQqTtAaZzEe0-9.,\s]{129,}+""")
_LONG_LINE: Final = re.compile(rf"(?m)^[^\r\n]{{{_CODE_LINE_CHARS},}}+")
_PIECE: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_HASH: Final = re.compile(r"(?:[0-9A-Fa-f]{56}|[0-9A-Fa-f]{64}|[0-9A-Fa-f]{96}|[0-9A-Fa-f]{128})")
_FINGERPRINT: Final = re.compile(
    r"(?:[0-9A-Fa-f]{2}:){15}(?:(?:[0-9A-Fa-f]{2}:){4}|(?:[0-9A-Fa-f]{2}:){16})?[0-9A-Fa-f]{2}\s"
)
_HEX_NUMBER: Final = re.compile(r"(?<![xX])[0-9A-Fa-f]{2,}+|(?<=[xX])[0-9A-Fa-f]++")
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_WORD: Final = re.compile(r"\w")
_SPACE: Final = re.compile(r"\s")


def find_unreadable(text: str) -> list[Range]:
    """Ranges of a text that are unreadable, in order, apart from each other."""
    if len(text) <= _PAYLOAD_CHARS:
        return []
    found: list[Range] = []
    for start, end in sorted(one for rule in _RULES for one in rule(text)):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def leave_out_unreadable(text: str) -> str:
    """The text without its unreadable runs."""
    edges = [0, *(edge for hidden in find_unreadable(text) for edge in hidden), len(text)]
    return "".join(text[start:end] for start, end in list(pairwise(edges))[::2])


def find_readable(text: str) -> list[Range]:
    """Ranges between the unreadable ones that hold a word; none of them is empty."""
    ends = [0, *(edge for hidden in find_unreadable(text) for edge in hidden), len(text)]
    return [(start, end) for start, end in list(pairwise(ends))[::2] if _WORD.search(text, start, end)]


def _find_data_uris(text: str) -> Iterator[Range]:
    position = 0
    while match := _DATA_URI.search(text, position):
        position = _find_payload_end(text, match)
        if position - match.end() >= _PAYLOAD_CHARS:
            yield match.start(), position
        position = max(position, match.end())


def _find_payload_end(text: str, uri: re.Match[str]) -> int:
    if uri.group().lower().endswith(";base64,"):
        payload = _BASE64_PAYLOAD
    else:
        payload = _PAYLOADS.get(text[uri.start() - 1] if uri.start() else "", _PAYLOADS[""])
    match = payload.match(text, uri.end())
    end = match.end() if match else uri.end()
    if text.startswith("<svg", end):
        close = text.find(_DRAWING_END, end, end + _DRAWING_CHARS)
        end = close + len(_DRAWING_END) if close > 0 else end
    return end


def _find_runs(text: str) -> Iterator[Range]:
    for match in _RUN.finditer(text):
        if match.group().startswith("//"):
            # A URL is read part by part: a long key in it does not hide the host and the path.
            parts = _SEGMENT.finditer(text, *match.span())
            yield from (part.span() for part in parts if _is_noise(part.group()))
        elif _is_noise(match.group()) or _is_endless(match.group()):
            yield match.span()


def _find_keys(text: str) -> Iterator[Range]:
    position = 0
    while match := _BEGIN.search(text, position):
        end = text.find(f"-----END {match.group(1)}-----", match.end())
        position = match.end()
        if end < 0:
            # Looking for each of many ends that are missing would take the square of the text.
            return
        if _is_noise(text[match.end() : end]):
            yield match.end(), end
            position = end


def _find_wrapped_lines(text: str) -> Iterator[Range]:
    for match in _WRAPPED.finditer(text):
        words = match.group().split()
        if not all(_HASH.fullmatch(word.strip("\"'+\\,;()>")) for word in words[:2]) and _is_noise(match.group()):
            yield match.span()


def _find_encoded_lines(text: str) -> Iterator[Range]:
    return (match.span() for match in _ENCODED_LINES.finditer(text) if _is_noise(match.group()))


def _find_hex_dumps(text: str) -> Iterator[Range]:
    for pattern in (_HEX_LINES, _HEX_BYTES):
        for match in pattern.finditer(text):
            if not _FINGERPRINT.match(match.group()) and _has_hex_letters(match.group()):
                yield match.span()


def _find_drawings(text: str) -> Iterator[Range]:
    return (match.span() for match in _DRAWING.finditer(text))


def _find_minified_lines(text: str) -> Iterator[Range]:
    return (match.span() for match in _LONG_LINE.finditer(text) if _is_minified(match.group()))


def _is_noise(run: str) -> bool:
    """Whether letters and numbers alternate as in no language."""
    pieces = _PIECE.findall(run)
    return sum(map(len, pieces)) < _NOISE_PIECE_CHARS * len(pieces)


def _has_hex_letters(dump: str) -> bool:
    numbers = _HEX_NUMBER.findall(dump)
    return sum(not number.isdecimal() for number in numbers) >= _HEX_LETTERS * len(numbers)


def _is_endless(run: str) -> bool:
    return len(run) >= _ALWAYS_CHARS and _has_letters(run)


def _has_letters(run: str) -> bool:
    """Whether it is not merely a line that is drawn, or dots that lead to a page number."""
    return 2 * sum(map(len, _PIECE.findall(run))) > len(run)


def _is_minified(line: str) -> bool:
    if sum(map(line.count, "();=")) < _CODE_SIGNS * len(line) or len(_SPACE.findall(line)) > _CODE_SPACES * len(line):
        return False
    return len(_NOT_ASCII.findall(line)) < _CODE_SPACES * len(line) and _has_letters(line)


_RULES: Final[tuple[Callable[[str], Iterator[Range]], ...]] = (
    *(_find_data_uris, _find_runs, _find_keys, _find_wrapped_lines, _find_encoded_lines, _find_hex_dumps),
    *(_find_drawings, _find_minified_lines),
)
