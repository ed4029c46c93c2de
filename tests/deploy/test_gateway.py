"""What the stack answers from outside, by the template's own wiring."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from tests.support.calls import request, tool_call
from tests.support.issuer import Issuer, rsa_key
from tests.support.stack import Running, api_host, running
from tests.support.template import raw_template

Json = dict[str, Any]

DOMAIN: Final = {
    "DomainName": "mcp.example.com",
    "CertificateArn": "arn:aws:acm:eu-central-1:123456789012:certificate/1",
}
PLACES: Final[dict[str, dict[str, str]]] = {"below a stage": {}, "under a domain": DOMAIN}
HEADERS: Final = (("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"))


@pytest.fixture(scope="module", params=PLACES.values(), ids=tuple(PLACES))
def stack(request: pytest.FixtureRequest, dataset: str, issuer: Issuer) -> Iterator[Running]:
    with running(dataset, issuer.url, **request.param) as started:
        yield started


def post(stack: Running, token: str | None, message: Json, *more: tuple[str, str]) -> Any:  # noqa: ANN401 - an answer
    bearer = () if token is None else (("Authorization", f"Bearer {token}"),)
    return stack("POST", stack.address, *HEADERS, *bearer, *more, body=json.dumps(message))


def search(query: str = "filter") -> Json:
    return tool_call({"query": query, "mode": "lexical"})


def envelope(answer: Any) -> Json:  # noqa: ANN401 - as above
    assert answer.status == 200, answer
    envelope: Json = json.loads(answer.body)["result"]["structuredContent"]
    return envelope


def test_the_address_has_the_stage_below_the_gateways_host_and_none_under_a_domain(stack: Running) -> None:
    assert stack.address in {
        "https://api.execute-api.eu-central-1.amazonaws.com/prod/mcp",
        "https://mcp.example.com/mcp",
    }


def test_the_configuration_to_paste_names_the_address(stack: Running) -> None:
    pasted = json.loads(stack.gateway.stack.outputs["ClientConfiguration"])
    assert pasted == {"mcpServers": {"search-knowledge": {"type": "http", "url": stack.address}}}


def test_a_good_token_gets_an_answer_from_its_callers_scopes(stack: Running, issuer: Issuer) -> None:
    results = envelope(post(stack, issuer.token(stack.address), search()))["results"]
    assert {(one["scope"], one["owner_id"], one["team_id"]) for one in results} == {
        ("owner", "ana", None),
        ("team", None, "support"),
    }


@pytest.mark.parametrize("scopes", [{"scope": "a knowledge:read b"}, {"scope": None, "scp": ["knowledge:read"]}])
def test_scopes_are_known_as_text_and_as_a_list(stack: Running, issuer: Issuer, scopes: Json) -> None:
    assert envelope(post(stack, issuer.token(stack.address, **scopes), search()))["type"] == "knowledge_search"


def test_no_token_is_challenged_with_the_way_to_log_in(stack: Running, issuer: Issuer) -> None:
    answer = post(stack, None, request("ping"))
    metadata = stack.gateway.stack.outputs["MetadataUrl"]
    assert answer.status == 401
    assert answer.header("WWW-Authenticate") == f'Bearer resource_metadata="{metadata}", scope="knowledge:read"'
    assert answer.header("Access-Control-Allow-Origin") == "*"
    assert answer.header("Access-Control-Expose-Headers") == "WWW-Authenticate"
    assert issuer.url not in answer.body


@pytest.mark.parametrize(
    "value", ["Bearer", "Bearer x", "Basic YTpi", "bearer not.a.token", "Bearer a b"], ids=str.casefold
)
def test_a_bad_header_is_challenged_like_none(stack: Running, value: str) -> None:
    answer = stack("POST", stack.address, *HEADERS, ("Authorization", value), body=json.dumps(request("ping")))
    assert (answer.status, answer.header("WWW-Authenticate") or "") == (
        401,
        post(stack, None, request("ping")).header("WWW-Authenticate"),
    )


def test_two_headers_are_challenged_though_one_would_do(stack: Running, issuer: Issuer) -> None:
    token = issuer.token(stack.address)
    assert post(stack, token, search(), ("Authorization", f"Bearer {token}")).status == 401


@pytest.mark.parametrize("claims", [{"aud": "https://other.example/mcp"}, {"exp": 1}, {"iss": "https://evil.example"}])
def test_a_token_that_does_not_hold_is_challenged(stack: Running, issuer: Issuer, claims: Json) -> None:
    other = {name: value for name, value in claims.items() if name != "aud"}
    answer = post(stack, issuer.token(claims.get("aud", stack.address), **other), search())
    assert (answer.status, answer.header("WWW-Authenticate") is not None) == (401, True)


def test_a_token_for_the_other_place_is_refused(stack: Running, issuer: Issuer) -> None:
    for other in ("https://api.execute-api.eu-central-1.amazonaws.com/prod/mcp", "https://mcp.example.com/mcp"):
        status = post(stack, issuer.token(other), request("ping")).status
        assert status == (200 if other == stack.address else 401)


@pytest.mark.parametrize("claims", [{"scope": "openid"}, {"scope": None}, {"scope": "knowledge:readers"}])
def test_a_good_token_without_the_scope_is_reported_which_one(stack: Running, issuer: Issuer, claims: Json) -> None:
    answer = post(stack, issuer.token(stack.address, **claims), search())
    metadata = stack.gateway.stack.outputs["MetadataUrl"]
    assert answer.status == 403
    assert answer.header("WWW-Authenticate") == (
        f'Bearer error="insufficient_scope", scope="knowledge:read", resource_metadata="{metadata}"'
    )
    assert answer.header("Access-Control-Allow-Origin") == "*"
    assert answer.header("Access-Control-Expose-Headers") == "WWW-Authenticate"


def test_an_issuer_that_is_down_is_a_server_fault(stack: Running, issuer: Issuer, dataset: str) -> None:
    token = issuer.token(stack.address)
    issuer.stop()
    try:
        with running(dataset, issuer.url, **_parameters(stack)) as fresh:
            answer = post(fresh, token, search())
    finally:
        issuer.start()
    assert (answer.status, answer.header("Access-Control-Allow-Origin")) == (500, "*")
    assert answer.header("WWW-Authenticate") is None


def test_a_rotated_key_is_accepted_without_a_restart(stack: Running, issuer: Issuer) -> None:
    assert post(stack, issuer.token(stack.address), request("ping")).status == 200
    issuer.keys.append(rsa_key(f"rotated for {stack.address}"))
    assert post(stack, issuer.token(stack.address), request("ping")).status == 200


def test_a_token_of_eight_kilobytes_gets_through(stack: Running, issuer: Issuer) -> None:
    token = issuer.token(stack.address, filling="x" * 6000)
    assert len(token) > 8192
    assert post(stack, token, request("ping")).status == 200


def test_the_metadata_names_this_resource_and_its_issuer(stack: Running, issuer: Issuer) -> None:
    outputs = stack.gateway.stack.outputs
    own = stack.address.removesuffix("/mcp")
    places = [f"{own}/.well-known/oauth-protected-resource{suffix}" for suffix in ("/mcp", "")]
    for position in [outputs["MetadataUrl"], *places]:
        answer = stack("GET", position)
        assert (answer.status, answer.header("Access-Control-Allow-Origin")) == (200, "*")
        assert json.loads(answer.body) == {
            "resource": stack.address,
            "authorization_servers": [issuer.url],
            "scopes_supported": ["knowledge:read"],
            "bearer_methods_supported": ["header"],
            "resource_name": "search_knowledge",
        }


def test_under_a_domain_the_metadata_lies_at_the_hosts_root_and_the_gateways_own_address_is_shut(
    dataset: str, issuer: Issuer
) -> None:
    with running(dataset, issuer.url, **DOMAIN) as stack:
        assert stack.gateway.stack.outputs["MetadataUrl"] == (
            "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
        )
        assert stack("POST", f"https://{api_host('Api')}/prod/mcp", *HEADERS, body="{}").status == 403
        assert "SignpostApi" not in stack.gateway.stack.resources


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_is_no_stream_and_no_session(stack: Running, method: str) -> None:
    answer = stack(method, stack.address, ("Accept", "text/event-stream"))
    assert (answer.status, answer.header("Allow")) == (405, "POST, OPTIONS")
    assert answer.header("Access-Control-Allow-Origin") == "*"


def test_a_browser_may_ask_before_it_logs_in(stack: Running) -> None:
    own = stack.address.removesuffix("/mcp")
    places = [stack.address, stack.gateway.stack.outputs["MetadataUrl"], f"{own}/.well-known/oauth-protected-resource"]
    for position in places:
        answer = stack("OPTIONS", position, ("Origin", "https://client.example"))
        assert (answer.status, answer.body) == (204, "")
        assert answer.header("Access-Control-Allow-Origin") == "*"
        assert set((answer.header("Access-Control-Allow-Headers") or "").split(",")) == {
            *("authorization", "content-type", "accept", "mcp-protocol-version", "mcp-method", "mcp-name"),
            *("mcp-session-id", "last-event-id"),
        }
        assert "POST" in (answer.header("Access-Control-Allow-Methods") or "")


def test_a_browser_may_read_the_answers(stack: Running, issuer: Issuer) -> None:
    answer = post(stack, issuer.token(stack.address), request("ping"))
    assert (answer.status, answer.header("Access-Control-Allow-Origin")) == (200, "*")


def test_no_function_runs_for_metadata_methods_and_missing_tokens(stack: Running) -> None:
    stack.gateway.calls.clear()
    stack("GET", stack.gateway.stack.outputs["MetadataUrl"])
    stack("GET", stack.address)
    stack("OPTIONS", stack.address)
    post(stack, None, request("ping"))
    assert stack.gateway.calls == []


def test_an_unknown_path_is_not_found(stack: Running) -> None:
    answer = stack("GET", stack.address.removesuffix("/mcp") + "/elsewhere")
    assert (answer.status, json.loads(answer.body)) == (404, {"message": "Not Found"})
    assert answer.header("Access-Control-Allow-Origin") == "*"


def test_calls_count_on_the_key_of_their_tier(stack: Running, issuer: Issuer) -> None:
    unique = "0000-1111-2222-3333"
    for tier, key in {"pro": f"pro-{unique}", "free": f"free-{unique}", "gold": f"free-{unique}"}.items():
        answer = post(stack, issuer.token(stack.address, tier=tier), request("ping"))
        assert (answer.status, _last_key(stack)) == (200, key)


def test_calls_count_on_the_callers_own_key_where_there_is_one(dataset: str, issuer: Issuer) -> None:
    own = {"OwnerKeys": json.dumps({"ben": "pro-0000-1111-2222-3333"}), "UsageKeyClaim": "key"}
    with running(dataset, issuer.url, **own) as stack:
        post(stack, issuer.token(stack.address, sub="ben"), request("ping"))
        assert _last_key(stack) == "pro-0000-1111-2222-3333"
        unknown = post(stack, issuer.token(stack.address, key="a key that no plan holds"), request("ping"))
        assert (unknown.status, unknown.header("Access-Control-Allow-Origin")) == (403, "*")


TEAMS: Final[dict[str, tuple[Any, set[str]]]] = {
    "a list": (["support"], {"support"}),
    "plain text": ("support", {"support"}),
    "an id with a space": (["support field"], set()),
    "an id with a comma": (["support,field"], set()),
    "an id like an array": (['["support"]'], set()),
    "an id with quotes": (['support"', "'field'"], set()),
    "none": (None, set()),
    "empty": ([], set()),
    "an empty id": ([""], set()),
    "in other letters": (["SUPPORT", "ｓｕｐｐｏｒｔ"], set()),
}


@pytest.mark.parametrize(("teams", "readable"), TEAMS.values(), ids=TEAMS)
def test_teams_give_exactly_the_rights_they_name(
    stack: Running, issuer: Issuer, teams: object, readable: set[str]
) -> None:
    results = envelope(post(stack, issuer.token(stack.address, teams=teams), search()))["results"]
    assert {one["team_id"] for one in results} == {None, *readable}


@pytest.mark.parametrize(
    "teams",
    [
        "support field",
        "support,field",
        "[support field]",
        '["support"]',
        '["support", "field"]',
        "[support]",
        5.5,
        {"id": "support"},
        [[]],
        ["\ud800"],
    ],
)
def test_teams_that_can_be_read_in_two_ways_open_nothing(stack: Running, issuer: Issuer, teams: object) -> None:
    assert post(stack, issuer.token(stack.address, teams=teams), search()).status == 403


def test_an_operator_may_vouch_that_team_ids_are_words(dataset: str, issuer: Issuer) -> None:
    with running(dataset, issuer.url, TeamsForm="words") as stack:
        answer = post(stack, issuer.token(stack.address, teams="support, field"), search())
    assert {one["team_id"] for one in envelope(answer)["results"]} == {None, "support", "field"}


@pytest.mark.parametrize("owner", [None, "", "  ", 5.5, ["ana"], {"id": "ana"}, True])
def test_a_token_that_names_no_owner_opens_nothing(stack: Running, issuer: Issuer, owner: object) -> None:
    assert post(stack, issuer.token(stack.address, sub=owner), search()).status == 403


def test_claims_may_have_other_names(dataset: str, issuer: Issuer) -> None:
    names = {
        "OwnerClaim": "https://a.example/owner",
        "TeamsClaim": "groups",
        "ScopeClaim": "permissions",
        "ClientClaim": "app",
        "TierClaim": "plan",
        "RequiredScope": "kb.read",
        "Audiences": "kb,knowledge",
    }
    claims: Json = {"https://a.example/owner": "ana", "groups": ["field"], "permissions": ["kb.read"], "app": "x"}
    with running(dataset, issuer.url, **names) as stack:
        answer = post(stack, issuer.token("kb", sub="x", teams=None, scope=None, plan="pro", **claims), search())
        assert {one["team_id"] for one in envelope(answer)["results"]} == {None, "field"}
        (_, event) = stack.gateway.calls[-1]
        assert event["requestContext"]["authorizer"] == {
            "principalId": "24d4b96f58da6d4a",
            "scope": "kb.read knowledge:read",
            "sub": "ana",
            "teams": '["field"]',
            "client_id": "x",
            "tier": "pro",
            "search_knowledge_context": "1",
        }


def test_an_issuer_without_audiences_may_vouch_by_client_id(dataset: str, issuer: Issuer) -> None:
    with running(dataset, issuer.url, ClientIds="app-1,app-2") as stack:
        for client, audience, status in (
            ("app-2", None, 200),
            ("app-3", None, 401),
            ("app-2", "https://other.example", 401),
            (["app-2"], None, 401),
        ):
            token = issuer.token(audience, client_id=client)
            assert post(stack, token, request("ping")).status == status


def test_claims_too_large_for_the_gateway_open_nothing(stack: Running, issuer: Issuer) -> None:
    for count, status in ((50, 200), (1300, 403)):
        assert post(stack, issuer.token(stack.address, teams=["a"] * count), request("ping")).status == status


def _metadata_at_the_host(template: Json) -> None:
    """The known trap: the stage forgotten in the address."""
    headers = template["Resources"]["Api"]["Properties"]["GatewayResponses"]["UNAUTHORIZED"]["ResponseParameters"]
    values = headers["Headers"]["WWW-Authenticate"]["Fn::Sub"][1]
    values["Metadata"] = {"Fn::Sub": "https://${SignpostApi}.execute-api.${AWS::Region}.${AWS::URLSuffix}/prm/mcp"}


def _another_functions_permission(template: Json) -> None:
    template["Resources"]["GatewayMayCallTheTool"]["Properties"]["FunctionName"] = {"Ref": "AuthorizerFunction"}


def _a_function_that_is_not_the_alias(template: Json) -> None:
    post = template["Resources"]["Api"]["Properties"]["DefinitionBody"]["paths"]["/mcp"]["post"]
    alias = {"Fn::GetAtt": ["SearchKnowledgeFunction", "Arn"]}
    post["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"][1]["Alias"] = alias


def _a_plan_without_its_key(template: Json) -> None:
    del template["Resources"]["FreeKeyInPlan"]


def _no_authorizer(template: Json) -> None:
    post = template["Resources"]["Api"]["Properties"]["DefinitionBody"]["paths"]["/mcp"]["post"]
    post["security"] = [{"usage_key": []}]


MISTAKES: Final[dict[Callable[[Json], None], int]] = {
    _metadata_at_the_host: 200,
    _another_functions_permission: 504,
    _a_function_that_is_not_the_alias: 504,
    _a_plan_without_its_key: 403,
    _no_authorizer: 403,
}


@pytest.mark.parametrize(("spoil", "status"), MISTAKES.items(), ids=[one.__name__ for one in MISTAKES])
def test_a_mistake_in_the_template_is_caught(
    dataset: str, issuer: Issuer, spoil: Callable[[Json], None], status: int
) -> None:
    template = raw_template()
    spoil(template)
    with running(dataset, issuer.url, template) as stack:
        assert post(stack, issuer.token(stack.address), request("ping")).status == status
        challenge = post(stack, None, request("ping")).header("WWW-Authenticate") or ""
        metadata = stack("GET", challenge.partition('resource_metadata="')[2].partition('"')[0]).status
        assert (status, metadata) != (200, 200)


def _parameters(stack: Running) -> dict[str, str]:
    return DOMAIN if "example.com" in stack.address else {}


def _last_key(stack: Running) -> str:
    """The usage key that the authorizer gave last."""
    function, event = next(one for one in reversed(stack.gateway.calls) if one[0] == "AuthorizerFunction")
    key: str = stack.gateway.functions[function](event)["usageIdentifierKey"]
    return key
