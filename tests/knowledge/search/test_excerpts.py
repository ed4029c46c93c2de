"""Excerpts: exact slices around the words that match."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.search.analysis import analyze_query
from knowledge.search.excerpts import EXCERPT_CHARS, extract_excerpt, extract_readable_excerpt

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


NOISE = "".join(f"a{n % 7}B{n % 10}x" for n in range(120))
ROWS = [f"| X{n:03} | Runs {n * 7} hours on one charge in the cold | {n}.50 EUR |" for n in range(24)]


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        (f"The key is {NOISE} and opens the archive.", "archive", "and opens the archive."),
        (f"The key is {NOISE} and opens the archive.", "key", "The key is"),
        (f"The key is {NOISE}", "nothing of it", "The key is"),
        (f"{NOISE} {NOISE}", "a1b1x", ""),
        ("Nothing is hidden.", "hidden", "Nothing is hidden."),
        ("***", "hidden", "***"),
    ],
)
def test_an_excerpt_shows_no_unreadable_run(text: str, query: str, expected: str) -> None:
    found = extract_readable_excerpt(text, frozenset(analyze_query(query).terms))
    assert found.text == expected
    assert text[found.offset :].startswith(expected)


@pytest.mark.parametrize("row", [0, 11, 23])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_of_a_table_the_row_asked_for_is_shown_whole_with_whole_rows_around_it(row: int, end: str) -> None:
    text = end.join(ROWS)
    found = extract_readable_excerpt(text, frozenset(analyze_query(f"battery of X{row:03} in EUR").terms))
    lines = found.text.splitlines()
    assert ROWS[row] in lines
    assert set(lines) <= set(ROWS)
    assert len(lines) > 5
    assert len(found.text) <= EXCERPT_CHARS
    assert text[found.offset : found.offset + len(found.text)] == found.text


def test_a_row_that_is_longer_than_an_excerpt_is_shown_around_the_match() -> None:
    text = f"| X001 | {FILLER['en'] * 12} Charge it indoors. {FILLER['en'] * 6} |\n| X002 | none |"
    found = extract_readable_excerpt(text, frozenset(analyze_query("charge indoors").terms))
    assert "Charge it indoors." in found.text
    assert len(found.text) <= EXCERPT_CHARS
