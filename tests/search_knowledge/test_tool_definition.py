"""What is deployed has one tool; those of the conformance suite are put in by its own code, beside it."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from knowledge.errors import KnowledgeError
from search_knowledge.app import Handler
from search_knowledge.tool_definition import DESCRIPTION, NAME, output_schema
from tests.architecture.source import ROOT
from tests.conformance.tools import RESULTS, add_to
from tests.support.calls import (
    OUTPUT,
    Context,
    Json,
    body_of,
    request,
    rest_event,
    stateless,
    switched_on,
    tool_call,
)


def list_names(handler: Handler) -> list[str]:
    message, headers = stateless(request("tools/list"))
    tools = [
        [tool["name"] for tool in body_of(handler(event, Context()))["result"]["tools"]]
        for event in (rest_event(request("tools/list")), rest_event(message, headers=headers))
    ]
    assert tools[0] == tools[1]
    return tools[0]


def test_the_deployed_list_is_one_tool() -> None:
    with switched_on() as handler:
        assert list_names(handler) == [NAME]


def test_the_suites_tools_stand_beside_it_only_where_they_are_put_in() -> None:
    with switched_on() as fitted, switched_on() as plain:
        add_to(fitted)
        assert list_names(fitted) == [NAME, *RESULTS]
        assert list_names(plain) == [NAME]
        answer = body_of(fitted(rest_event(tool_call({}, name="test_simple_text")), Context()))
        assert answer["result"]["content"][0]["type"] == "text"
        assert body_of(plain(rest_event(tool_call({}, name="test_simple_text")), Context()))["error"]["code"] == -32602


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_no_failure_is_expected_of_what_the_product_offers(revision: str) -> None:
    text = (ROOT / f"tests/conformance/expected-{revision}.yml").read_text(encoding="utf-8")
    entries = [line.removeprefix("  - ") for line in text.splitlines() if line.startswith("  - ")]
    offered = ("tools-list", "tools-call-simple", "tools-call-image", "tools-call-error", "json-schema", "http-")
    assert entries
    assert [entry for entry in entries if entry.startswith(offered)] == []


def test_the_output_schema_is_valid_and_strict() -> None:
    Draft202012Validator.check_schema(output_schema())
    good: Json = {
        "type": "knowledge_error",
        "error": {"code": "knowledge_query_required", "message": "m", "field": None, "retryable": False},
    }
    assert OUTPUT.is_valid(good)
    assert not OUTPUT.is_valid({**good, "type": "knowledge_unavailable"})
    assert not OUTPUT.is_valid({**good, "more": 1})
    assert not OUTPUT.is_valid({"type": "knowledge_search", "results": []})
    assert not OUTPUT.is_valid({})


def test_every_error_there_is_has_its_place_in_the_output_schema() -> None:
    for kind in KnowledgeError.__subclasses__():
        error = {"code": kind.code, "message": "m", "field": None, "retryable": kind.retryable}
        assert OUTPUT.is_valid({"type": kind.envelope, "error": error}), kind


def test_the_description_tells_when_to_use_which_shape_and_when_not_to() -> None:
    for phrase in (
        "Search a topic",
        "Read one exact item",
        "`offset`",
        "`limit_chars`",
        "never mix",
        "Not for recalling",
    ):
        assert phrase in DESCRIPTION
