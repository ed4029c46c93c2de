"""HTTP requests as the events of both kinds of gateway."""

from __future__ import annotations

import json

from local_gateway.events import PAYLOADS, Request, build_event
from local_gateway.front import Front
from tests.support.local_front import ANA, send


def test_bytes_that_are_not_text_arrive_as_such(front: Front) -> None:
    assert json.loads(send(front, "POST", body=b'{"a": "\xff"}')[1])["error"]["code"] == -32700


def test_a_repeated_header_stays_repeated_in_one_payload_and_is_joined_in_the_other() -> None:
    twice = Request("POST", "/mcp", [("X-Mark", "a"), ("X-Mark", "b")])
    rest, joined = (build_event(twice, ANA, payload) for payload in PAYLOADS)
    assert (rest["headers"], rest["multiValueHeaders"]) == ({"X-Mark": "b"}, {"X-Mark": ["a", "b"]})
    assert (joined["headers"], joined["body"]) == ({"x-mark": "a,b"}, None)
