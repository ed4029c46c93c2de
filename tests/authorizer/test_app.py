"""The authorizer as the gateway calls it."""

from __future__ import annotations

import base64
import json
import logging
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies

from authorizer.app import Authorizer, compose
from authorizer.requests import MAX_ANSWER_BYTES
from authorizer.settings import settings_from
from tests.support.authorizer import ARN, RESOURCE, UNAUTHORIZED, effect, event
from tests.support.issuer import Issuer


def test_a_good_token_is_allowed_and_its_claims_are_passed_on(issuer: Issuer, authorizer: Authorizer) -> None:
    token = issuer.token(RESOURCE, scope="openid knowledge:read", azp="inspector", tier="pro")
    assert authorizer(event(f"Bearer {token}")) == {
        "principalId": "24d4b96f58da6d4a",
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [{"Action": "execute-api:Invoke", "Effect": "Allow", "Resource": ARN}],
        },
        "context": {
            "scope": "knowledge:read openid",
            "sub": "ana",
            "teams": '["support"]',
            "client_id": "inspector",
            "tier": "pro",
            "search_knowledge_context": "1",
        },
    }


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    token=strategies.text(max_size=200)
    | strategies.builds(
        lambda *parts: ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts),
        *([strategies.binary(max_size=60) | strategies.just(b'{"alg":"RS256","kid":"one"}')] * 3),
    )
)
def test_no_text_at_all_is_anything_but_unauthorized(authorizer: Authorizer, token: str) -> None:
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {token}"))


@pytest.mark.parametrize(
    "claims",
    [
        {"key": "k" * 9000},
        {"key": "k" * 4000, "teams": ["t" * 4000]},
        {"teams": ["界" * 1400]},
        {"sub": "o" * 8000},
        {"client_id": "c" * 8000},
        {"tier": "t" * 8000},
        {"scope": "knowledge:read " + "s" * 8000},
        {"sub": "ana", "teams": ["t" * 20] * 400},
    ],
    ids="+".join,
)
def test_an_answer_that_the_gateway_would_not_accept_is_a_refusal(issuer: Issuer, claims: dict[str, Any]) -> None:
    authorizer = Authorizer(settings_from({"ISSUER": issuer.url, "USAGE_KEY_CLAIM": "key"}))
    answer = authorizer(event(f"Bearer {issuer.token(RESOURCE, **claims)}"))
    assert effect(answer) == "Deny"
    assert len(json.dumps(answer)) < 500


def test_the_largest_answer_is_as_large_as_the_gateway_accepts(issuer: Issuer, authorizer: Authorizer) -> None:
    def answer_to(length: int) -> dict[str, Any]:
        return authorizer(event(f"Bearer {issuer.token(RESOURCE, teams=['t' * length])}"))

    rest = len(json.dumps(answer_to(1))) - 1
    assert effect(answer_to(MAX_ANSWER_BYTES - rest)) == "Allow"
    assert effect(answer_to(MAX_ANSWER_BYTES - rest + 1)) == "Deny"


@pytest.mark.parametrize("name", ["sub", "teams", "client_id", "azp", "tier", "scope", "key"])
def test_a_lone_surrogate_is_a_refusal(issuer: Issuer, name: str) -> None:
    authorizer = Authorizer(settings_from({"ISSUER": issuer.url, "USAGE_KEY_CLAIM": "key"}))
    claims: dict[str, Any] = {name: "knowledge:read \ud800"}
    answer = authorizer(event(f"Bearer {issuer.token(RESOURCE, **claims)}"))
    assert effect(answer) == "Deny"
    json.dumps(answer, ensure_ascii=False).encode()


def test_no_token_is_ever_logged(issuer: Issuer, authorizer: Authorizer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    good, bad = issuer.token(RESOURCE), issuer.token("elsewhere")
    authorizer(event(f"Bearer {good}"))
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {bad}"))
    logged = " ".join(str(record.__dict__) for record in caplog.records)
    assert "token refused" in logged
    assert good not in logged
    assert bad not in logged


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"ISSUER": "http://auth.example.com"},
        {"ISSUER": "https://auth.example.com", "TIER_KEYS": "free"},
        {"ISSUER": "https://auth.example.com", "OWNER_KEYS": "[]"},
        {"ISSUER": "https://auth.example.com", "OWNER_KEYS": '{"ana": 5}'},
    ],
    ids=str,
)
def test_wrong_settings_refuse_every_call_and_are_logged_each_time(
    wrong: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    closed = compose(wrong)
    for _ in range(2):
        with pytest.raises(RuntimeError):
            closed({})
    assert [record.message for record in caplog.records] == ["settings are wrong"] * 2
    assert {record.levelno for record in caplog.records} == {logging.ERROR}


def test_importing_the_handler_opens_nothing_and_needs_the_claims_rule_alone_of_the_core_library() -> None:
    program = "import sys, authorizer.app; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert not {"boto3", "lancedb", "mcp", "numpy", "pyarrow", "search_knowledge"} & set(loaded)
    assert [name for name in loaded if name.partition(".")[0] == "knowledge"] == [
        "knowledge",
        "knowledge.claims",
        "knowledge.text",
    ]
