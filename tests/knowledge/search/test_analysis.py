"""Words: what a query must find, and must not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.search.analysis import analyze_query, analyze_text, tokenize

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
