"""Stop words are found where they make a sentence of a language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.search.analysis import analyze_query
from knowledge.search.stop_words import STOP_WORDS, find_stop_words

QUESTIONS = {
    "en": ("how do i reset the router", {"how", "do", "i", "the"}),
    "es": ("como se cambia la contrasena de mi cuenta", {"como", "se", "la", "de", "mi"}),
    "pt": ("qual e o prazo para a entrega", {"qual", "e", "o", "para", "a"}),
    "de": ("wie lange ist die garantie auf das gerat", {"wie", "ist", "die", "auf", "das"}),
}


@pytest.mark.parametrize("language", QUESTIONS)
def test_a_question_shows_the_stop_words_of_its_language(language: str) -> None:
    question, expected = QUESTIONS[language]
    assert find_stop_words(question.split()) == expected


@pytest.mark.parametrize("keywords", ["die hard", "use of the cache", "", "router", "la casa", "was ist"])
def test_keywords_keep_all_their_words(keywords: str) -> None:
    assert find_stop_words(keywords.split()) == frozenset()


def test_a_word_of_another_language_stays() -> None:
    # `die` and `war` are German stop words; the sentence is English.
    assert find_stop_words(["what", "did", "they", "die", "of", "in", "the", "war"]).isdisjoint({"die", "war"})


def test_languages_that_are_as_likely_both_count() -> None:
    words = ["de", "como", "para"]
    assert all(word in STOP_WORDS["es"] and word in STOP_WORDS["pt"] for word in words)
    assert find_stop_words([*words, "el", "do"]) == {*words, "el", "do"}


@pytest.mark.parametrize("language", STOP_WORDS)
def test_the_lists_are_spelled_as_folded_words_are(language: str) -> None:
    assert all(word.isalpha() and word.isascii() and word.islower() for word in STOP_WORDS[language])


@given(st.lists(st.sampled_from(sorted(set().union(*STOP_WORDS.values()))) | st.text()))
def test_only_words_of_the_query_are_found(words: list[str]) -> None:
    assert find_stop_words(words) <= set(words)


def test_a_question_of_stop_words_alone_is_searched_for_as_it_is() -> None:
    assert len(analyze_query("what is it that we are").words) == 6
