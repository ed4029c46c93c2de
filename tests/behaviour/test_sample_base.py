"""Answers from the sample base: to the demonstration, to every event, and to the MCP SDK's client."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from knowledge.errors import StorageUnavailableError
from lambda_emulator.answers import find_differences, parse_body, read_event
from local_gateway.sample import Sample, SampleError
from search_knowledge.app import Handler
from tests.behaviour.conftest import DemoRun
from tests.support.calls import (
    ANA,
    ERAS,
    OUTPUT,
    Context,
    Era,
    Json,
    call,
    client,
    error_of,
    rest_event,
    switched_on,
    tool_call,
)
from tests.support.pages import page

EVENTS = sorted((Path(__file__).resolve().parents[2] / "events").glob("*.json"))
ITEM = "handbook/opening-hours.md"


@pytest.fixture(scope="module")
def handler(sample: Sample) -> Iterator[Handler]:
    with switched_on(sample.uri, embedding=sample.embedding) as made:
        yield made


@pytest.fixture(scope="module")
def items(sample: Sample) -> dict[str, Json]:
    """Every item of the sample base by source path, as the command lists it."""
    return {path: item for base in sample.read_bases() for path, item in sample.list_items(base).items()}


@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.stem)
def test_every_event_gets_the_answer_that_is_written_beside_it(handler: Handler, path: Path) -> None:
    sample = read_event(path)
    assert list(find_differences(sample.expected, parse_body(handler(sample.event, Context())))) == []


def test_there_are_events_of_every_kind() -> None:
    assert len(EVENTS) >= 50


def test_the_demonstration_shows_every_step_and_ends_well(demo_run: DemoRun) -> None:
    assert demo_run.code == 0, demo_run.printed
    for step in (
        "owner ana, base notes: 6 created.",
        "handbook/fax-bestellungen.md archived.",
        "tools/list  MCP 2025-11-25, payload 1.0: search_knowledge",
        "tools/list  MCP 2026-07-28, payload 2.0: search_knowledge",
        *(f"  {language}  " for language in ("en", "es", "pt", "ja", "de")),
        "characters join exactly",
        "the revision before",
        "of another team: knowledge_resource_unavailable",
        "All answers right",
    ):
        assert step in demo_run.printed


def test_the_readme_shows_what_the_demonstration_prints(demo_run: DemoRun) -> None:
    # Scores may differ in their last digit from one processor to the next, and the time does.
    printed = iter(mask_figures(demo_run.printed))
    shown = mask_figures(page("README.md").blocks("console")[0])[1:]
    assert len(shown) > 10
    assert [line for line in shown if line not in printed] == []


def mask_figures(text: str) -> list[str]:
    return re.sub(r"\d\.\d\d|in \d+ s", "…", text).strip().splitlines()


def test_a_failed_command_is_reported(sample: Sample) -> None:
    with pytest.raises(SampleError, match="knowledge history ended with"):
        sample.run("history", "ki_none", "--owner", "ana")


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "semantic", "rrf"])
def test_a_search_result_is_complete_in_every_mode(handler: Handler, mode: str) -> None:
    envelope = call(handler, {"query": "how do I ask for holidays in summer", "mode": mode})
    assert (envelope["type"], envelope["mode"]) == ("knowledge_search", mode)
    assert (envelope["weights"] is None) is (mode != "hybrid")
    assert envelope["results"]
    for hit in envelope["results"]:
        start, end = map(int, hit["reference"].rpartition("=")[2].split(","))
        identity, revision = hit["knowledge_item_id"], hit["knowledge_revision_id"]
        window = {"offset": start, "limit_chars": end - start}
        read = call(handler, {"knowledge_item_id": identity, "knowledge_revision_id": revision, **window})
        assert read["content"] == hit["excerpt"]
        assert hit["excerpt_offset"] == start


def test_the_same_call_gives_the_same_bytes(handler: Handler) -> None:
    event = rest_event(tool_call({"query": "filter"}))
    assert handler(event)["body"] == handler(event)["body"]


@pytest.mark.parametrize("era", ERAS)
def test_the_client_searches_and_pages_in_both_eras(handler: Handler, items: dict[str, Json], era: Era) -> None:
    item = items[ITEM]

    async def read_pages() -> str:
        async with client(handler, era) as session:
            await session.list_tools()
            found = await session.call_tool("search_knowledge", {"query": "opening hours of the support"})
            assert ITEM in [hit["source"]["uri"] for hit in found.structured_content["results"]]
            text, following = "", {"knowledge_item_id": item["knowledge_item_id"]}
            while following:
                window = (
                    await session.call_tool("search_knowledge", {**following, "limit_chars": 100})
                ).structured_content
                OUTPUT.validate(window)
                text, following = text + window["content"], window["continuation"]
            return text

    text = asyncio.run(read_pages())
    whole = call(handler, {"knowledge_item_id": item["knowledge_item_id"]})
    assert (text, len(text)) == (whole["content"], item["total_chars"])


def test_whatever_may_not_be_read_gets_one_and_the_same_answer(handler: Handler, items: dict[str, Json]) -> None:
    readable = items[ITEM]["knowledge_item_id"]
    hidden: list[Json] = [
        {"knowledge_item_id": "ki_none"},
        {"knowledge_item_id": items["manuals/filter-change-f2.md"]["knowledge_item_id"]},
        {"knowledge_item_id": items["handbook/fax-bestellungen.md"]["knowledge_item_id"]},
        {"knowledge_item_id": items["handbook/chat-macros.md"]["knowledge_item_id"]},
        {"knowledge_item_id": readable, "knowledge_base_id": "notes"},
        {"knowledge_item_id": readable, "knowledge_base_id": "' OR 1=1 --"},
        {"knowledge_item_id": readable, "knowledge_revision_id": items["handbook/urlaub.md"]["knowledge_revision_id"]},
        {"query": "filter", "knowledge_base_id": "manuals"},
        {"query": "filter", "knowledge_base_id": "nothing"},
    ]
    answers = {handler(rest_event(tool_call(arguments)), Context())["body"] for arguments in hidden}
    assert len(answers) == 1
    assert error_of(call(handler, hidden[0])) == ("knowledge_resource_unavailable", None)


def test_members_of_another_team_see_that_team_s_knowledge_and_not_this_one_s(handler: Handler) -> None:
    field = {**ANA, "sub": "ben", "teams": '["field"]'}
    bases = {hit["knowledge_base_id"] for hit in call(handler, {"query": "filter"}, authorizer=field)["results"]}
    assert bases == {"manuals"}


def test_a_caller_without_knowledge_gets_an_empty_list(handler: Handler) -> None:
    nobody = {"sub": "nobody", "scope": "knowledge:read"}
    assert call(handler, {"query": "filter"}, authorizer=nobody)["results"] == []


@pytest.mark.parametrize("offset", [10**9, 2**31, 2**63, 2**64, 10**300])
def test_any_offset_past_the_end_is_an_empty_window(handler: Handler, items: dict[str, Json], offset: int) -> None:
    window = call(handler, {"knowledge_item_id": items[ITEM]["knowledge_item_id"], "offset": offset})
    assert (window["content"], window["content_offset"], window["continuation"]) == ("", offset, None)


def test_odd_ids_and_queries_are_answered(handler: Handler) -> None:
    odd = ["\0", "'", '"', "%", "\u202e", "😀" * 300, "a" * 100_000, "ki_\n", "*", "NOT (", "\ufeff"]
    for text in odd:
        assert error_of(call(handler, {"knowledge_item_id": text}))[0] == "knowledge_resource_unavailable"
        envelope = call(handler, {"query": text[:2000]})
        assert envelope["type"] == "knowledge_search", text[:20]


def test_a_dataset_of_another_model_is_a_mismatch(sample: Sample) -> None:
    with switched_on(sample.uri, embedding="local-small") as other:
        for arguments in ({"query": "a"}, {"knowledge_item_id": "i"}):
            envelope = call(other, arguments)
            assert error_of(envelope) == ("knowledge_dataset_mismatch", None)
            assert envelope["error"]["retryable"] is False


def test_a_missing_dataset_is_not_an_empty_list(tmp_path: Path) -> None:
    (tmp_path / "dataset").mkdir()
    with switched_on(str(tmp_path / "dataset")) as handler:
        assert call(handler, {"query": "a"})["error"]["code"] == StorageUnavailableError.code


def test_text_and_structured_content_are_the_same_for_every_script(handler: Handler) -> None:
    answer = handler(rest_event(tool_call({"query": "浄水フィルターの交換"})))
    result = cast("dict[str, Any]", json.loads(answer["body"])["result"])
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert any("\u3040" <= letter <= "\u30ff" for letter in result["content"][0]["text"])
