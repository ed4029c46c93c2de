"""From a token's claims to the texts that the gateway carries."""

from __future__ import annotations

import json
from typing import Any

import pytest

from authorizer.claims import MAX_CONTEXT_BYTES, context_of, usage_key
from authorizer.errors import RefusedCallerError
from authorizer.settings import Settings, UsageKeys
from knowledge.claims import ClaimNames

SETTINGS = Settings("https://issuer.example")
CLAIMS: dict[str, Any] = {"sub": "ana", "scope": "openid knowledge:read", "teams": ["support", "a b"]}


def test_a_caller_becomes_five_texts() -> None:
    assert context_of({**CLAIMS, "client_id": "desk", "tier": "pro"}, SETTINGS) == {
        "sub": "ana",
        "teams": '["support","a b"]',
        "scope": "knowledge:read openid",
        "client_id": "desk",
        "tier": "pro",
    }


def test_a_client_may_be_the_authorized_party_and_no_tier_is_the_free_one() -> None:
    context = context_of({**CLAIMS, "azp": "desk"}, SETTINGS)
    assert (context["client_id"], context["tier"]) == ("desk", "free")


@pytest.mark.parametrize("scope", [None, "", "openid", "knowledge:reader", ["openid"], "[knowledge:read]", 7])
def test_a_token_without_the_scope_is_refused(scope: object) -> None:
    with pytest.raises(RefusedCallerError, match="lacks the scope knowledge:read"):
        context_of({**CLAIMS, "scope": scope}, SETTINGS)


@pytest.mark.parametrize("owner", [None, "", "  ", True, ["ana"], 10**18])
def test_a_token_without_an_owner_is_refused(owner: object) -> None:
    with pytest.raises(RefusedCallerError, match="names no owner in the claim sub"):
        context_of({**CLAIMS, "sub": owner}, SETTINGS)


@pytest.mark.parametrize("teams", ["a b", "a,b", '["a"', ["a", 1.5], {"a": 1}, "\ud800", 10**18])
def test_ambiguous_teams_are_refused(teams: object) -> None:
    with pytest.raises(RefusedCallerError, match="claim teams is ambiguous"):
        context_of({**CLAIMS, "teams": teams}, SETTINGS)


def test_an_operator_who_vouches_gets_texts_split() -> None:
    settings = Settings("https://issuer.example", claim_names=ClaimNames(teams_are_words=True))
    assert json.loads(context_of({**CLAIMS, "teams": "a, b"}, settings)["teams"]) == ["a", "b"]


def test_claims_that_the_gateway_cannot_carry_are_refused() -> None:
    with pytest.raises(RefusedCallerError, match="larger than the gateway can pass on"):
        context_of({**CLAIMS, "teams": ["t" * MAX_CONTEXT_BYTES]}, SETTINGS)


def test_a_call_counts_on_the_callers_own_key_else_on_its_tiers() -> None:
    keys = UsageKeys({"ana": "own"}, {"free": "free-key", "pro": "pro-key"})
    names = ClaimNames(usage_key="key")
    assert usage_key({"key": "named"}, {"sub": "ana", "tier": "pro"}, names, keys) == "named"
    assert usage_key({}, {"sub": "ana", "tier": "pro"}, names, keys) == "own"
    assert usage_key({}, {"sub": "ben", "tier": "pro"}, names, keys) == "pro-key"
    assert usage_key({}, {"sub": "ben", "tier": "gold"}, names, keys) == "free-key"
    assert usage_key({}, {"sub": "ben", "tier": "gold"}, names, UsageKeys()) == ""
