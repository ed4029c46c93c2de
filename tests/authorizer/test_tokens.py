"""Which tokens are accepted: real tokens of a real issuer, through the authorizer's own handler."""

from __future__ import annotations

import base64
import json
import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import jwt
import pytest
from hypothesis import HealthCheck, given, settings, strategies

from authorizer.app import Authorizer, UnauthorizedError
from authorizer.errors import IssuerUnavailableError
from authorizer.settings import Settings, settings_from
from authorizer.signing_keys import KEYS_SECONDS, REFETCH_WINDOW_SECONDS, REFETCHES, IssuerKeys
from tests.support.issuer import Issuer, SigningKey, ec_key, rsa_key

Json = dict[str, Any]

HOST: Final = "abc.execute-api.eu-central-1.amazonaws.com"
RESOURCE: Final = f"https://{HOST}/prod/mcp"
ARN: Final = "arn:aws:execute-api:eu-central-1:123456789012:abc/prod/POST/mcp"
UNAUTHORIZED: Final = pytest.raises(UnauthorizedError, match=r"^Unauthorized$")


def event(*authorizations: str, name: str = "Authorization") -> Json:
    """The gateway's event for a request with these Authorization headers."""
    several = {"Accept": ["*/*"]} | ({name: list(authorizations)} if authorizations else {})
    return {
        "type": "REQUEST",
        "methodArn": ARN,
        "headers": {key: values[-1] for key, values in several.items()},
        "multiValueHeaders": several,
        "requestContext": {"domainName": HOST, "stage": "prod"},
    }


@pytest.fixture(scope="module")
def signing_key() -> SigningKey:
    return rsa_key("one")


@pytest.fixture
def issuer(signing_key: SigningKey) -> Iterator[Issuer]:
    with Issuer(keys=[signing_key]) as running:
        yield running


@pytest.fixture
def authorizer(issuer: Issuer) -> Authorizer:
    return Authorizer(settings_from({"ISSUER": issuer.url}))


def effect(answer: Json) -> str:
    statement: Json = answer["policyDocument"]["Statement"][0]
    assert (statement["Action"], statement["Resource"]) == ("execute-api:Invoke", ARN)
    return str(statement["Effect"])


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
        },
    }


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
@pytest.mark.parametrize("name", ["Authorization", "authorization", "AUTHORIZATION"])
def test_the_scheme_and_the_header_are_known_in_any_case(
    issuer: Issuer, authorizer: Authorizer, scheme: str, name: str
) -> None:
    assert effect(authorizer(event(f"{scheme} {issuer.token(RESOURCE)}", name=name))) == "Allow"


def test_an_event_with_single_headers_only_is_read_too(issuer: Issuer, authorizer: Authorizer) -> None:
    single = event(f"Bearer {issuer.token(RESOURCE)}") | {"multiValueHeaders": None}
    assert effect(authorizer(single)) == "Allow"


def test_a_token_of_eight_kilobytes_is_accepted(issuer: Issuer, authorizer: Authorizer) -> None:
    token = issuer.token(RESOURCE, filling="x" * 6000)
    assert len(token) > 8192
    assert effect(authorizer(event(f"Bearer {token}"))) == "Allow"


@pytest.mark.parametrize("audience", [[RESOURCE], ["https://other.example", RESOURCE]], ids=["alone", "among others"])
def test_an_audience_may_be_a_list(issuer: Issuer, authorizer: Authorizer, audience: list[str]) -> None:
    assert effect(authorizer(event(f"Bearer {issuer.token(audience)}"))) == "Allow"


WRONG: Final[dict[str, Json]] = {
    "expired": {"exp": int(time.time()) - 60},
    "without an end": {"exp": None},
    "an end that is no time": {"exp": "tomorrow"},
    "an end beyond all numbers": {"exp": float("inf")},
    # A day ahead: these moments are told when the file is read, and its tests may wait for their turn.
    "not yet valid": {"nbf": int(time.time()) + 86_400},
    "from the future": {"iat": int(time.time()) + 86_400},
    "of another issuer": {"iss": "https://evil.example"},
    "of the issuer with a slash more": {"iss": "http://127.0.0.1/"},
    "without an issuer": {"iss": None},
    "for another audience": {"aud": "https://other.example/mcp"},
    "for another stage": {"aud": f"https://{HOST}/test/mcp"},
    "for the host alone": {"aud": f"https://{HOST}"},
    "for a longer path": {"aud": f"{RESOURCE}/more"},
    "for several others": {"aud": ["https://other.example", 5, None]},
    "without an audience": {"aud": None},
    "for an audience that is an object": {"aud": {"resource": RESOURCE}},
}


@pytest.mark.parametrize("claims", WRONG.values(), ids=WRONG)
def test_a_token_that_does_not_hold_is_unauthorized(issuer: Issuer, authorizer: Authorizer, claims: Json) -> None:
    audience = claims.get("aud", RESOURCE)
    token = issuer.token(audience, **{name: value for name, value in claims.items() if name != "aud"})
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {token}"))


@pytest.mark.parametrize("claims", [{"exp": -20}, {"nbf": 20}, {"iat": 20}])
def test_clocks_may_differ_by_a_few_seconds(issuer: Issuer, authorizer: Authorizer, claims: Json) -> None:
    moved = {name: int(time.time()) + seconds for name, seconds in claims.items()}
    assert effect(authorizer(event(f"Bearer {issuer.token(RESOURCE, **moved)}"))) == "Allow"


def unsigned(claims: Json, **header: object) -> str:
    parts = ({"alg": "none", "typ": "JWT", **header}, claims)
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts) + "."


def good_claims(issuer: Issuer) -> Json:
    return {**issuer.claims, "iss": issuer.url, "aud": RESOURCE, "exp": int(time.time()) + 600}


@pytest.mark.parametrize("algorithm", ["none", "NONE", "", None, "HS256", "RS256", ["RS256"]])
def test_a_token_without_a_signature_is_unauthorized(issuer: Issuer, authorizer: Authorizer, algorithm: object) -> None:
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {unsigned(good_claims(issuer), alg=algorithm, kid='one')}"))


def test_the_public_key_is_no_shared_secret(issuer: Issuer, authorizer: Authorizer, signing_key: SigningKey) -> None:
    # PyJWT itself refuses to sign so: the forgery is made by hand.
    import hashlib  # noqa: PLC0415 - for the forger only
    import hmac  # noqa: PLC0415 - as above

    body = unsigned(good_claims(issuer), alg="HS256", kid="one").rstrip(".")
    for secret in (signing_key.public_pem, json.dumps(signing_key.jwk).encode()):
        mac = base64.urlsafe_b64encode(hmac.new(secret, body.encode(), hashlib.sha256).digest()).rstrip(b"=").decode()
        with UNAUTHORIZED:
            authorizer(event(f"Bearer {body}.{mac}"))


def test_a_key_serves_its_own_algorithm_only(issuer: Issuer, authorizer: Authorizer, signing_key: SigningKey) -> None:
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {issuer.token(RESOURCE, signed_by=replace(signing_key, algorithm='RS512'))}"))


def test_the_same_key_id_does_not_make_a_foreign_key_the_issuers(issuer: Issuer, authorizer: Authorizer) -> None:
    for foreign in (rsa_key("one"), ec_key("one")):
        with UNAUTHORIZED:
            authorizer(event(f"Bearer {issuer.token(RESOURCE, signed_by=foreign)}"))


def test_a_key_that_the_token_brings_along_is_not_used(issuer: Issuer, authorizer: Authorizer) -> None:
    foreign = rsa_key("one")
    for headers in ({"jwk": foreign.jwk}, {"jku": f"{issuer.url}/evil"}, {"x5u": f"{issuer.url}/evil"}):
        with UNAUTHORIZED:
            authorizer(event(f"Bearer {issuer.token(RESOURCE, signed_by=foreign, headers=headers)}"))
    assert "/evil" not in issuer.requests


def test_elliptic_curve_keys_are_accepted(issuer: Issuer, authorizer: Authorizer) -> None:
    issuer.keys.append(ec_key("curve"))
    assert effect(authorizer(event(f"Bearer {issuer.token(RESOURCE)}"))) == "Allow"


def test_a_token_without_a_key_id_is_judged_by_the_only_key_that_fits(issuer: Issuer, authorizer: Authorizer) -> None:
    def bare(key: SigningKey) -> str:
        return jwt.encode(good_claims(issuer), key.private, algorithm=key.algorithm)

    issuer.keys.append(ec_key("curve"))
    assert effect(authorizer(event(f"Bearer {bare(issuer.keys[1])}"))) == "Allow"
    issuer.keys.append(ec_key("another curve"))
    with UNAUTHORIZED:
        Authorizer(settings_from({"ISSUER": issuer.url}))(event(f"Bearer {bare(issuer.keys[1])}"))


def test_an_encryption_key_signs_nothing(issuer: Issuer, authorizer: Authorizer, signing_key: SigningKey) -> None:
    issuer.documents["/jwks"] = {"keys": [signing_key.jwk | {"use": "enc"}]}
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {issuer.token(RESOURCE)}"))


HEADERS: Final = {
    "no header": [],
    "an empty one": [""],
    "no space": ["Bearer{token}"],
    "no token": ["Bearer "],
    "the token alone": ["{token}"],
    "another scheme": ["Basic {token}"],
    "a scheme like it": ["Bearers {token}"],
    "two headers": ["Bearer {token}", "Bearer {token}"],
    "two tokens": ["Bearer {token}, Bearer {token}"],
    "two words": ["Bearer {token} {token}"],
    "a tab": ["Bearer\t{token}"],
    "a line break": ["Bearer {token}\n"],
    "quotes": ['Bearer "{token}"'],
    "20 kB": ["Bearer {token}" + "x" * 20000],
    "other letters": ["Bearer töken"],
    "three empty parts": ["Bearer .."],
}


@pytest.mark.parametrize("headers", HEADERS.values(), ids=HEADERS)
def test_a_header_that_is_not_one_bearer_token_is_unauthorized(
    issuer: Issuer, authorizer: Authorizer, headers: list[str]
) -> None:
    token = issuer.token(RESOURCE)
    with UNAUTHORIZED:
        authorizer(event(*(one.replace("{token}", token) for one in headers)))


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


@pytest.mark.parametrize("header", [b"[" * 90000, b'{"alg":"RS256","kid":5}', b'{"alg":"RS256","kid":{}}', b"5"])
def test_a_strange_token_header_is_unauthorized(authorizer: Authorizer, header: bytes) -> None:
    text = base64.urlsafe_b64encode(header[:9000]).rstrip(b"=").decode()
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {text}.e30.eA"))


# Keys come and go


def test_rotated_keys_are_found_at_once_and_old_ones_hold_as_long_as_the_issuer_shows_them(
    issuer: Issuer, authorizer: Authorizer
) -> None:
    old = issuer.token(RESOURCE)
    assert effect(authorizer(event(f"Bearer {old}"))) == "Allow"
    issuer.keys.append(rsa_key("two"))
    assert effect(authorizer(event(f"Bearer {issuer.token(RESOURCE)}"))) == "Allow"
    assert effect(authorizer(event(f"Bearer {old}"))) == "Allow"
    issuer.keys[:] = [rsa_key("three")]
    assert effect(authorizer(event(f"Bearer {issuer.token(RESOURCE)}"))) == "Allow"
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {old}"))


def test_keys_are_fetched_once_for_many_tokens(issuer: Issuer, authorizer: Authorizer) -> None:
    for _ in range(5):
        authorizer(event(f"Bearer {issuer.token(RESOURCE)}"))
    assert issuer.requests == ["/.well-known/openid-configuration", "/jwks"]


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def clocked(issuer: Issuer) -> tuple[Authorizer, Clock]:
    clock = Clock()
    return Authorizer(Settings(issuer.url), IssuerKeys(issuer.url, clock=clock)), clock


def test_unknown_key_ids_cannot_flood_the_issuer(issuer: Issuer) -> None:
    authorizer, clock = clocked(issuer)
    foreign = rsa_key("x")
    for number in range(20):
        with UNAUTHORIZED:
            authorizer(event(f"Bearer {issuer.token(RESOURCE, signed_by=replace(foreign, kid=str(number)))}"))
    assert issuer.requests.count("/jwks") == 1 + REFETCHES
    assert effect(authorizer(event(f"Bearer {issuer.token(RESOURCE)}"))) == "Allow"
    clock.now += REFETCH_WINDOW_SECONDS + 1
    issuer.keys.append(rsa_key("two"))
    assert effect(authorizer(event(f"Bearer {issuer.token(RESOURCE)}"))) == "Allow"


def test_a_withdrawn_key_stops_working_when_the_keys_are_old(issuer: Issuer) -> None:
    authorizer, clock = clocked(issuer)
    token = issuer.token(RESOURCE)
    assert effect(authorizer(event(f"Bearer {token}"))) == "Allow"
    issuer.keys[:] = [rsa_key("two")]
    clock.now += KEYS_SECONDS
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {token}"))


def test_an_issuer_that_is_down_is_a_fault_that_is_logged_and_never_a_pass(
    issuer: Issuer, authorizer: Authorizer, caplog: pytest.LogCaptureFixture
) -> None:
    token = issuer.token(RESOURCE)
    issuer.stop()
    with pytest.raises(IssuerUnavailableError):
        authorizer(event(f"Bearer {token}"))
    (record,) = [one for one in caplog.records if one.message == "issuer unavailable"]
    assert record.levelno == logging.ERROR
    assert "ConnectionRefusedError" in record.__dict__["reason"] or "refused" in record.__dict__["reason"]
    issuer.start()
    assert effect(authorizer(event(f"Bearer {token}"))) == "Allow"


BROKEN: Final[dict[str, tuple[str, object]]] = {
    "metadata of another issuer": ("/.well-known/openid-configuration", {"issuer": "https://evil.example"}),
    "metadata that is no JSON": ("/.well-known/openid-configuration", b"<html>"),
    "metadata that is a list": ("/.well-known/openid-configuration", []),
    "no keys": ("/jwks", {}),
    "keys that are no list": ("/jwks", {"keys": "one"}),
    "endless keys": ("/jwks", b" " * 600_000),
    "bottomless keys": ("/jwks", b"[" * 200_000),
}


@pytest.mark.parametrize(("path", "document"), BROKEN.values(), ids=BROKEN)
def test_an_issuer_that_talks_nonsense_is_a_fault_and_never_a_pass(
    issuer: Issuer, authorizer: Authorizer, path: str, document: object
) -> None:
    issuer.documents[path] = document
    with pytest.raises(IssuerUnavailableError):
        authorizer(event(f"Bearer {issuer.token(RESOURCE)}"))


def test_keys_are_not_fetched_without_tls_from_elsewhere(issuer: Issuer, authorizer: Authorizer) -> None:
    issuer.documents["/.well-known/openid-configuration"] = {"issuer": issuer.url, "jwks_uri": "http://keys.example/"}
    with pytest.raises(IssuerUnavailableError, match="without TLS"):
        authorizer(event(f"Bearer {issuer.token(RESOURCE)}"))


def test_a_redirect_does_not_lead_to_keys_without_tls(issuer: Issuer, authorizer: Authorizer) -> None:
    # A name for this machine that is not on the list of those that may do without TLS.
    issuer.redirects["/jwks"] = f"http://127.1:{issuer.port}/moved"
    issuer.documents["/moved"] = {"keys": [key.jwk for key in issuer.keys]}
    with pytest.raises(IssuerUnavailableError, match="without TLS"):
        authorizer(event(f"Bearer {issuer.token(RESOURCE)}"))
    assert "/moved" in issuer.requests


def test_keys_that_are_no_keys_fit_no_token(issuer: Issuer, authorizer: Authorizer) -> None:
    issuer.documents["/jwks"] = {"keys": [5, None, {}, {"kid": "one", "kty": "RSA"}]}
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {issuer.token(RESOURCE)}"))


def test_no_token_is_ever_logged(issuer: Issuer, authorizer: Authorizer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    good, bad = issuer.token(RESOURCE), issuer.token("elsewhere")
    authorizer(event(f"Bearer {good}"))
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {bad}"))
    told = " ".join(str(record.__dict__) for record in caplog.records)
    assert "token refused" in told
    assert good not in told
    assert bad not in told
