"""Answers in their JSON form."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from knowledge.results import ReadAnswer, Scores, SearchAnswer, SearchHit
from knowledge.scopes import Scope
from knowledge.store.revision import RevisionInfo

INFO = RevisionInfo(
    scope=Scope("team", "support"),
    base_id="hand book",
    item_id="ki/1",
    revision_id="kr@1",
    title="Install",
    language="es",
    published_at="2026-11-30T12:00:00Z",
    source_type="file",
    source_uri="docs/install.md",
    total_chars=10,
    content_sha256="ab" * 32,
)
IDENTITY = {
    "knowledge_base_id": "hand book",
    "knowledge_item_id": "ki/1",
    "knowledge_revision_id": "kr@1",
    "scope": "team",
    "owner_id": None,
    "team_id": "support",
    "title": "Install",
    "language": "es",
    "published_at": "2026-11-30T12:00:00Z",
}
HIT = SearchHit(INFO, "text of it", 1180, "Install > Linux", Scores(0.83, 7.41, None, 1, None))


def read(content: str, offset: int = 0) -> dict[str, object]:
    return ReadAnswer(INFO, True, content, "", offset, 4).as_dict()  # noqa: FBT003 - the field is named in the class


def test_a_search_answer_as_a_whole() -> None:
    assert SearchAnswer("hybrid", 0.25, (HIT,)).as_dict() == {
        "type": "knowledge_search",
        "mode": "hybrid",
        "weights": {"lexical": 0.25, "semantic": 0.75},
        "results": [
            {
                **IDENTITY,
                "excerpt": "text of it",
                "excerpt_offset": 1180,
                "locator": "Install > Linux",
                "source": {
                    "type": "file",
                    "uri": "docs/install.md",
                    "citation": "Install, section “Install > Linux” (docs/install.md)",
                },
                "reference": "knowledge://hand%20book/ki%2F1@kr%401#char=1180,1190",
                "scores": {
                    "score": 0.83,
                    "lexical": 7.41,
                    "semantic": None,
                    "lexical_rank": 1,
                    "semantic_rank": None,
                },
            }
        ],
    }


@pytest.mark.parametrize("mode", ["lexical", "semantic", "rrf"])
def test_there_are_no_weights_outside_hybrid(mode: str) -> None:
    assert SearchAnswer(mode, None, ()).as_dict() == {
        "type": "knowledge_search",
        "mode": mode,
        "weights": None,
        "results": [],
    }


def test_a_read_answer_as_a_whole() -> None:
    assert read("text", 2) == {
        "type": "knowledge",
        **IDENTITY,
        "is_current": True,
        "content": "text",
        "locator": "",
        "source": {"type": "file", "uri": "docs/install.md", "citation": "Install (docs/install.md)"},
        "reference": "knowledge://hand%20book/ki%2F1@kr%401#char=2,6",
        "content_offset": 2,
        "content_limit": 4,
        "content_total_chars": 10,
        "content_truncated": True,
        "content_sha256": "ab" * 32,
        "continuation": {"knowledge_item_id": "ki/1", "knowledge_revision_id": "kr@1", "offset": 6},
    }


@pytest.mark.parametrize(("content", "offset"), [("text", 6), ("", 10), ("", 99)])
def test_at_the_end_nothing_follows(content: str, offset: int) -> None:
    answer = read(content, offset)
    assert (answer["content_truncated"], answer["continuation"]) == (False, None)


def test_an_owner_s_item_names_the_owner() -> None:
    hit = replace(HIT, revision=replace(INFO, scope=Scope("owner", "ana"))).as_dict()
    assert (hit["scope"], hit["owner_id"], hit["team_id"]) == ("owner", "ana", None)


def test_any_id_makes_a_reference_that_can_be_written() -> None:
    lone = chr(0xD800)
    hit = replace(HIT, revision=replace(INFO, base_id="§?#", item_id=lone, revision_id="a b")).as_dict()
    assert hit["reference"] == "knowledge://%C2%A7%3F%23/%3F@a%20b#char=1180,1190"
    assert json.dumps(hit)


def test_a_citation_and_a_locator_are_one_line_that_obeys_no_control_and_the_rest_is_exact() -> None:
    title, uri, heading = "Red \x1b[31m\nTwo", "docs/a\u202eb\n.md", "Install > \x07Linux"
    hit = replace(HIT, revision=replace(INFO, title=title, source_uri=uri), locator=heading).as_dict()
    assert (hit["title"], hit["source"]["uri"]) == (title, uri)
    assert hit["locator"] == r"Install > \x07Linux"
    assert hit["source"]["citation"] == r"Red \x1b[31m\nTwo, section “Install > \x07Linux” (docs/a\u202eb\n.md)"
    window = ReadAnswer(replace(INFO, title=title), True, "a\x1b\r\n", heading, 0, 4).as_dict()  # noqa: FBT003 - as above
    assert (window["content"], window["locator"]) == ("a\x1b\r\n", r"Install > \x07Linux")
    assert window["source"]["citation"] == r"Red \x1b[31m\nTwo, section “Install > \x07Linux” (docs/install.md)"


def test_scores_have_at_most_four_decimals() -> None:
    scores = Scores(0.123456, 7.4149999, 0.66666666, 1, 2).as_dict()
    assert scores == {
        "score": 0.1235,
        "lexical": 7.415,
        "semantic": 0.6667,
        "lexical_rank": 1,
        "semantic_rank": 2,
    }
