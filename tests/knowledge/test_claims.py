"""Who calls: five shapes of claims, and no right that was not claimed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.claims import CONTEXT_MARK, ClaimNames
from knowledge.errors import InvalidRequestError, ScopeRequiredError
from knowledge.scopes import Caller, authorized_scopes
from tests.support.server import jwt_authorizer, refuse, resolve

VOUCHED = ClaimNames(teams_are_words=True)
ARRAYS = ClaimNames(arrays_in_text=True)

READ = frozenset({"knowledge:read"})


def rest(**claims: object) -> dict[str, Any]:
    return {"principalId": "p", "sub": "ana", "scope": "knowledge:read", **claims}


def own(**claims: object) -> dict[str, Any]:
    """The context that this project's authorizer writes."""
    return rest(**claims, **CONTEXT_MARK)


def cognito(**claims: object) -> dict[str, Any]:
    return {"claims": {"sub": "ana", "scope": "knowledge:read", **claims}}


def context(**claims: object) -> dict[str, Any]:
    return {"lambda": {"sub": "ana", "scope": "knowledge:read", **claims}}


SHAPES = {"rest": rest, "cognito": cognito, "jwt": jwt_authorizer, "lambda": context}
"""Of others than this project's authorizer."""


@pytest.mark.parametrize(
    "authorizer",
    [
        own(teams='["support", "field"]'),
        {"lambda": own(teams='["support", "field"]')},
        context(teams=["support", "field"]),
    ],
)
def test_each_shape_that_can_list_teams_gives_them_all(authorizer: dict[str, Any]) -> None:
    assert resolve(authorizer) == Caller("ana", ("support", "field"), READ)


JSON_TEXTS = [
    '["a","b"]',
    '["finance"]',
    ' ["a"]',
    '["a"]\n',
    '["a"',
    '[["a"]]',
    '["\\u0061"]',
    "a]",
    "[",
    "a[b]",
]
BRACKETED = [*JSON_TEXTS, "[a]", "[1]"]


@pytest.mark.parametrize("shape", ["rest", "cognito", "lambda"])
@pytest.mark.parametrize("text", BRACKETED)
def test_a_group_that_is_called_like_a_list_is_refused(shape: str, text: str) -> None:
    assert "is ambiguous" in refuse(SHAPES[shape](teams=text))
    names = ClaimNames(teams="cognito:groups")
    assert "cognito:groups is ambiguous" in refuse(SHAPES[shape](**{"cognito:groups": text}), names)


@pytest.mark.parametrize("text", JSON_TEXTS)
def test_so_is_one_in_a_flattened_list_or_in_its_place(text: str) -> None:
    assert "is ambiguous" in refuse(jwt_authorizer(teams=text))
    assert "is ambiguous" in refuse(jwt_authorizer(teams=f"[{text}]"))


@pytest.mark.parametrize(
    "authorizer",
    [
        cognito(teams='["a","b"]', **CONTEXT_MARK),
        {**cognito(teams='["a","b"]'), **CONTEXT_MARK},
        jwt_authorizer(teams='["a","b"]', **CONTEXT_MARK),
        {**jwt_authorizer(teams='["a","b"]'), **CONTEXT_MARK},
        rest(teams='["a","b"]', iss="https://issuer.example", exp="1", **CONTEXT_MARK),
        context(teams='["a","b"]', aud="x", **CONTEXT_MARK),
        rest(teams='["a","b"]', **dict.fromkeys(CONTEXT_MARK, "true")),
        rest(teams='["a","b"]', **{name.upper(): value for name, value in CONTEXT_MARK.items()}),
        {**context(teams='["a","b"]'), **CONTEXT_MARK},
    ],
    ids=json.dumps,
)
def test_no_claim_of_an_issuer_looks_like_the_mark_of_the_authorizer(authorizer: dict[str, Any]) -> None:
    assert "is ambiguous" in refuse(authorizer)


@pytest.mark.parametrize("text", ["support", '["a"', '{"a": 1}', "null", "[a b]"])
def test_the_authorizers_own_text_is_an_array_or_refused(text: str) -> None:
    assert "should be a JSON array" in refuse(own(teams=text))


@pytest.mark.parametrize("shape", SHAPES)
def test_an_operator_may_declare_that_text_in_brackets_is_json(shape: str) -> None:
    assert resolve(SHAPES[shape](teams='["a b", "c"]', scope='["x"]'), ARRAYS) == Caller(
        "ana", ("a b", "c"), frozenset({"x"})
    )
    assert resolve(SHAPES[shape](teams="support"), ARRAYS).team_ids == ("support",)
    for text in ("[a]", '["a"', "[" * 5000, "a]", "a b"):
        assert "is ambiguous" in refuse(SHAPES[shape](teams=text), ARRAYS)


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_carries_one_plain_team(shape: str) -> None:
    assert resolve(SHAPES[shape](teams="support")) == Caller("ana", ("support",), READ)


def test_a_flattened_array_of_one_is_that_one() -> None:
    assert resolve(jwt_authorizer(teams="[support]", scope="[openid knowledge:read]")) == Caller(
        "ana", ("support",), frozenset({"openid", "knowledge:read"})
    )


@pytest.mark.parametrize("text", ["[a b]", "a b", "a,b", "[a,b]", "[a, b]", "[ a]", "[a\u00a0b]", "[a\tb]", "a\nb"])
def test_a_flattened_array_that_could_be_one_id_or_two_is_refused(text: str) -> None:
    assert refuse(jwt_authorizer(teams=text)) == (
        "The token's claim teams is ambiguous: an id with whitespace or a comma cannot be distinguished from two "
        "ids; send a JSON array."
    )


@pytest.mark.parametrize("shape", ["rest", "cognito", "lambda"])
@pytest.mark.parametrize("text", ["a b", "a,b", "a, b", "[a b]", '["a"] x', "[" * 5000])
def test_text_that_could_be_several_ids_is_refused(shape: str, text: str) -> None:
    assert "is ambiguous" in refuse(SHAPES[shape](teams=text))


@pytest.mark.parametrize("text", ['["a"]', '["a b"]', '["a" "b"]'])
def test_quotation_marks_in_a_flattened_array_are_not_taken_for_json(text: str) -> None:
    assert "JSON array or an id with quotation marks" in refuse(jwt_authorizer(teams=text))


@pytest.mark.parametrize("text", ["[a b]", "a b", "a,b", "[a, b]"])
def test_only_an_operator_who_vouches_for_the_ids_gets_lists_split(text: str) -> None:
    assert resolve(jwt_authorizer(teams=text), VOUCHED).team_ids == ("a", "b")


def test_even_then_other_whitespace_is_refused() -> None:
    assert refuse(jwt_authorizer(teams="[a b\tc]"), VOUCHED)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("nothing", [None, "", "[]"])
def test_no_teams_are_no_teams(shape: str, nothing: object) -> None:
    assert resolve(SHAPES[shape](teams=nothing)).team_ids == ()


@pytest.mark.parametrize("odd", [True, 1.5, {"a": 1}, {}])
def test_teams_of_another_type_are_refused(odd: object) -> None:
    assert "neither text nor a list" in refuse(context(teams=odd))


@pytest.mark.parametrize("odd", [True, None, 1.5, ["a"], {}])
def test_a_list_with_something_else_than_ids_is_refused(odd: object) -> None:
    assert "one of its entries is not text" in refuse(context(teams=["a", odd]))
    assert "one of its entries is not text" in refuse(own(teams=json.dumps(["a", odd])))


def test_whole_numbers_are_ids_in_digits_and_empty_entries_are_none() -> None:
    assert resolve(context(sub=7, teams=[42, "", "a"])) == Caller("7", ("42", "a"), READ)
    assert resolve(context(teams=7)).team_ids == ("7",)
    assert refuse(context(teams=10**5000))


@pytest.mark.parametrize("owner", [None, "", "  ", True, 1.5, ["ana"], {"a": 1}])
@pytest.mark.parametrize("shape", SHAPES)
def test_without_an_owner_there_is_no_caller_even_with_teams(shape: str, owner: object) -> None:
    assert "names no owner in the claim sub" in refuse(SHAPES[shape](sub=owner, teams="support"))


def test_an_owner_that_may_be_a_list_is_refused() -> None:
    assert "a caller is one owner" in refuse(jwt_authorizer(sub="[ana]"))
    assert resolve(rest(sub="[ana]")).owner_id == "[ana]"


@pytest.mark.parametrize(
    "identity", ["a b", "a,b", "' OR 1=1 --", "héllo", "he\u0301llo", "ｆｕｌｌ", " ana ", "owner:x"]
)
def test_ids_are_taken_as_they_are(identity: str) -> None:
    assert resolve(own(sub=identity, teams=json.dumps([identity]))) == Caller(identity, (identity,), READ)
    assert resolve(context(sub=identity, teams=[identity])) == Caller(identity, (identity,), READ)


@pytest.mark.parametrize(
    "authorizer",
    [
        rest(sub="\ud800"),
        own(teams='["\\ud800"]'),
        context(teams=["a", "\udfff"]),
        rest(teams="\ud800"),
        rest(scope="knowledge:read \ud800"),
        context(scope=["knowledge:read", "\ud800"]),
        rest(client_id="\ud800"),
        rest(azp="a\udc00"),
        cognito(tier="\ud800"),
    ],
)
def test_lone_surrogates_are_refused(authorizer: dict[str, Any]) -> None:
    assert "lone surrogate" in refuse(authorizer)


@pytest.mark.parametrize(
    ("shape", "scope"),
    [
        *((shape, "knowledge:read") for shape in SHAPES),
        *((shape, "openid  knowledge:read profile") for shape in SHAPES),
        ("jwt", "[openid knowledge:read]"),
        ("lambda", ["openid", "knowledge:read", 5]),
    ],
)
@pytest.mark.parametrize("claim", ["scope", "scp"])
def test_a_scope_is_found_in_every_form(shape: str, scope: object, claim: str) -> None:
    caller = resolve(SHAPES[shape](**{"scope": None, claim: scope}))
    assert "knowledge:read" in caller.permissions
    assert authorized_scopes(caller, "knowledge:read")


@pytest.mark.parametrize(
    "scope",
    [
        "",
        None,
        "knowledge:reader",
        "knowledge:read,x",
        "Knowledge:Read",
        5,
        [["x"]],
        "[[]",
        "[knowledge:read]",
        '["knowledge:read"]',
        '["openid", "knowledge:read"]',
        ["openid knowledge:read"],
        ["knowledge:read\t"],
    ],
)
def test_a_scope_that_is_another_does_not_pass(scope: object) -> None:
    with pytest.raises(ScopeRequiredError, match="lacks the scope knowledge:read"):
        authorized_scopes(resolve(rest(scope=scope)), "knowledge:read")


def test_claim_names_are_settings() -> None:
    names = ClaimNames(owner="user", teams="groups", scope="perm", client="app", tier="plan")
    claims = {"user": "u", "groups": "g", "perm": "x", "app": "c", "plan": "pro", "sub": "ana", "scope": "y"}
    assert resolve(claims, names) == Caller("u", ("g",), frozenset({"x"}), "c", "pro")


def test_more_than_fifty_scopes_are_refused_with_the_number() -> None:
    crowd = resolve(own(teams=json.dumps([str(n) for n in range(50)])))
    with pytest.raises(InvalidRequestError, match="51 scopes"):
        authorized_scopes(crowd, "knowledge:read")


TEAM_IDS = st.lists(st.text(st.sampled_from("ab ,[]\"'\\\tÄ界"), min_size=1, max_size=6), max_size=4)


def flatten(teams: list[str]) -> str:
    return f"[{' '.join(teams)}]"


WIRE: Mapping[str, Any] = {
    "REST API, Lambda authorizer": lambda teams: own(teams=json.dumps(teams)),
    "REST API, Cognito": lambda teams: cognito(teams=",".join(teams)),
    "HTTP API, JWT authorizer": lambda teams: jwt_authorizer(teams=flatten(teams)),
    "HTTP API, Lambda authorizer": lambda teams: context(teams=teams),
}


@pytest.mark.parametrize("gateway", WIRE)
@settings(max_examples=400)
@given(teams=TEAM_IDS)
def test_no_gateway_turns_teams_into_a_team_that_was_not_claimed(gateway: str, teams: list[str]) -> None:
    try:
        found = resolve(WIRE[gateway](teams)).team_ids
    except ScopeRequiredError:
        assert "JWT" in gateway or "Cognito" in gateway
    else:
        # One group that is called `[]` counts as none: that text is also how an empty list is written.
        assert set(found) == (set(teams) if teams != ["[]"] or "Lambda" in gateway else set())


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["jwt", "claims", "sub", "teams"]), inner),
    )
)
def test_any_claims_give_a_caller_or_a_documented_error(authorizer: object) -> None:
    with suppress(ScopeRequiredError):
        assert resolve(authorizer).owner_id
