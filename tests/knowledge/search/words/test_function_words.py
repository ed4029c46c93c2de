"""Function words in questions: grammar is dropped, names are kept, in five languages."""

from __future__ import annotations

import pytest

from knowledge.search.words.query import analyze_query


def list_sources(query: str) -> list[str]:
    return list(analyze_query(query).sources)


@pytest.mark.parametrize(
    ("query", "sources"),
    [
        ("How do I reach IT?", ["reach", "it"]),
        ("What does the WHO say", ["who", "say"]),
        ("How much vitamin A do I need?", ["vitamin", "a", "need"]),
        ("What did The Who play in the song", ["the", "who", "play", "song"]),
        ("Why does it fail? Is it the cache?", ["fail", "cache"]),
        ("¿Qué dice la OMS sobre la salud de los niños?", ["dice", "oms", "salud", "ninos"]),
        ("¿Cómo se usa el SE en la red de la empresa?", ["usa", "se", "red", "empresa"]),
        ("Onde estão os dados da ONU sobre o clima?", ["dados", "onu", "clima"]),
        ("Como posso usar o EM e o ES no sistema?", ["posso", "usar", "em", "es", "sistema"]),
        ("Wer ist bei der WHO für Impfungen zuständig?", ["who", "impfungen", "zustandig"]),
        ("Wie kann ich Sie und Ihr Team am besten erreichen?", ["team", "besten", "erreichen"]),
        ("Was macht man mit der IN an dem Gerät?", ["macht", "in", "gerat"]),
    ],
)
def test_a_question_keeps_names_and_drops_grammar(query: str, sources: list[str]) -> None:
    assert list_sources(query) == sources


@pytest.mark.parametrize(
    ("query", "sources"),
    [
        ("What Is The Colour Of The Sky", ["colour", "sky"]),
        ("How To Get Rid Of It And All Of Them", ["get", "rid"]),
        ("WHAT DOES THE WHO SAY", ["say"]),
        ("WIE KANN ICH DAS KONTO BEI DER BANK LÖSCHEN", ["konto", "bank", "loschen"]),
    ],
)
def test_case_says_nothing_where_every_word_has_it(query: str, sources: list[str]) -> None:
    assert list_sources(query) == sources


@pytest.mark.parametrize("query", ["Who is it", "to be or not to be", "wer mit wem", "de lo que no", "o que é isto"])
def test_a_query_of_nothing_but_function_words_keeps_them(query: str) -> None:
    assert len(list_sources(query)) == len(set(query.lower().split()))


def test_japanese_has_no_function_words_to_drop() -> None:
    assert list_sources("WHOとは何ですか") == ["who", "とは何ですか"]
