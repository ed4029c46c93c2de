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
    assert len(set(PAIRS)) == len(PAIRS) >= 600


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


@pytest.mark.parametrize(
    ("language", "query", "text"),
    [
        ("fr", "Comment est-ce que je peux annuler les réservations ?", "La réservation est gratuite."),
        ("it", "Come posso cambiare le impostazioni del mio router?", "L'impostazione di base."),
        ("nl", "Hoe kan ik mijn wachtwoorden wijzigen?", "Een wachtwoord is geheim."),
        ("sv", "Hur kan jag ändra inställningarna och vad händer?", "En inställning i menyn."),
        ("ru", "Как изменить настройки и пароли учётных записей?", "Настройка и пароль учётной записи."),
    ],
)
def test_a_question_is_stemmed_in_its_own_language_where_it_is_clear(language: str, query: str, text: str) -> None:
    plural = {"fr": "reservations", "it": "impostazioni", "nl": "wachtwoorden", "sv": "installningarna"}
    terms = set(analyze_text(text, language))
    analyzed = analyze_query(query)
    word = analyzed.words[analyzed.sources.index(plural.get(language, "настроики"))]
    assert terms.intersection(word)


def test_numbers_in_groups_and_long_queries_end_in_time() -> None:
    assert len(analyze_query("1 000 " * 300).terms) <= 320
    assert analyze_query("1 000 000").words == (("1000000",),)
    assert analyze_query("+33 (0)1 23 45 67 89").words == (("33123456789",),)


def test_the_exact_form_of_a_number_has_more_of_its_terms_than_another_reading() -> None:
    (word,) = analyze_query("25.000").words
    exact, other = (set(analyze_text(f"It costs {number} now.", "en")) for number in ("25.000", "25000"))
    assert len(exact.intersection(word)) == 2
    assert len(other.intersection(word)) == 1


def test_a_word_behind_a_number_is_no_unit() -> None:
    assert [word[0] for word in analyze_query("python 3 in docker").words] == ["python", "3", "in", "docker"]
