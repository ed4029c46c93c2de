"""Gateway events of both payloads, and whatever else arrives instead."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_knowledge.app import Handler
from tests.support.calls import (
    Context,
    Json,
    http_event,
    rest_event,
    stateless,
    tool_call,
)
from tests.support.server import ANYTHING, PING, read_refusal, refuse


@pytest.mark.parametrize("event", [rest_event, http_event])
def test_whitespace_around_a_header_value_is_ignored(handler: Handler, event: Callable[..., Json]) -> None:
    message, headers = stateless(tool_call({}))
    padded = {name: f" \t{value} " for name, value in headers.items()}
    several = {name: [value] for name, value in padded.items()}
    for made in (event(message, headers=padded), event(message, headers=headers, multiValueHeaders=several)):
        assert handler(made, Context())["statusCode"] == 200


@pytest.mark.parametrize(
    "event",
    [
        None,
        [],
        "x",
        {},
        {"httpMethod": 5},
        {"requestContext": []},
        {"requestContext": {"http": "POST"}},
        {"httpMethod": "POST", "body": {}},
        {"httpMethod": "POST", "body": "%%%", "isBase64Encoded": True},
        {"httpMethod": "POST", "body": "é", "isBase64Encoded": True},
        {"Records": [{"eventSource": "aws:sqs"}]},
    ],
)
def test_an_event_that_is_none_of_the_gateways_is_answered(handler: Handler, event: object) -> None:
    assert read_refusal(handler(event)) == (400, -32600)


def test_a_base64_body_is_decoded_only_if_the_event_says_so(handler: Handler) -> None:
    encoded = base64.b64encode(json.dumps(PING).encode()).decode()
    assert handler(rest_event(encoded, isBase64Encoded=True))["statusCode"] == 200
    assert read_refusal(handler(rest_event(encoded))) == (400, -32700)


def test_headers_come_in_any_case_from_either_field(handler: Handler) -> None:
    several = {"CONTENT-TYPE": ["application/json"], "Accept": None, "X": "y", "Odd": 5}
    assert (
        handler(rest_event(PING, headers={"Content-Type": "text/plain"}, multiValueHeaders=several))["statusCode"]
        == 200
    )
    assert handler(http_event(PING))["statusCode"] == 200
    assert read_refusal(handler({"httpMethod": "POST", "body": "{}", "headers": None})) == (415, -32600)


EVENTS = st.fixed_dictionaries(
    {"httpMethod": st.just("POST") | ANYTHING},
    optional={
        "headers": st.just({"content-type": "application/json"}) | ANYTHING,
        "multiValueHeaders": ANYTHING,
        "body": ANYTHING | ANYTHING.map(json.dumps),
        "isBase64Encoded": st.booleans(),
        "requestContext": ANYTHING | st.fixed_dictionaries({"authorizer": ANYTHING, "http": ANYTHING}),
    },
)


@given(event=EVENTS | ANYTHING)
def test_any_event_at_all_gets_an_answer(handler: Handler, event: object) -> None:
    answer = handler(event)
    assert set(answer) == {"statusCode", "headers", "body", "isBase64Encoded"}
    assert 200 <= answer["statusCode"] < 500
    json.dumps(answer, ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize(
    "authorizer", [None, [], "x", {}, {"jwt": {}}, {"jwt": {"claims": None}}, {"iam": {"userId": "ana"}}, {"claims": 1}]
)
def test_an_authorizer_without_claims_names_nobody(authorizer: object) -> None:
    assert "names no owner" in refuse(authorizer)
