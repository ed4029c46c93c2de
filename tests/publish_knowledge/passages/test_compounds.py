"""German compounds: which words are split, and that the parts are found."""

from __future__ import annotations

import pytest

from knowledge.search.analysis import query_terms, query_words
from publish_knowledge.passages.compounds import parts
from publish_knowledge.passages.splitting import indexed_terms, split
from tests.support.datasets import document


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
    assert parts(word)[-1] == tail


@pytest.mark.parametrize("word", ["Haus", "Versicherung", "Gesellschaft", "Freiheiten", "x86_64", "", "Hausx"])
def test_other_words_are_left_whole(word: str) -> None:
    assert parts(word) == ()


@pytest.mark.parametrize(("language", "found"), [("de", True), ("en", False)])
def test_a_part_finds_a_german_text_with_the_whole(language: str, found: bool) -> None:  # noqa: FBT001 - a table's column
    text = document("a.md", "Die Krankenversicherung zahlt.", language=language)
    terms = {term for passage in split(text.text, text.kind) for term in indexed_terms(text, passage).split()}
    assert bool(terms.intersection(query_terms(query_words("Versicherung")))) is found
