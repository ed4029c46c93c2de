"""Labels: what would change a terminal, a table or the order of text is shown instead of obeyed."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest

from knowledge.labels import escape_json, make_lines_visible, make_visible


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("red \x1b[31mtitle\x1b[0m", r"red \x1b[31mtitle\x1b[0m"),
        ("\x1b]0;window\x07", r"\x1b]0;window\x07"),
        ("eight bits \x9b31m", r"eight bits \x9b31m"),
        ("two\nlines\r\n", r"two\nlines\r\n"),
        ("tab\tnull\x00delete\x7f", r"tab\tnull\x00delete\x7f"),
        ("next\x85line\u2028paragraph\u2029", r"next\x85line\u2028paragraph\u2029"),
        ("invoice\u202efdp.exe\u2066x\u2069\u200f", r"invoice\u202efdp.exe\u2066x\u2069\u200f"),
        ("\ufeffmark sup\u200bport", r"\ufeffmark sup\u200bport"),
        ("bytes \udcff", r"bytes \udcff"),
        ("tag \U000e0041", r"tag \U000e0041"),
    ],
)
def test_controls_are_shown_as_escapes(label: str, shown: str) -> None:
    assert make_visible(label) == shown


@pytest.mark.parametrize(
    "label", ["Ñandú: ¿qué?", "漢字 かな", "می‌خواهم", "👩‍👩‍👧 family", "e\u0301", r"C:\notes\a", "a\u00a0b", ""]
)
def test_what_people_write_stays_as_it_is(label: str) -> None:
    assert make_visible(label) == label


def test_line_ends_and_tabs_of_a_text_stay() -> None:
    assert make_lines_visible("a\x1b\r\n\tb\rc\n\n") == "a\\x1b\n\tb\\rc\n\n"


def test_json_keeps_its_values_and_holds_no_control() -> None:
    # Apart, because JSON joins the escapes of two surrogates.
    every = " ".join(map(chr, range(sys.maxunicode + 1)))
    document = escape_json(json.dumps({every[:200]: every}, ensure_ascii=False))
    assert make_visible(document) == document
    assert json.loads(document) == {every[:200]: every}


def test_no_control_separator_or_surrogate_of_unicode_is_left() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    left = {unicodedata.category(character) for character in make_visible(every)}
    assert left.isdisjoint({"Cc", "Cs", "Zl", "Zp"})
    directions = {unicodedata.bidirectional(character) for character in make_visible(every)}
    assert directions.isdisjoint({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
