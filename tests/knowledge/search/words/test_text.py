"""Texts: their terms, in every script."""

from __future__ import annotations

import sys
import unicodedata
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.search.words.query import analyze_query
from knowledge.search.words.text import analyze_text


def list_letters() -> dict[str, list[str]]:
    """Letters of all scripts, by the first word of their names."""
    scripts = defaultdict(list)
    for code in range(sys.maxunicode):
        sign = chr(code)
        if unicodedata.category(sign)[0] == "L":
            scripts[unicodedata.name(sign, "UNNAMED").split()[0]].append(sign)
    return {script: letters for script, letters in scripts.items() if len(letters) > 9}


LETTERS = list_letters()


@pytest.mark.parametrize("script", sorted(LETTERS))
@settings(max_examples=10)
@given(data=st.data())
def test_a_word_of_any_script_finds_its_text(script: str, data: st.DataObject) -> None:
    word = data.draw(st.text(st.sampled_from(LETTERS[script]), min_size=2, max_size=8))
    language = data.draw(st.sampled_from(["en", "ja", "ru", "und"]))
    terms = set(analyze_text(f"before {word} after", language))
    assert all(terms.intersection(one) for one in analyze_query(word).words)


@given(st.text(max_size=300), st.sampled_from(["en", "es", "pt", "de", "ja", "fr", "und"]))
def test_terms_never_hold_white_space(text: str, language: str) -> None:
    assert all(term.split() == [term] for term in analyze_text(text, language))


@pytest.mark.parametrize("text", ["1.1." * 500, "a-1-" * 500, "A1" * 1000, "\ufdfa" * 500, "漢" * 2000, "a+" * 1000])
def test_the_terms_of_any_text_stay_in_proportion_to_it(text: str) -> None:
    assert len(" ".join(analyze_text(text, "en"))) <= 8 * len(text) + 256
