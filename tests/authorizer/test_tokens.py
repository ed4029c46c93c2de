"""Which tokens are accepted: real tokens of a real issuer, through the authorizer's own handler."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import replace
from typing import Final

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from authorizer.app import Authorizer, UnauthorizedError
from authorizer.settings import settings_from
from authorizer.tokens import MAX_KEYS_TRIED
from tests.support.authorizer import HOST, RESOURCE, UNAUTHORIZED, Json, effect, event
from tests.support.issuer import Issuer, SigningKey, ec_key, rsa_key


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
    # A day ahead: these moments are computed when the file is read, and its tests may wait for their turn.
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


def unsigned_token(claims: Json, **header: object) -> str:
    parts = ({"alg": "none", "typ": "JWT", **header}, claims)
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts) + "."


def good_claims(issuer: Issuer) -> Json:
    return {**issuer.claims, "iss": issuer.url, "aud": RESOURCE, "exp": int(time.time()) + 600}


@pytest.mark.parametrize("algorithm", ["none", "NONE", "", None, "HS256", "RS256", ["RS256"]])
def test_a_token_without_a_signature_is_unauthorized(issuer: Issuer, authorizer: Authorizer, algorithm: object) -> None:
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {unsigned_token(good_claims(issuer), alg=algorithm, kid='one')}"))


def test_the_public_key_is_no_shared_secret(issuer: Issuer, authorizer: Authorizer, signing_key: SigningKey) -> None:
    # PyJWT itself refuses to sign so: the forgery is made by hand.
    import hashlib  # noqa: PLC0415 - for the forger only
    import hmac  # noqa: PLC0415 - as above

    body = unsigned_token(good_claims(issuer), alg="HS256", kid="one").rstrip(".")
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


def sign_without_key_id(issuer: Issuer, key: SigningKey) -> str:
    return jwt.encode(good_claims(issuer), key.private, algorithm=key.algorithm)


def publish(issuer: Issuer, *keys: SigningKey, named: bool = True) -> None:
    """Show these keys, with or without their ids."""
    hidden = () if named else ("kid",)
    issuer.documents["/jwks"] = {"keys": [{k: v for k, v in key.jwk.items() if k not in hidden} for key in keys]}


def is_accepted(issuer: Issuer, token: str) -> bool:
    """Whether an authorizer that has fetched no keys yet accepts a token."""
    authorizer = Authorizer(settings_from({"ISSUER": issuer.url}))
    try:
        return effect(authorizer(event(f"Bearer {token}"))) == "Allow"
    except UnauthorizedError:
        return False


def test_a_token_without_a_key_id_is_judged_by_every_key_that_fits(issuer: Issuer) -> None:
    keys = [rsa_key("one"), ec_key("curve"), ec_key("another"), rsa_key("two")]
    publish(issuer, *keys)
    assert [is_accepted(issuer, sign_without_key_id(issuer, key)) for key in keys] == [True] * 4
    assert not is_accepted(issuer, sign_without_key_id(issuer, ec_key("curve")))


def test_a_key_that_stands_twice_in_the_set_verifies(issuer: Issuer, signing_key: SigningKey) -> None:
    publish(issuer, signing_key, signing_key)
    assert is_accepted(issuer, issuer.token(RESOURCE))
    assert not is_accepted(issuer, issuer.token(RESOURCE, signed_by=rsa_key("one")))


def test_two_keys_with_one_id_are_both_tried(issuer: Issuer) -> None:
    keys = [rsa_key("same"), rsa_key("same"), ec_key("same")]
    publish(issuer, *keys)
    assert [is_accepted(issuer, issuer.token(RESOURCE, signed_by=key)) for key in keys] == [True] * 3


def test_keys_without_ids_are_all_tried(issuer: Issuer) -> None:
    keys = [rsa_key("one"), rsa_key("two"), ec_key("three")]
    publish(issuer, *keys, named=False)
    assert [is_accepted(issuer, issuer.token(RESOURCE, signed_by=key)) for key in keys] == [True] * 3
    assert [is_accepted(issuer, sign_without_key_id(issuer, key)) for key in keys] == [True] * 3
    assert not is_accepted(issuer, issuer.token(RESOURCE, signed_by=rsa_key("four")))


def test_a_rotated_key_without_an_id_is_found_at_once(issuer: Issuer, authorizer: Authorizer) -> None:
    for key in (rsa_key("one"), rsa_key("two")):
        publish(issuer, key, named=False)
        assert effect(authorizer(event(f"Bearer {sign_without_key_id(issuer, key)}"))) == "Allow"


def test_a_broken_key_does_not_hide_a_good_one_of_its_id(issuer: Issuer, signing_key: SigningKey) -> None:
    jwk = signing_key.jwk
    for broken in (jwk | {"n": 5}, jwk | {"n": "AQ"}, {**jwk, "e": None}, {"kid": "one", "kty": "RSA"}):
        issuer.documents["/jwks"] = {"keys": [broken, jwk]}
        assert is_accepted(issuer, issuer.token(RESOURCE))


def test_no_more_keys_are_tried_than_the_limit(issuer: Issuer, signing_key: SigningKey) -> None:
    others = [ec_key(f"{number}") for number in range(3)]
    jwks = [one.jwk | {"alg": "RS256", "kty": "RSA", "kid": None} for one in others] + [signing_key.jwk | {"kid": None}]
    issuer.documents["/jwks"] = {"keys": jwks[:1] * (MAX_KEYS_TRIED - 1) + jwks[-1:]}
    assert is_accepted(issuer, issuer.token(RESOURCE))
    issuer.documents["/jwks"] = {"keys": jwks[:1] * MAX_KEYS_TRIED + jwks[-1:]}
    assert not is_accepted(issuer, issuer.token(RESOURCE))


@pytest.mark.parametrize(("bits", "accepted"), [(1024, False), (1536, False), (2047, False), (2048, True)])
@pytest.mark.filterwarnings("ignore::jwt.InsecureKeyLengthWarning")
def test_rsa_keys_below_2048_bits_verify_nothing(issuer: Issuer, bits: int, accepted: bool) -> None:  # noqa: FBT001 - a column of the table
    key = SigningKey("weak", "RS256", rsa.generate_private_key(public_exponent=65537, key_size=bits))
    publish(issuer, key)
    assert is_accepted(issuer, issuer.token(RESOURCE, signed_by=key)) is accepted
    assert is_accepted(issuer, sign_without_key_id(issuer, key)) is accepted


@pytest.mark.parametrize("kind", ["JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt", "application/jwt", None])
def test_access_tokens_are_accepted_by_their_type(issuer: Issuer, kind: str | None) -> None:
    assert is_accepted(issuer, issuer.token(RESOURCE, headers={"typ": kind}))


@pytest.mark.parametrize(
    "kind",
    [
        *("dpop+jwt", "DPoP+jwt", "id_token+jwt", "id+jwt", "logout+jwt", "secevent+jwt", "kb+jwt", "vc+sd-jwt"),
        *("application/dpop+jwt", "oauth-authz-req+jwt", "token-introspection+jwt", "JWS", "at+jwt ", " ", "x/jwt"),
    ],
)
def test_a_token_of_another_type_is_unauthorized(issuer: Issuer, kind: str) -> None:
    assert not is_accepted(issuer, issuer.token(RESOURCE, headers={"typ": kind}))


@pytest.mark.parametrize(
    "claims",
    [
        *({"token_use": "id"}, {"token_use": None, "typ": "ID"}, {"typ": "Refresh"}, {"typ": "Offline"}),
        *({"typ": "Logout"}, {"typ": "id_token"}, {"at_hash": "x"}, {"c_hash": "x"}, {"events": {"a": {}}}),
    ],
    ids=json.dumps,
)
def test_a_token_whose_claims_name_another_use_is_unauthorized(issuer: Issuer, claims: Json) -> None:
    assert not is_accepted(issuer, issuer.token(RESOURCE, **claims))


@pytest.mark.parametrize("claims", [{"token_use": "access"}, {"typ": "Bearer"}, {"typ": "JWT"}, {"nonce": "x"}])
def test_a_token_whose_claims_name_this_use_is_accepted(issuer: Issuer, claims: Json) -> None:
    assert is_accepted(issuer, issuer.token(RESOURCE, **claims))


def test_an_encryption_key_signs_nothing(issuer: Issuer, authorizer: Authorizer, signing_key: SigningKey) -> None:
    issuer.documents["/jwks"] = {"keys": [signing_key.jwk | {"use": "enc"}]}
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {issuer.token(RESOURCE)}"))


@pytest.mark.parametrize("header", [b"[" * 90000, b'{"alg":"RS256","kid":5}', b'{"alg":"RS256","kid":{}}', b"5"])
def test_an_unknown_token_header_is_unauthorized(authorizer: Authorizer, header: bytes) -> None:
    text = base64.urlsafe_b64encode(header[:9000]).rstrip(b"=").decode()
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {text}.e30.eA"))
