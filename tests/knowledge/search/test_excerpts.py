"""Excerpts: exact slices around the words that match."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.search.analysis import analyze_query
from knowledge.search.excerpts import EXCERPT_CHARS, extract_excerpt

FILLER = {
    "en": "The committee met again and nothing much was decided before lunch. ",
    "es": "La comisión volvió a reunirse y no decidió gran cosa antes de comer. ",
    "pt": "A comissão voltou a reunir-se e pouco decidiu antes do almoço. ",
    "de": "Der Ausschuss tagte erneut und entschied vor dem Mittagessen kaum etwas. ",
    "ja": "委員会は再び開かれたが、昼食までにはほとんど何も決まらなかった。",
}
MATCHES = {
    "en": ("Reset the router password with the paper clip.", "router passwords"),
    "es": ("Restablezca la contraseña del enrutador con un clip.", "contrasena enrutador"),
    "pt": ("Redefina a configuração do roteador com um clipe.", "configuracao roteador"),
    "de": ("Setzen Sie das Kennwort der Weiche mit einer Büroklammer zurück.", "Kennwort Büroklammer"),
    "ja": ("紙クリップでルーターの暗証番号を初期化します。", "ルーター 暗証番号"),
}


@pytest.mark.parametrize("language", FILLER)
@pytest.mark.parametrize("before", [0, 9, 40])
def test_the_match_is_inside_and_the_slice_is_exact(language: str, before: int) -> None:
    sentence, query = MATCHES[language]
    text = FILLER[language] * before + sentence + " " + FILLER[language] * 30
    found = extract_excerpt(text, frozenset(analyze_query(query).terms))
    assert text[found.offset : found.offset + len(found.text)] == found.text
    assert len(found.text) <= EXCERPT_CHARS
    assert sentence in found.text


@pytest.mark.parametrize("language", ["en", "es", "pt", "de"])
def test_words_are_not_cut(language: str) -> None:
    sentence, query = MATCHES[language]
    text = FILLER[language] * 11 + sentence + " " + FILLER[language] * 30
    found = extract_excerpt(text, frozenset(analyze_query(query).terms))
    around = text[found.offset - 1] + text[found.offset + len(found.text)]
    assert not any(mark.isalnum() for mark in around)


def test_without_a_match_the_passage_is_shown_from_its_start() -> None:
    text = FILLER["en"] * 30
    assert extract_excerpt(text, frozenset()).offset == 0


@given(st.text(max_size=2000), st.text(max_size=40), st.integers(1, 80))
def test_any_text_gives_an_exact_slice_within_the_limit(text: str, query: str, limit: int) -> None:
    found = extract_excerpt(text, frozenset(analyze_query(query).terms), limit)
    assert len(found.text) <= limit
    assert text[found.offset : found.offset + len(found.text)] == found.text
    assert found.text or not text.strip() or limit < len(text)
