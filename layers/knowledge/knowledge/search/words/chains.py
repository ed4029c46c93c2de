"""The terms of a chain: its pieces, and the runs of pieces by which a part of an identifier is found.

A run's term is the same for every spelling of the same thing: letters lose the signs between them (`snake_case`,
`snakeCase`, `Snake-Case`), digits keep theirs (`3.11`, `17:00`, `2021-45046`), so that no number is found in another.
A run never begins inside a dotted number: `1.1` is not in `2.1.1`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from knowledge.search.words.folding import fold
from knowledge.search.words.normalization import list_marks
from knowledge.search.words.tokens import MAX_CHAIN_PIECES, MAX_PIECE_CHARS

_ALL_RUNS: Final = 8
"""Chains of so many pieces are found by every run of theirs."""
_LONG_RUN: Final = 4
"""Longest run in a longer chain, apart from the whole."""
_MANY: Final = 16
"""Chains of more pieces are found by pairs of pieces and as a whole: their terms stay below four times their length."""
_MOST_ENDS: Final = 3
"""Ends of a dotted name that are found by themselves, besides the whole."""
_MOST_FOLDERS: Final = 6
"""Beginnings of a path that are found by themselves."""
_MOST_CHANGES: Final = 5
"""A word with more changes between letters and digits is a digest or a key: one piece."""

_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CAPITALS_PLURAL: Final = re.compile(r"[A-Z]{2,}s")
_GROUPED: Final = (
    re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"),
    re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?"),
    re.compile(r"\d{1,3}(?:'\d{3})+(?:[.,]\d+)?"),
)
_ASCII_PARTS: Final = re.compile("[0-9]+|[A-Za-z]+")
_CONSTANT: Final = re.compile(r"[A-Z]_[A-Z]")
_CODE_SIGNS: Final = re.compile(r"[+#@\\&]|(?<=\w)(?:\.|::)(?=\w)")
_TIME: Final = re.compile(r"(?<=\d)[Tt](?=\d\d:)")
"""Between a date and a time."""
_SCHEME: Final = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]{1,19}://|(?:mailto|tel):)(?=.)")
"""The scheme of an address, which is found with and without it."""
_KEPT_SIGNS: Final = re.compile(r"[+#]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """Letters or digits of a chain.

    `joint` stands before the piece in a run's term, `sign` in the chain: a slash before a file's name, a dot before its
    ending. `inside` says that it continues the number before it. `word` counts the words of the chain: pieces of one
    word have no sign between them, or an underscore.
    """

    text: str
    digits: bool
    joint: str
    inside: bool
    word: int
    sign: str


def split_chain(chain: str) -> list[Piece]:
    """The pieces of a chain, `MAX_CHAIN_PIECES` at most."""
    pieces: list[Piece] = []
    connector = ""
    number = 0
    for match in _load_words(ascii_only=chain.isascii()).finditer(_TIME.sub(" ", chain)):
        connector, word = match["connector"], match["word"]
        number += connector != "_"
        for at, text in enumerate(_split_word(word)):
            digits = text.isdecimal()
            both = bool(pieces) and pieces[-1].digits and digits
            joint = _join_with("" if at else connector, numbers=both)
            pieces.append(
                Piece(
                    text[:MAX_PIECE_CHARS],
                    digits,
                    joint if pieces else "",
                    both and joint in ".:,",
                    number,
                    "" if at else connector,
                )
            )
        if len(pieces) >= MAX_CHAIN_PIECES:
            break
    return pieces[:MAX_CHAIN_PIECES]


def join(pieces: list[Piece]) -> str:
    """The term of a run."""
    return fold(pieces[0].text) + "".join(piece.joint + fold(piece.text) for piece in pieces[1:])


def join_name(pieces: list[Piece]) -> str:
    """The term of a file's name, which keeps its dots: `car.t` is not the word `cart`."""
    return fold(pieces[0].text) + "".join(
        ("." if piece.sign == "." else piece.joint) + fold(piece.text) for piece in pieces[1:]
    )


def list_runs(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """The runs of two and more pieces that find the chain, the whole last."""
    count = len(pieces)
    longest = count if count <= _ALL_RUNS else _LONG_RUN if count <= _MANY else 2
    for start in range(count - 1):
        if _may_begin(pieces, start):
            for end in range(start + 2, min(start + longest, count) + 1):
                if (start, end) != (0, count) and _may_end(pieces, start, end):
                    yield pieces[start:end]
    if count > 1:
        yield pieces


def _may_begin(pieces: list[Piece], start: int) -> bool:
    """At a word's first piece, or at a number after its name: at the 3 of `python3.11`, not at the 1 of `2.1.1`."""
    piece = pieces[start]
    return start == 0 or (not piece.inside and (piece.digits or piece.word != pieces[start - 1].word))


def _may_end(pieces: list[Piece], start: int, end: int) -> bool:
    """At a word's last piece. Letters alone are looked for one by one, or as a constant."""
    run = pieces[start:end]
    if end < len(pieces) and pieces[end].word == pieces[end - 1].word:
        return _ends_inside_word(run, pieces[end])
    if any(piece.digits for piece in run):
        return not any(_joins_letters(before, after) for before, after in itertools.pairwise(run))
    return run[0].word == run[-1].word and all(piece.text.isupper() for piece in run)


def _ends_inside_word(run: list[Piece], after: Piece) -> bool:
    """At an underscore after a number (`utf8mb4_bin`), and at letters after a number with signs: `12:30pm`."""
    if after.sign == "_":
        return any(piece.digits for piece in run) and not run[0].inside
    return not after.digits and run[-1].inside and all(piece.digits for piece in run)


def find_file_name(pieces: list[Piece]) -> list[Piece]:
    """The last name of a path, if it has an ending."""
    slashes = [at for at, piece in enumerate(pieces) if at and piece.sign[-1:] in ("/", "\\")]
    name = pieces[max(slashes, default=0) :]
    return name if any(piece.sign == "." for piece in name[1:]) else []


def list_names(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """The names with a dot inside a path or an address, and the ends of each: `docs.example.com`, `example.com`.

    An address of mail is a name, and what stands behind its `@` is another.
    """
    begins = [0, *(at for at, piece in enumerate(pieces) if at and piece.sign.strip("-_.'+#&"))]
    for begin, end in itertools.pairwise([*begins, len(pieces)]):
        dots = [at for at in range(begin + 1, end) if pieces[at].sign == "." and not pieces[at].inside]
        if not dots or all(piece.digits for piece in pieces[begin:end]):
            continue
        local = begin - 1 if begin and pieces[begin].sign == "@" else begin
        mail = max((at for at in begins if at <= local), default=0)
        yield from (pieces[start:end] for start in dict.fromkeys((mail, begin, *dots[:-1][-_MOST_ENDS:])))


def list_folders(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """The beginnings of a path with more than one slash that end before a slash, the first name left out."""
    slashes = [at for at, piece in enumerate(pieces) if at and piece.sign[:1] in ("/", "\\")]
    yield from (pieces[:end] for end in slashes[1 : 1 + _MOST_FOLDERS])


def _joins_letters(before: Piece, after: Piece) -> bool:
    return before.word != after.word and not before.digits and not after.digits


def read_number(term: str) -> list[str]:
    """Other readings of a number: `25000` of `25,000` and `25.000`, `3.5` of `3,5`."""
    if any(pattern.fullmatch(term) for pattern in _GROUPED):
        whole, *decimals = re.split(r"[.,](?!\d{3}(?:\D|$))", term)
        return [".".join([re.sub(r"\D", "", whole), *decimals])]
    return [term.replace(",", ".")] if term.count(",") == 1 and "." not in term else []


def is_code(chain: str, pieces: list[Piece]) -> bool:
    """Whether the pieces alone mean little: numbers with letters or numbers, constants, signs, files, addresses."""
    numbers = sum(piece.digits for piece in pieces)
    if numbers and len(pieces) > 1:
        return True
    return bool(_CONSTANT.search(chain) or _CODE_SIGNS.search(chain) or chain.count("/") > 1)


def split_scheme(chain: str) -> tuple[str, str]:
    """The scheme of an address, empty where there is none, and the rest: `https://` and `example.com`."""
    match = _SCHEME.match(chain) if ":" in chain else None
    return (match.group(), chain[match.end() :]) if match else ("", chain)


def split_signs(chain: str) -> tuple[str, str]:
    """A chain without the signs at its end, and these: `C` and `++`."""
    body = chain.rstrip("+#")
    return body, chain[len(body) :]


def strip_possessive(chain: str) -> str:
    """A chain without the English ending of a possessive."""
    return chain[:-2] if chain[-2:] in ("'s", "'S") else chain


def _join_with(connector: str, *, numbers: bool) -> str:
    kept = _KEPT_SIGNS.search(connector)
    if kept:
        return kept.group()
    if numbers and connector:
        return connector if connector in ".:," else "'" if connector == "'" else "-"
    return ""


def _split_word(word: str) -> list[str]:
    if word.isdecimal() or _CAPITALS_PLURAL.fullmatch(word):
        return [word]
    if word.isascii():
        parts = _ASCII_PARTS.findall(word)
        return [word] if len(parts) > _MOST_CHANGES else [piece for part in parts for piece in _CAMEL.split(part)]
    parts = _load_parts().findall(word)
    return [word] if len(parts) > _MOST_CHANGES else parts


@lru_cache(maxsize=2)
def _load_words(*, ascii_only: bool) -> re.Pattern[str]:
    letters = "[A-Za-z0-9]" if ascii_only else rf"(?:[^\W_]|[{list_marks()}])"
    return re.compile(rf"(?P<connector>(?:(?!{letters}).)*)(?P<word>{letters}+)", re.DOTALL)


@lru_cache(maxsize=1)
def _load_parts() -> re.Pattern[str]:
    return re.compile(rf"\d+|(?:[^\W\d_]|[{list_marks()}])+")
