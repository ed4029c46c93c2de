"""Shared by tests of the server: refusals, and claims in an HTTP API's form."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from knowledge.claims import ClaimNames
from knowledge.errors import ScopeRequiredError
from knowledge.scopes import Caller
from search_knowledge.gateway import claims_of
from search_knowledge.settings import Settings
from search_knowledge.tool import resolve_caller
from tests.support.calls import (
    Json,
    body_of,
    request,
)

PING = request("ping")


def read_refusal(answer: Json) -> tuple[int, int]:
    """HTTP status and JSON-RPC code."""
    assert answer["headers"]["content-type"] == "application/json"
    return answer["statusCode"], body_of(answer)["error"]["code"]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=6,
)
USUAL = ClaimNames()


def jwt_authorizer(**claims: object) -> dict[str, Any]:
    return {"jwt": {"claims": {"sub": "ana", "scope": "knowledge:read", **claims}, "scopes": None}}


def resolve(authorizer: object, names: ClaimNames = USUAL) -> Caller:
    return resolve_caller(claims_of(authorizer), names)


def refuse(authorizer: object, names: ClaimNames = USUAL) -> str:
    with pytest.raises(ScopeRequiredError) as caught:
        resolve(authorizer, names)
    return caught.value.message


ON = Settings(runtime_switch="on")
