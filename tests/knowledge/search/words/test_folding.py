"""Folding and stems of single words."""

from __future__ import annotations

import pytest

from knowledge.search.words.folding import STEMMERS, fold, stem_in_all_languages, stem_in_language


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("Größe", "grosse"),
        ("Łódź", "lodz"),
        ("Smørrebrød", "smorrebrod"),
        ("œuvre", "oeuvre"),
        ("İstanbul", "istanbul"),
        ("Đakovo", "dakovo"),
        ("ガイド", "ガイド"),
        ("كِتَابٌ", "كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("٣", "3"),
        ("Ёлка", "елка"),
    ],
)
def test_case_accents_and_vowel_points_are_folded(word: str, folded: str) -> None:
    assert fold(word) == folded


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "servers", "server"),
        ("es", "canciones", "canción"),
        ("pt", "ações", "ação"),
        ("de", "Häuser", "Haus"),
        ("fr", "chevaux", "cheval"),
        ("it", "libri", "libro"),
        ("nl", "boeken", "boek"),
        ("sv", "bilarna", "bil"),
        ("ru", "книги", "книга"),
        ("ar", "الكتاب", "كتاب"),
        ("hi", "किताबें", "किताब"),
        ("ta", "புத்தகங்கள்", "புத்தகம்"),
    ],
)
def test_forms_of_a_word_share_a_stem(language: str, one: str, other: str) -> None:
    assert set(stem_in_language(one, language)) & set(stem_in_language(other, language))


@pytest.mark.parametrize("language", sorted(STEMMERS))
@pytest.mark.parametrize("word", ["running", "maison", "böcker", "книга", "كتاب", "किताब"])
def test_a_query_finds_its_own_word_in_a_text_of_any_language(language: str, word: str) -> None:
    assert set(stem_in_all_languages(word)) & set(stem_in_language(word, language))


def test_a_known_language_adds_its_stems_to_those_of_a_query() -> None:
    assert stem_in_all_languages("impostazioni", "it")[-1] == "impost"
    assert stem_in_all_languages("impostazioni", "ja") == stem_in_all_languages("impostazioni")
