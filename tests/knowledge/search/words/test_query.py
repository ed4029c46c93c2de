"""Queries: what each word looks for, over pairs of queries and texts and their near misses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.search.words.query import analyze_query
from knowledge.search.words.text import analyze_text
from tests.knowledge.search.words.pairs import PAIRS, Pair

NAMES = [f"{at} {pair.query}" for at, pair in enumerate(PAIRS)]


def test_there_are_pairs_enough() -> None:
    assert len(set(PAIRS)) == len(PAIRS) >= 280


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_every_word_of_a_query_finds_its_text(pair: Pair) -> None:
    terms = set(analyze_text(pair.text, pair.language))
    assert all(terms.intersection(word) for word in analyze_query(pair.query).words)


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_no_word_of_a_near_miss_finds_the_text(pair: Pair) -> None:
    terms = set(analyze_text(pair.text, pair.language))
    assert not terms.intersection(analyze_query(pair.near_miss).terms)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("How do I reach IT?", {"reach", "it"}),
        ("What does the WHO say", {"who", "say"}),
        ("WHAT IS THE COLOUR", {"colour"}),
        ("to be or not to be", {"to", "be", "or", "not"}),
        ("What is the fee?", {"fee"}),
    ],
)
def test_names_in_capitals_are_no_function_words(query: str, words: set[str]) -> None:
    assert {word[0] for word in analyze_query(query).words} == words


@given(st.text(max_size=300))
def test_any_query_gives_distinct_terms_without_white_space(query: str) -> None:
    terms = analyze_query(query).terms
    assert len(terms) == len(set(terms))
    assert all(term.split() == [term] for term in terms)
