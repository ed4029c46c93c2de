"""Texts that are as dear to analyze as their length allows, of every kind that a caller or a publisher can write."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

Maker = Callable[[random.Random, int], str]


def _of(*parts: str) -> Maker:
    """Any of some parts, one after the other."""
    return lambda chance, length: "".join(chance.choices(parts, k=length))[:length]


def _range(first: int, last: int, gap: int = 0) -> Maker:
    """Characters of a block, all unlike; with a gap, a space after so many of them."""

    def make(chance: random.Random, length: int) -> str:
        found = [chr(chance.randint(first, last)) + (" " if gap and at % gap == 0 else "") for at in range(length)]
        return "".join(found)[:length]

    return make


def _words(join: str, parts: Sequence[str] = ("ab", "ç", "Zm", "ñá", "x1")) -> Maker:
    """Distinct words with a sign between them."""

    def make(chance: random.Random, length: int) -> str:
        found = (chance.choice(parts) + chr(chance.randint(97, 122)) * chance.randint(0, 2) for _ in range(length))
        return join.join(found)[:length]

    return make


def _numbers(chance: random.Random, length: int) -> str:
    most = chance.choice([3, 8, 16, max(1, length)])
    found = (".".join(str(chance.randint(0, 9)) for _ in range(most)) for _ in range(1 + length // (2 * most)))
    return " ".join(found)[:length]


KINDS: Final[dict[str, Maker]] = {
    "ligatures that become 18 characters": _of("\ufdfa"),
    "ligatures and letters": _of("\ufdfa", "a", "\ufdfa1", "-"),
    "ligatures apart": _of("\ufdfa ", "\ufdfb "),
    "squared words and circled numbers": _range(0x3200, 0x33FF),
    "compatibility forms": _range(0xFB00, 0xFDFB),
    "letters that grow when folded": _of("ß", "ŉ", "ǰ", "ΐ", "ﬃ", "ẞ", "İ", "ᾂ"),
    "Han": _range(0x4E00, 0x4E00 + 600),
    "Han of another plane": _range(0x20000, 0x2A6DF),
    "Han in pieces": _range(0x4E00, 0x9FFF, gap=3),
    "kana": _range(0x3041, 0x30FF),
    "half-width kana with voiced marks": _of("ｶﾞ", "ﾊﾟ", "ｱ", "ｰ"),
    "Thai": _range(0x0E01, 0x0E4E),
    "Khmer and Burmese": _of("ក", "្", "ខ", "ម", "္", "း"),
    "Hangul": _range(0xAC00, 0xD7A3),
    "conjoining Hangul": _of("\u1100", "\u1161", "\u11a8"),
    "Cyrillic and Greek words": _words(" ", ("жд", "Ψω", "йё", "άέ")),
    "Latin words": _words(" "),
    "one word": _of("w"),
    "the same word": _of("pump "),
    "words of two letters": _words(" ", tuple("aeiounstr")),
    "dotted numbers": _numbers,
    "digits": _of(*"0123456789"),
    "letters and digits": _range(0x61, 0x7A),
    "letter, digit, letter": _of("a1", "B2", "ç3", "ж4", "é"),
    "hyphens": _words("-"),
    "colons": _words("::"),
    "slashes": _words("/"),
    "plus signs": _of("+", "a+", "C++ ", "#"),
    "number signs": _words("#"),
    "apostrophes": _words("’", ("l", "d", "o")),
    "signs alone": _of("::", "-", "+", "/", ".", "'"),
    "combining marks of two classes": _of("\u0301", "\u0323", "a\u0301\u0323"),
    "marks without a letter": _of("\u0301", "\u0344", "\u0315"),
    "camel case": _of("aB", "Cd", "XMLHttp", "é", "Ñ"),
    "capitals and underscores": _of("A_", "ERR_", "__", "b_C"),
    "emoji joined": _of("👩\u200d👩\u200d👧", "🏳️\u200d🌈", "🎉", "\ufe0f"),
    "neighbours of surrogates": _of("\ud7ff", "\ue000", "\uf8ff", "\ufffd", "\U0010fffe"),
    "whitespace of many kinds": _of(" ", "\t", "\u00a0", "\u2003", "\u3000", "\u2028", "\r\n", "\u200b", "\x85", "a"),
    "mathematical letters": _range(0x1D400, 0x1D7FF),
    "any character": _range(0x21, 0xD7FF),
}
"""Makers of a text of a length, by kind."""


def make_text(chance: random.Random, kind: str, length: int) -> str:
    """A text of one kind."""
    return KINDS[kind](chance, length)


def make_mixed_text(chance: random.Random, length: int) -> str:
    """A text of up to four kinds."""
    count = chance.randint(1, 4)
    return "".join(make_text(chance, chance.choice([*KINDS]), length // count) for _ in range(count))
