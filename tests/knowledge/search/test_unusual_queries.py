"""No question is a surprise: an answer in every mode, or an empty list where words find nothing; never an error."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge.requests import MODES, Mode, SearchRequest
from knowledge.results import SearchAnswer
from knowledge.search.analysis import analyze_query
from knowledge.search.excerpts import EXCERPT_CHARS
from tests.support.datasets import ANA, SUPPORT, Location, build
from tests.support.reading import list_paths, open_service

pytestmark = pytest.mark.anyio

LONGEST: Final = 2_000
LONG_WORDS: Final = ("refund policy of the company and its customers " * 50)[:LONGEST]
PARAGRAPH: Final = "Refunds are paid within five days after the parcel has arrived at the depot. "
TEXTS: Final = {
    "refunds.md": f"# Refunds\n\n{PARAGRAPH * 12}\n",
    "office.md": "# Office\n\nThe office is open from nine to five, on Friday until three.\n",
    "reembolsos.md": "# Reembolsos\n\nEl reembolso llega en cinco días. ¿Y si no llega? Llame a soporte.\n",
    "rueckgabe.md": "# Rückgabe\n\nDie Rückgabe ist innerhalb von vierzehn Tagen möglich.\n",
    "henpin.md": "# 返品\n\n返品は七日以内にお願いします。送料はお客様の負担です。\n",
    "party.md": "# Party 🎉\n\nThe party 🎉👩‍👩‍👧‍👦 begins at eight.\n",
}
FINDING: Final = {
    "quoted": ('"refund policy"', "refunds.md"),
    "one quote": ('"refund', "refunds.md"),
    "quotes of other makes": ("«refunds» „parcel“ ‘depot’", "refunds.md"),
    "operators": ("+refund -office AND (depot OR NOT parcel)^2~3 *", "refunds.md"),
    "field and range": ("title:refund [a TO z] {1 TO 2}", "refunds.md"),
    "sql": ("refund'; DROP TABLE passages; --", "refunds.md"),
    "code": ("refund = lambda x: x[0] if x else None  # {%&\\n}", "refunds.md"),
    "whitespace of many kinds": ("\trefund\u00a0\u2003parcel\r\n\u3000depot\u200b", "refunds.md"),
    "as long as it may be": (LONG_WORDS, "refunds.md"),
    "one long word and a short one": ("x" * 1_900 + " refund", "refunds.md"),
    "scripts mixed": ("返品 refund Привет שלום مرحبا", "refunds.md"),
    "full width": ("ＲＥＦＵＮＤ　ｐｏｌｉｃｙ", "refunds.md"),
    "ligature": ("oﬃce on Friday", "office.md"),
    "unaccented": ("Ruckgabe moglich", "rueckgabe.md"),
    "a word and an emoji": ("party 🎉🎉🎉", "party.md"),
    "opened upside down": ("¿¡reembolso!?", "reembolsos.md"),
    "unspaced": ("返品の送料は誰の負担ですか", "henpin.md"),
    "a control character": ("refund\x07\x1b[31m parcel", "refunds.md"),
    "a NUL": ("refund\0parcel depot", "refunds.md"),
    "text that runs both ways": ("\u202erefund\u202c parcel", "refunds.md"),
}
"""Questions whose words are in one text, by what is unusual about them."""

ANY: Final = {
    "one letter": "a",
    "one digit": "7",
    "one sign": "?",
    "one quote alone": '"',
    "two quotes": '""',
    "one kana": "の",
    "one character of Chinese": "返",
    "stop words": "what is it that we are",
    "stop words of five languages": "the der de o の",
    "emoji": "🎉",
    "emoji joined": "👩‍👩‍👧‍👦🏳️‍🌈",
    "emoji, as many as may be": "🎉" * LONGEST,
    "signs": "!!! ??? ... --- *** (((",
    "backslashes": "\\" * 50,
    "brackets, as many as may be": "(" * LONGEST,
    "quotes, as many as may be": '"' * LONGEST,
    "one word, as long as it may be": "w" * LONGEST,
    "ideographs, as many as may be": "返品" * (LONGEST // 2),
    "hiragana, as many as may be": "あ" * LONGEST,
    "every word another": " ".join(f"w{number}" for number in range(500))[:LONGEST],
    "joined without end": "a-" * (LONGEST // 2),
    "accents without a letter": "\u0301\u0308" * 20,
    "a private character": "\ue000",
    "an unassigned one": "\U000e0fff",
    "invisible characters that are not whitespace": "\u200b\u2060\ufeff",
    "a letter that grows when folded": "ŉǰΐΰßﬀẖİ",
    "one word in a script without stems": "ประเทศไทย",
    "a ligature of a whole phrase": "ﷺ",
}
"""Questions that need not find anything."""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Location:
    return build(str(tmp_path_factory.mktemp("unusual")), {(ANA, "notes"): TEXTS, (SUPPORT, "handbook"): TEXTS})


async def answers(where: Location, query: str) -> dict[Mode, SearchAnswer]:
    """The answer in every mode, over two scopes, each one sound."""
    found: dict[Mode, SearchAnswer] = {}
    async with open_service(where) as reader:
        for mode in MODES:
            found[mode] = await reader.search([ANA, SUPPORT], SearchRequest(query, mode=mode, max_results=50))
            assert_sound(found[mode])
    return found


def assert_sound(answer: SearchAnswer) -> None:
    scores = [hit.scores.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    for hit in answer.hits:
        text = TEXTS[hit.revision.source_uri]
        assert hit.excerpt == text[hit.excerpt_offset : hit.excerpt_offset + len(hit.excerpt)]
        assert len(hit.excerpt) <= EXCERPT_CHARS


@pytest.mark.parametrize("kind", FINDING)
async def test_unusual_characters_around_words_do_not_hide_them(published: Location, kind: str) -> None:
    query, path = FINDING[kind]
    assert len(query) <= LONGEST
    found = await answers(published, query)
    assert path in list_paths(found["lexical"])[:4]  # the two scopes hold every text, and a question may match two
    for mode in ("hybrid", "rrf", "semantic"):
        assert set(list_paths(found[mode])) == set(TEXTS), mode


@pytest.mark.parametrize("kind", ANY)
async def test_a_question_without_topic_gets_an_answer_or_an_empty_list(published: Location, kind: str) -> None:
    query = ANY[kind]
    assert len(query) <= LONGEST
    found = await answers(published, query)
    for mode in ("hybrid", "rrf", "semantic"):
        assert set(list_paths(found[mode])) == set(TEXTS), mode


async def test_words_that_no_text_has_rank_nothing_high_on_the_lexical_side(published: Location) -> None:
    found = await answers(published, "xylophone quixotic zeppelin")
    assert found["lexical"].hits == ()
    assert all(hit.scores.lexical is None and hit.scores.lexical_rank is None for hit in found["hybrid"].hits)


@given(st.text(min_size=1, max_size=LONGEST))
@settings(max_examples=300)
def test_any_text_gives_terms_that_an_index_can_be_asked_for(query: str) -> None:
    terms = analyze_query(query).terms
    assert all(term and not any(map(str.isspace, term)) for term in terms)


@given(st.text(max_size=60).filter(str.strip))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_gets_an_answer_in_every_mode(published: Location, query: str) -> None:
    asyncio.run(answers(published, query))
