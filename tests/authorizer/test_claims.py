"""From a token's claims to the texts that the gateway carries."""

from __future__ import annotations

import json
from typing import Any

import pytest

from authorizer.claims import context_of, usage_key
from authorizer.errors import RefusedCallerError
from authorizer.settings import Settings, UsageKeys
from knowledge.claims import CONTEXT_MARK, ClaimNames

SETTINGS = Settings("https://issuer.example")
CLAIMS: dict[str, Any] = {"sub": "ana", "scope": "openid knowledge:read", "teams": ["support", "a b"]}


def test_a_caller_becomes_five_texts_and_a_mark() -> None:
    assert context_of({**CLAIMS, "client_id": "desk", "tier": "pro"}, SETTINGS) == {
        "sub": "ana",
        "teams": '["support","a b"]',
        "scope": "knowledge:read openid",
        "client_id": "desk",
        "tier": "pro",
        **CONTEXT_MARK,
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


@pytest.mark.parametrize(
    "teams",
    ["a b", "a,b", '["a"', '["finance"]', '["a","b"]', "[a]", "a]", ["a", 1.5], {"a": 1}, "\ud800", 10**18],
)
def test_ambiguous_teams_are_refused(teams: object) -> None:
    with pytest.raises(RefusedCallerError, match="claim teams is ambiguous"):
        context_of({**CLAIMS, "teams": teams}, SETTINGS)


def test_an_operator_who_vouches_gets_texts_split() -> None:
    settings = Settings("https://issuer.example", claim_names=ClaimNames(teams_are_words=True))
    assert json.loads(context_of({**CLAIMS, "teams": "a, b"}, settings)["teams"]) == ["a", "b"]


def test_an_operator_who_declares_arrays_gets_texts_parsed() -> None:
    settings = Settings("https://issuer.example", claim_names=ClaimNames(arrays_in_text=True))
    assert json.loads(context_of({**CLAIMS, "teams": '["a b"]'}, settings)["teams"]) == ["a b"]


def test_the_mark_is_never_taken_from_a_token() -> None:
    claims = {**CLAIMS, **dict.fromkeys(CONTEXT_MARK, "forged"), "iss": "https://issuer.example"}
    assert context_of(claims, SETTINGS) == context_of(CLAIMS, SETTINGS)


@pytest.mark.parametrize("name", ["client_id", "azp", "tier", "scope", "sub", "teams"])
@pytest.mark.parametrize("text", ["\ud800", "knowledge:read \udfff"])
def test_a_lone_surrogate_in_any_claim_passed_on_is_refused(name: str, text: str) -> None:
    with pytest.raises(RefusedCallerError, match=f"claim {name} is ambiguous"):
        context_of({**CLAIMS, name: text}, SETTINGS)


def test_a_list_entry_with_whitespace_does_not_become_two_scopes() -> None:
    context = context_of({**CLAIMS, "scope": ["knowledge:read", "openid knowledge:write"]}, SETTINGS)
    assert context["scope"] == "knowledge:read"


def test_a_call_counts_on_the_callers_own_key_else_on_its_tiers() -> None:
    keys = UsageKeys({"ana": "own"}, {"free": "free-key", "pro": "pro-key"})
    names = ClaimNames(usage_key="key")
    assert usage_key({"key": "named"}, {"sub": "ana", "tier": "pro"}, names, keys) == "named"
    assert usage_key({}, {"sub": "ana", "tier": "pro"}, names, keys) == "own"
    assert usage_key({}, {"sub": "ben", "tier": "pro"}, names, keys) == "pro-key"
    assert usage_key({}, {"sub": "ben", "tier": "gold"}, names, keys) == "free-key"
    assert usage_key({}, {"sub": "ben", "tier": "gold"}, names, UsageKeys()) == ""
    assert usage_key({"": "named"}, {"sub": "ben", "tier": "pro"}, ClaimNames(), keys) == "pro-key"
    with pytest.raises(RefusedCallerError, match="claim key is ambiguous"):
        usage_key({"key": "\ud800"}, {"sub": "ana", "tier": "pro"}, names, keys)
