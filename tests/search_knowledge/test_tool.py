"""The tool's envelopes: order of the checks, faults, deadline, and what the log may say."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import NoReturn

import pytest

from knowledge.claims import ClaimNames
from knowledge.errors import RuntimeDisabledError
from search_knowledge.app import Handler
from search_knowledge.call_log import CallLog, caller_key
from search_knowledge.gateway import claims_of
from search_knowledge.http_messages import HttpRequest
from search_knowledge.mcp_server import ProtocolServer
from search_knowledge.switch import FixedSwitch
from search_knowledge.tool import Access, CallContext, Knowledge, KnowledgeTool
from tests.support.calls import (
    ANA,
    Context,
    Json,
    call,
    envelope_of,
    error_of,
    http_event,
    logger,
    rest_event,
    switched_on,
    tool_call,
)
from tests.support.server import ON

CANARY = "kanarienvogel"


def answer_with(knowledge: Callable[[], Knowledge], stream: StringIO) -> Json:
    """The envelope of one call to a tool whose core library is composed by `knowledge`."""
    access = Access(ClaimNames(), "knowledge:read")
    tool = KnowledgeTool(knowledge, FixedSwitch(on=True), access, CallLog(logger(stream)))
    claims = claims_of(ANA)
    body = json.dumps(tool_call({"query": CANARY})).encode()
    with ProtocolServer(tool, listed=True) as server:
        request = HttpRequest("POST", (("content-type", "application/json"),), body, claims, "r1")
        response = server.answer(request, CallContext(claims, "r1", time.monotonic() + 5))
    return envelope_of({"statusCode": response.status, "body": response.body})


@pytest.mark.parametrize("switch", ["", "off", "ON", "true", "1", " on", "ssm:/knowledge/switch"])
def test_whatever_is_not_on_is_off_and_comes_first(switch: str) -> None:
    with Handler(replace(ON, runtime_switch=switch), logger()) as handler:
        envelope = envelope_of(handler(rest_event(tool_call({"offset": -1}), authorizer=None)))
    assert envelope == {
        "type": "knowledge_unavailable",
        "error": {
            "code": "knowledge_runtime_disabled",
            "message": RuntimeDisabledError().message,
            "field": None,
            "retryable": False,
        },
    }


@pytest.mark.parametrize(
    "authorizer",
    [
        None,
        {},
        {"principalId": "ana"},
        {"sub": "ana"},
        {"sub": "ana", "scope": "other"},
        {"teams": '["support"]', "scope": "knowledge:read"},
        {"sub": "ana", "scope": "knowledge:read", "teams": "a b"},
        {"jwt": {"claims": {"sub": "ana", "scope": "[knowledge:read]", "teams": "[a b]"}}},
    ],
)
def test_the_caller_comes_second(handler: Handler, authorizer: object) -> None:
    assert error_of(call(handler, {"offset": -1}, authorizer=authorizer)) == ("knowledge_scope_required", None)
    answer = handler(http_event(tool_call({"offset": -1}), authorizer=authorizer))
    assert error_of(envelope_of(answer)) == ("knowledge_scope_required", None)


def test_too_many_scopes_are_reported_before_the_arguments_are_read(handler: Handler) -> None:
    crowd = {**ANA, "teams": json.dumps([f"t{n}" for n in range(50)])}
    envelope = call(handler, {"offset": -1}, authorizer=crowd)
    assert error_of(envelope) == ("knowledge_invalid_request", None)
    assert "51 scopes" in envelope["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "code", "field"),
    [
        ({"offset": -1, "team": "x"}, "knowledge_invalid_request", "offset"),
        ({"team": "x"}, "knowledge_invalid_request", "team"),
        ({"query": "a", "knowledge_item_id": "i"}, "knowledge_invalid_request", None),
        ({"knowledge_revision_id": "r"}, "knowledge_item_required", None),
        ({"query": " ", "knowledge_item_id": None}, "knowledge_query_required", None),
        ({"query": "a"}, "knowledge_storage_unavailable", None),
        ({"knowledge_item_id": "i"}, "knowledge_storage_unavailable", None),
        ({"query": "a", "alpha": float("inf")}, "knowledge_storage_unavailable", None),
        ({"query": "a", "alpha": float("nan")}, "knowledge_invalid_request", "alpha"),
    ],
)
def test_arguments_come_third_and_the_dataset_last(
    handler: Handler, arguments: Json, code: str, field: str | None
) -> None:
    assert error_of(call(handler, arguments)) == (code, field)


def test_an_error_text_says_what_to_change(handler: Handler) -> None:
    assert call(handler, {"limit_chars": 20000})["error"] == {
        "code": "knowledge_invalid_request",
        "message": "limit_chars must be 1..10000, got 20000",
        "field": "limit_chars",
        "retryable": False,
    }


def test_a_dataset_that_is_not_there_is_no_empty_list(tmp_path: Path) -> None:
    with switched_on(str(tmp_path / "nothing")) as handler:
        for arguments in ({"query": "a"}, {"knowledge_item_id": "i"}):
            assert error_of(call(handler, arguments)) == ("knowledge_storage_unavailable", None)


def test_a_store_that_never_answers_is_given_up_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        options = {
            "endpoint": f"http://127.0.0.1:{silent.getsockname()[1]}",
            "allow_http": "true",
            "region": "us-east-1",
            "access_key_id": "a",
            "secret_access_key": "b",
        }
        with switched_on("s3://silent", storage_options=options) as handler:
            started = time.monotonic()
            answer = handler(rest_event(tool_call({"query": "a"})), Context(remaining_ms=1_500))
            waited = time.monotonic() - started
            assert error_of(envelope_of(answer)) == ("knowledge_storage_unavailable", None)
            assert waited < 1.5
            assert envelope_of(handler(rest_event(tool_call({"query": "a"})), Context(remaining_ms=0)))["error"][
                "retryable"
            ]


def test_an_unforeseen_fault_says_nothing_but_a_correlation_id() -> None:
    def broken() -> NoReturn:
        message = f"cannot parse {CANARY}"
        raise RuntimeError(message) from ValueError(CANARY)

    stream = StringIO()
    envelope = answer_with(broken, stream)
    assert envelope == {
        "type": "knowledge_error",
        "error": {
            "code": "knowledge_internal_error",
            "message": "The call failed for an unexpected reason. Quote r1 to the operator.",
            "field": None,
            "retryable": False,
        },
    }
    fault, line = map(json.loads, stream.getvalue().splitlines())
    assert CANARY not in stream.getvalue()
    assert fault["fault"]["request_id"] == line["call"]["request_id"] == "r1"
    assert [one["type"] for one in fault["fault"]["exceptions"]] == ["builtins.RuntimeError", "builtins.ValueError"]
    assert any(frame.endswith(" broken") for frame in fault["fault"]["exceptions"][0]["stack"])


def test_each_call_is_one_log_line_without_anything_asked_or_claimed(capfd: pytest.CaptureFixture[str]) -> None:
    stream = StringIO()
    claims = {"sub": f"{CANARY}-owner", "teams": f"{CANARY}-team", "scope": "knowledge:read"}
    asked: list[object] = [
        {"query": CANARY},
        {"query": CANARY, "mode": "rrf", "knowledge_base_id": CANARY},
        {"knowledge_item_id": CANARY, "knowledge_revision_id": CANARY},
        {CANARY: CANARY},
        {"query": [CANARY]},
    ]
    refused: list[object] = [[CANARY], CANARY]
    with Handler(ON, logger(stream)) as handler:
        for arguments in (*asked, *refused):
            handler(rest_event(tool_call(arguments), authorizer=claims), Context())
        handler(rest_event(tool_call({}, name=CANARY), authorizer=claims), Context())
        handler(rest_event('{"jsonrpc": "' + CANARY, authorizer=claims), Context())
        handler(rest_event({"jsonrpc": "2.0", "id": 1, "method": CANARY}, authorizer=claims), Context())
    captured = capfd.readouterr()
    assert CANARY not in stream.getvalue() + captured.out + captured.err
    lines = [json.loads(line)["call"] for line in stream.getvalue().splitlines()]
    assert all(isinstance(line.pop("duration_ms"), int) for line in lines)
    usual = {"request_id": "lambda-request", "caller": caller_key(f"{CANARY}-owner"), "shape": "", "mode": ""}
    broken = "knowledge_storage_unavailable"
    assert lines == [
        {**usual, "shape": "search", "mode": "hybrid", "outcome": broken},
        {**usual, "shape": "search", "mode": "rrf", "outcome": broken},
        {**usual, "shape": "read", "outcome": broken},
        {**usual, "outcome": "knowledge_invalid_request"},
        {**usual, "outcome": "knowledge_invalid_request"},
    ]


def test_no_claims_are_nobody() -> None:
    assert claims_of(None).values == {}
