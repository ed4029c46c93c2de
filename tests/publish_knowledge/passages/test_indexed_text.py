"""What a passage is embedded and indexed as: its text under its title and heading path."""

from __future__ import annotations

import pytest

from publish_knowledge.passages.indexed_text import build_embedded_text, build_indexed_terms, join_headings
from publish_knowledge.passages.splitting import split_text


@pytest.mark.parametrize(
    ("text", "title", "first_line"),
    [
        ("# Install\n\nx\n\n## Linux\n\nUse it.\n", "Manual", "Manual > Install > Linux"),
        ("# Install\n\nUse it.\n", "Install", "Install"),
        ("# A\n\nx\n\n## B\n\ny\n", "A", "A > B"),
        ("No heading.\n", "A", "A"),
    ],
)
def test_the_embedded_text_starts_with_title_and_heading_path(text: str, title: str, first_line: str) -> None:
    passage = split_text(text, "markdown")[-1]
    assert build_embedded_text(title, passage) == f"{first_line}\n{passage.text}"


def test_a_heading_that_only_starts_like_the_title_is_another_one() -> None:
    assert join_headings("Install", "Installing > Linux") == "Install > Installing > Linux"


def test_the_indexed_terms_are_stemmed_in_the_language_of_the_text() -> None:
    (passage,) = split_text("Zahlungen folgen.\n", "markdown")
    assert build_indexed_terms("Erstattungen", "de", passage).split() == ["erstatt", "zahlung", "folg"]


@pytest.mark.parametrize(("language", "parts"), [("de", ["krank", "versicher"]), ("en", [])])
def test_only_german_texts_have_the_parts_of_compounds_among_their_terms(language: str, parts: list[str]) -> None:
    (passage,) = split_text("Krankenversicherung", "plain")
    terms = build_indexed_terms("", language, passage).split()
    assert terms[1:] == parts
