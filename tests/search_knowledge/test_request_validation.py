"""Everything that is refused before the protocol kernel, or left to it, seen through the handler."""

from __future__ import annotations

import base64
import json
import re
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_knowledge.app import Handler
from tests.support.calls import (
    ANA,
    Context,
    Json,
    body_of,
    envelope_of,
    http_event,
    request,
    rest_event,
    stateless,
    tool_call,
)
from tests.support.server import ANYTHING, PING, read_refusal

LIST = request("tools/list")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "get"])
def test_only_post_is_served(handler: Handler, method: str) -> None:
    for event in (
        rest_event(PING, httpMethod=method),
        http_event(PING, requestContext={"http": {"method": method}}),
    ):
        answer = handler(event)
        assert answer["statusCode"] == 405
        assert answer["headers"]["allow"] == "POST"
        assert read_refusal(answer) == (405, -32600)


def test_a_body_of_one_mebibyte_passes_and_one_byte_more_does_not(handler: Handler) -> None:
    padded = json.dumps(PING).ljust(1024 * 1024)
    assert body_of(handler(rest_event(padded)))["result"] == {}
    assert read_refusal(handler(rest_event(padded + " "))) == (413, -32600)


def test_an_escaped_body_may_grow_when_it_is_written_again(handler: Handler) -> None:
    body = json.dumps(tool_call({"query": "x", "more": "é" * 1000}), ensure_ascii=True)
    assert envelope_of(handler(rest_event(body)))["error"]["field"] == "more"


@pytest.mark.parametrize("media_type", ["", "text/plain", "application/jsonl", "application/x-www-form-urlencoded"])
def test_another_content_type_is_refused(handler: Handler, media_type: str) -> None:
    assert read_refusal(handler(rest_event(PING, headers={"Content-Type": media_type}))) == (415, -32600)


@pytest.mark.parametrize("media_type", ["application/json;charset=utf-8", "Application/JSON ; charset=UTF-8"])
def test_parameters_and_case_of_the_content_type_do_not_matter(handler: Handler, media_type: str) -> None:
    assert handler(rest_event(PING, headers={"Content-Type": media_type}))["statusCode"] == 200


@pytest.mark.parametrize(
    "accept",
    [
        "",
        " ",
        "*/*",
        "application/*",
        "application/json",
        "APPLICATION/JSON",
        "text/html, application/json;q=0.1",
        "text/event-stream, application/json",
        "text/html,*/*;q=0.8",
        "application/json; q=0, */*",
    ],
)
def test_whatever_admits_json_gets_json(handler: Handler, accept: str) -> None:
    answer = handler(rest_event(PING, headers={"Accept": accept}))
    assert (answer["statusCode"], answer["headers"]["content-type"]) == (200, "application/json")


def test_a_missing_accept_header_admits_json(handler: Handler) -> None:
    assert handler(rest_event(PING, headers={"Accept": None}))["statusCode"] == 200
    message, headers = stateless(LIST)
    assert handler(rest_event(message, headers={**headers, "Accept": None}))["statusCode"] == 200


@pytest.mark.parametrize("accept", ["text/html", "text/event-stream", "application/json;q=0", "text/*;q=0.3"])
def test_whatever_does_not_admit_json_is_refused(handler: Handler, accept: str) -> None:
    assert read_refusal(handler(rest_event(PING, headers={"Accept": accept}))) == (406, -32600)


@pytest.mark.parametrize(
    "body",
    [
        None,
        "",
        "{",
        "nonsense",
        "[" * 100_000,
        '{"a":' * 5000,
        f'{{"id": {"9" * 5000}}}',
        "\ufeff{}",
        '"\ud800"',
        "{}x",
    ],
    ids=["none", "empty", "open", "words", "deep list", "deep object", "long number", "mark", "surrogate", "tail"],
)
@pytest.mark.parametrize("headers", [{}, {"MCP-Protocol-Version": "2026-07-28"}], ids=["handshake", "stateless"])
def test_what_is_not_json_is_a_parse_error_in_both_eras(handler: Handler, body: str | None, headers: Json) -> None:
    assert read_refusal(handler(rest_event(body, headers=headers))) == (400, -32700)


def test_bytes_that_are_not_utf_8_are_a_parse_error(handler: Handler) -> None:
    for data in (b'{"a": "\xff"}', json.dumps(PING).encode("utf-16")):
        event = rest_event(base64.b64encode(data).decode(), isBase64Encoded=True)
        assert read_refusal(handler(event)) == (400, -32700)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ([PING, PING], -32600),
        ([], -32600),
        ("5", -32600),
        ('"ping"', -32600),
        ("null", -32600),
        ({}, -32600),
        ({"id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": 0}, -32602),
    ],
    ids=json.dumps,
)
@pytest.mark.parametrize("headers", [{}, {"MCP-Protocol-Version": "2026-07-28"}], ids=["handshake", "stateless"])
def test_what_is_not_one_request_is_refused_in_both_eras(
    handler: Handler, body: object, code: int, headers: Json
) -> None:
    assert read_refusal(handler(rest_event(body, headers=headers))) == (400, code)


ERRORS: Final[list[object]] = [5, None, {}, [], {"code": 1, "message": "x"}, {"code": None, "message": 5}]
RESULTS: Final[list[object]] = [{}, 5, None, [], {"tools": []}]
NO_REQUESTS: Final[list[Json]] = [
    *({"error": error} for error in ERRORS),
    *({"id": 1, "error": error} for error in ERRORS),
    *({"id": 1, "result": result} for result in RESULTS),
    {"result": {}},
    {"id": 1, "result": {}, "error": {}},
    *({"id": 1, "method": "ping", key: {}} for key in ("result", "error")),
    *({"id": 1, "method": f"notifications/{name}"} for name in ("initialized", "cancelled", "progress", "x", "")),
    *({"method": name} for name in ("ping", "tools/list", "tools/call", "initialize", "x", "")),
]
ANSWERED: Final = {
    "The body is a response or an error; this server takes requests alone.",
    "A request has an id, and a notification has none.",
}


@pytest.mark.parametrize("message", NO_REQUESTS, ids=json.dumps)
@pytest.mark.parametrize("version", [None, "2025-06-18", "2025-11-25", "2026-07-28"])
def test_what_is_no_request_is_refused_in_constant_words(handler: Handler, message: Json, version: str | None) -> None:
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": message.get("method", "")} if version else {}
    for event in (rest_event, http_event):
        answer = handler(event({"jsonrpc": "2.0", **message}, headers=headers))
        assert read_refusal(answer) == (400, -32600)
        assert body_of(answer)["error"]["message"] in ANSWERED


@given(
    message=st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0")},
        optional={
            "id": st.sampled_from([1, "a", -1, 10**30]) | ANYTHING,
            "method": st.sampled_from(
                ["ping", "initialize", "tools/call", "tools/list", "notifications/cancelled", "x"]
            ),
            "params": st.dictionaries(st.sampled_from(["name", "arguments", "cursor", "_meta", "requestId"]), ANYTHING),
            "error": ANYTHING,
            "result": ANYTHING,
        },
    ),
    version=st.sampled_from([None, "2025-11-25", "2026-07-28"]),
)
@settings(max_examples=300, deadline=None)
def test_no_answer_quotes_a_validator(handler: Handler, message: Json, version: str | None) -> None:
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": message.get("method", "")} if version else {}
    answer = handler(rest_event(message, headers=headers))
    assert answer["statusCode"] < 500
    assert not re.search(r"validation error|input_type|Field required|Input should|JSONRPC[A-Z]", answer["body"])


@pytest.mark.parametrize("identity", [None, True, False, 1.5, [1], {}], ids=json.dumps)
@pytest.mark.parametrize("headers", [{}, {"MCP-Protocol-Version": "2026-07-28"}], ids=["handshake", "stateless"])
def test_an_id_that_is_none_is_refused(handler: Handler, identity: object, headers: Json) -> None:
    answer = handler(rest_event(request("ping", identity=identity), headers=headers))
    assert read_refusal(answer) == (400, -32600)
    assert body_of(answer)["id"] is None


@pytest.mark.parametrize("identity", ["a", "", 0, -1, 10**30])
def test_every_valid_id_comes_back(handler: Handler, identity: object) -> None:
    assert body_of(handler(rest_event(request("ping", identity=identity)))) == {
        "jsonrpc": "2.0",
        "id": identity,
        "result": {},
    }


@pytest.mark.parametrize("headers", [{}, {"MCP-Protocol-Version": "2025-11-25"}], ids=["no header", "handshake header"])
def test_a_stateless_message_is_not_served_as_one_of_the_handshake_era(handler: Handler, headers: Json) -> None:
    message, _ = stateless(LIST)
    assert read_refusal(handler(rest_event(message, headers=headers))) == (400, -32020)


def test_a_repeated_version_header_is_refused(handler: Handler) -> None:
    several = {"mcp-protocol-version": ["2025-11-25", "2026-07-28"], "content-type": ["application/json"]}
    assert read_refusal(handler(rest_event(PING, multiValueHeaders=several))) == (400, -32020)


def test_a_version_nobody_speaks_is_refused(handler: Handler) -> None:
    assert handler(rest_event(PING, headers={"MCP-Protocol-Version": "1999-01-01"}))["statusCode"] == 400


def test_headers_that_disagree_with_the_message_are_refused(handler: Handler) -> None:
    message, headers = stateless(tool_call({"query": "x"}))
    assert read_refusal(handler(rest_event(message, headers={**headers, "Mcp-Name": "other"}))) == (400, -32020)


def test_header_values_of_any_script_do_no_harm(handler: Handler) -> None:
    message, headers = stateless(LIST)
    assert handler(rest_event(message, headers={**headers, "Mcp-Param-X": "界"}))["statusCode"] == 200


def test_a_session_id_is_ignored_and_none_is_given(handler: Handler) -> None:
    answer = handler(rest_event(PING, headers={"Mcp-Session-Id": "made-up"}))
    assert answer["statusCode"] == 200
    assert "mcp-session-id" not in answer["headers"]


@pytest.mark.parametrize("host", ["mcp.example.com", "abc.execute-api.eu-west-1.amazonaws.com", ""])
def test_any_host_and_origin_is_served(handler: Handler, host: str) -> None:
    headers = {"Host": host, "Origin": f"https://{host}"}
    assert handler(rest_event(PING, headers=headers))["statusCode"] == 200


def test_a_notification_is_accepted_without_a_word(handler: Handler) -> None:
    answer = handler(rest_event({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    assert (answer["statusCode"], answer["body"]) == (202, "")


def test_a_subscription_gets_an_answer_and_no_stream(handler: Handler) -> None:
    message, headers = stateless(request("subscriptions/listen", {"notifications": {}}))
    answer = handler(rest_event(message, headers={**headers, "Accept": "text/event-stream, application/json"}))
    assert read_refusal(answer) == (404, -32601)


@pytest.mark.parametrize("arguments", [[], "x", 5, True], ids=json.dumps)
def test_arguments_that_are_no_object_are_a_protocol_error(handler: Handler, arguments: object) -> None:
    assert body_of(handler(rest_event(tool_call(arguments))))["error"]["code"] == -32602
    message, headers = stateless(tool_call(arguments))
    assert read_refusal(handler(rest_event(message, headers=headers))) == (400, -32602)


@pytest.mark.parametrize("arguments", [None, {}], ids=json.dumps)
def test_no_arguments_are_an_empty_object(handler: Handler, arguments: object) -> None:
    assert envelope_of(handler(rest_event(tool_call(arguments))))["error"]["code"] == "knowledge_query_required"


def test_an_unknown_tool_is_a_protocol_error(handler: Handler) -> None:
    for name in ("search", "SEARCH_KNOWLEDGE", "", "\ud800"):
        error = body_of(handler(rest_event(tool_call({}, name=name))))["error"]
        assert error == {"code": -32602, "message": "Unknown tool; this server has search_knowledge."}


def test_an_unknown_method_is_a_protocol_error(handler: Handler) -> None:
    assert body_of(handler(rest_event(request("tools/delete"))))["error"]["code"] == -32601


def test_lone_surrogates_reach_the_tool_and_are_reported_there(handler: Handler) -> None:
    body = '{"jsonrpc": "2.0", "id": "\\ud800", "method": "tools/call", "params": %s}'
    params = '{"name": "search_knowledge", "arguments": {"query": "a\\ud800"}}'
    envelope = envelope_of(handler(rest_event(body % params)))
    assert envelope["error"]["message"] == "query must be valid Unicode text, got a lone surrogate"


@given(params=ANYTHING)
def test_any_call_in_either_era_gets_an_answer(handler: Handler, params: object) -> None:
    message = request("tools/call") | {"params": params}
    for headers in ({}, {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call"}):
        answer = handler(rest_event(message, headers=headers, authorizer=ANA), Context())
        assert answer["statusCode"] in {200, 400}
        body_of(answer)
