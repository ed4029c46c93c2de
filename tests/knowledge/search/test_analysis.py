"""Words: what a query must find, and must not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.search.analysis import (
    MAX_QUERY_TERMS,
    MAX_QUERY_WORDS,
    MAX_TEXT_GROWTH,
    MAX_WORD_CHARS,
    analyze_query,
    analyze_text,
    tokenize,
)

FOUND = [
    ("en", "The servers were running slowly", "server run"),
    ("en", "Getting ERR_CONN_REFUSED from the proxy", "err_conn_refused"),
    ("en", "call setUserName first", "user name"),
    ("en", "call setUserName first", "setusername"),
    ("en", "speaks HTTP/2 only", "http2"),
    ("en", "written in C++ and C#", "C++"),
    ("en", "the ﬁnal ﬂag", "final flag"),
    ("en", "ＦＵＬＬ width １２３", "full 123"),
    ("es", "la configuración del sistema", "configuracion"),
    ("es", "contraseñas olvidadas", "contrasena olvidada"),
    ("pt", "a configuração das ações", "configuracao acoes"),
    ("pt", "a configurac\u0327a\u0303o pronta", "configuração"),
    ("es", "la sesión", "sesio\u0301n"),
    ("de", "Die Größe der Häuser", "Grosse Haus"),
    ("de", "Straße", "strasse"),
    ("ja", "東京都の天気予報", "天気予報"),
    ("ja", "ルーターを再起動する", "ルーター"),
    ("ja", "ﾙｰﾀｰの設定", "ルーター"),
    ("zh", "数据库连接失败", "数据库"),
]
MISSED = [
    ("en", "written in C++", "C#"),
    ("en", "plain words only", "http2"),
    ("ja", "大阪の天気", "東京"),
    ("de", "Die Größe", "Haus"),
]


def shared_terms(language: str, text: str, query: str) -> list[bool]:
    terms = set(analyze_text(text, language))
    return [bool(terms.intersection(word)) for word in analyze_query(query).words]


@pytest.mark.parametrize(("language", "text", "query"), FOUND)
def test_every_word_of_the_query_finds_the_text(language: str, text: str, query: str) -> None:
    assert all(shared_terms(language, text, query))


@pytest.mark.parametrize(("language", "text", "query"), MISSED)
def test_other_words_do_not(language: str, text: str, query: str) -> None:
    assert not any(shared_terms(language, text, query))


@given(st.text(max_size=300), st.sampled_from(["en", "es", "pt", "de", "ja", "und"]))
def test_terms_never_hold_white_space_and_tokens_are_exact_slices(text: str, language: str) -> None:
    assert all(term.split() == [term] for term in analyze_text(text, language))
    assert all(text[token.start : token.end] == token.text for token in tokenize(text))


@given(st.text(max_size=300))
def test_any_query_gives_distinct_terms(query: str) -> None:
    terms = analyze_query(query).terms
    assert len(terms) == len(set(terms))


@pytest.mark.parametrize(
    "hostile", ["a" + "+" * 50_000, "a+" * 25_000, "a" * 50_000, "a-" * 25_000 + "!", "::" * 25_000]
)
def test_a_hostile_text_takes_time_in_proportion_to_its_length(hostile: str) -> None:
    # A pattern that backtracks would not end in a lifetime.
    assert len(list(tokenize(hostile))) <= 1
    assert len(analyze_query(hostile[:2_000]).terms) <= 4_000


LONG = {
    "a ligature of 18 characters": "\ufdfa" * 2_000,
    "the same joined by letters": "\ufdfaa" * 1_000,
    "the same joined by hyphens": "\ufdfa-" * 1_000,
    "numbers of three characters": "\u3250" * 2_000,
    "ligatures of three letters": "ﬃ" * 2_000,
    "letters that are six characters when decomposed": "\u1f82" * 2_000,
    "one word": "w" * 2_000,
    "letters and digits": "a1" * 1_000,
    "capitals and underscores": "A_" * 1_000,
    "camel case": "aB" * 1_000,
    "a dotted number": ".".join(["1"] * 1_000),
    "a version": "v" + ".".join(map(str, range(500))),
    "colons": "ab:" * 666,
    "signs": "a+" * 1_000,
    "Hangul": "한국" * 1_000,
    "marks of two classes": "a" + "\u0301\u0323" * 999,
}
"""Queries and texts of words at the limit of a query, by what is long in them."""


@pytest.mark.parametrize("kind", LONG)
def test_a_word_is_cut_in_texts_and_queries_alike(kind: str) -> None:
    word = LONG[kind]
    terms = set(analyze_text(word, "en"))
    assert all(len(term) <= MAX_WORD_CHARS for term in terms | set(analyze_query(word).terms))
    assert all(terms.intersection(found) for found in analyze_query(word).words)


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("gap", ["", " "])
def test_the_terms_of_a_text_have_a_small_multiple_of_its_length(kind: str, gap: str) -> None:
    text = gap.join(LONG[kind])
    for language in ("en", "pt", "ja"):
        assert len(" ".join(analyze_text(text, language))) <= MAX_TEXT_GROWTH * len(text) + 256


@pytest.mark.parametrize("numbers", [2, 8, 9, 40, 1_000])
def test_a_dotted_number_is_found_whole_and_by_its_first_numbers(numbers: int) -> None:
    text = ".".join(map(str, range(numbers)))
    terms = set(analyze_text(text, "en"))
    assert terms.issuperset(analyze_query(text).terms)
    for count in range(2, min(numbers, 8) + 1):
        assert terms.issuperset(analyze_query(".".join(map(str, range(count)))).terms)


def test_a_list_of_dotted_numbers_grows_its_terms_six_times_at_most() -> None:
    for numbers in range(2, 60):
        text = " ".join([".".join(["1"] * numbers)] * 30)
        assert len(" ".join(analyze_text(text, "en"))) <= 6 * len(text)


def test_a_word_cut_in_a_text_keeps_the_parts_before_the_cut() -> None:
    path = "/".join(f"part{number}" for number in range(1_000))
    terms = set(analyze_text(path, "en"))
    assert {"part", "0", "200"} <= terms
    assert "900" not in terms


@pytest.mark.parametrize("run", ["漢字仮名", "ひらがな", "カタカナ", "ภาษาไทย", "မြန်မာ"])
def test_a_long_unspaced_run_is_cut_into_tokens_that_tile_it(run: str) -> None:
    text = run * 1_500
    found = list(tokenize(text))
    assert "".join(token.text for token in found) == text
    assert max(len(token.text) for token in found) == MAX_WORD_CHARS


def test_a_query_has_a_limited_number_of_words_and_terms() -> None:
    ideographs = "".join(chr(0x4E00 + number) for number in range(2_000))
    thai = "".join(chr(0x0E01 + number * number % 46) for number in range(2_000))
    # With a sign between two letters every part is a term of the same word.
    parts = ":".join(chr(0xC0 + number % 500) + chr(0x61 + number % 26) for number in range(660))
    words = " ".join(f"{number:x}" for number in range(500))
    for query in (ideographs, thai, parts, words):
        found = analyze_query(query)
        assert 0 < len(found.terms) <= MAX_QUERY_TERMS
        assert 0 < len(found.words) <= MAX_QUERY_WORDS
        assert list(found.terms) == list(dict.fromkeys(term for word in found.words for term in word))
    assert analyze_query(ideographs).terms == tuple(ideographs[at : at + 2] for at in range(MAX_QUERY_TERMS))


def test_what_follows_the_limit_of_terms_is_left_out() -> None:
    ideographs = "".join(chr(0x4E00 + number) for number in range(1_900))
    assert analyze_query(f"router {ideographs} password").terms[0] == "router"
    assert "password" not in analyze_query(f"router {ideographs} password").terms
    assert "password" in analyze_query(f"router {ideographs[:200]} password").terms
