"""HTTP requests and responses as values."""

from __future__ import annotations

import json

import pytest

from search_knowledge.http_messages import Claims, HttpRequest, rpc_error

REQUEST = HttpRequest("POST", (("accept", "a"), ("x", "1"), ("accept", "b")), b"", Claims({}), "r")


def test_a_repeated_header_keeps_its_values_in_order() -> None:
    assert REQUEST.values("accept") == ("a", "b")
    assert REQUEST.value("accept") == "a, b"


def test_a_missing_header_is_empty() -> None:
    assert REQUEST.values("none") == ()
    assert REQUEST.value("none") == ""


@pytest.mark.parametrize(
    ("identity", "answered"), [(7, 7), ("seven", "seven"), (True, None), (1.5, None), (None, None), ([], None)]
)
def test_an_error_repeats_a_valid_id_alone(identity: object, answered: object) -> None:
    response = rpc_error(400, -32600, "No.", identity, allow="POST")
    assert json.loads(response.body) == {"jsonrpc": "2.0", "id": answered, "error": {"code": -32600, "message": "No."}}
    assert response.headers == {"content-type": "application/json", "allow": "POST"}
