"""German compounds: which words are split, and that the parts are found."""

from __future__ import annotations

import pytest

from knowledge.search.analysis import analyze_query
from publish_knowledge.passages.compounds import split_compound
from publish_knowledge.passages.indexed_text import build_indexed_terms
from publish_knowledge.passages.splitting import split_text


@pytest.mark.parametrize(
    ("word", "tail"),
    [
        ("Krankenversicherung", "versicherung"),
        ("Urlaubsantrag", "antrag"),
        ("Datenbankverbindung", "verbindung"),
        ("KÜHLSCHRANK", "schrank"),
    ],
)
def test_a_compound_is_made_of_two_words(word: str, tail: str) -> None:
    assert split_compound(word)[-1] == tail


@pytest.mark.parametrize("word", ["Haus", "Versicherung", "Gesellschaft", "Freiheiten", "x86_64", "", "Hausx"])
def test_other_words_are_left_whole(word: str) -> None:
    assert split_compound(word) == ()


@pytest.mark.parametrize(("language", "found"), [("de", True), ("en", False)])
def test_a_part_finds_a_german_text_with_the_whole(language: str, found: bool) -> None:  # noqa: FBT001 - a table's column
    (passage,) = split_text("Die Krankenversicherung zahlt.", "plain")
    terms = build_indexed_terms("Tarif", language, passage).split()
    assert bool(set(terms).intersection(analyze_query("Versicherung").terms)) is found
