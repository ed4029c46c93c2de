"""The issuer's keys: found, remembered, fetched again, and never taken from elsewhere."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Final

import pytest

from authorizer.app import Authorizer
from authorizer.errors import IssuerUnavailableError
from authorizer.settings import Settings
from authorizer.signing_keys import (
    FAILURE_SECONDS,
    KEYS_SECONDS,
    LOAD_SECONDS,
    REFETCH_WINDOW_SECONDS,
    REFETCHES,
    IssuerKeys,
)
from tests.support.authorizer import RESOURCE, UNAUTHORIZED, effect, event
from tests.support.issuer import Issuer, rsa_key


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


def authorizer_with_clock(issuer: Issuer) -> tuple[Authorizer, Clock]:
    clock = Clock()
    return Authorizer(Settings(issuer.url), IssuerKeys(issuer.url, clock=clock)), clock


def test_unknown_key_ids_cannot_flood_the_issuer(issuer: Issuer) -> None:
    authorizer, clock = authorizer_with_clock(issuer)
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
    authorizer, clock = authorizer_with_clock(issuer)
    token = issuer.token(RESOURCE)
    assert effect(authorizer(event(f"Bearer {token}"))) == "Allow"
    issuer.keys[:] = [rsa_key("two")]
    clock.now += KEYS_SECONDS
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {token}"))


def test_an_issuer_that_is_down_is_a_fault_that_is_logged_and_never_a_pass(
    issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    authorizer, clock = authorizer_with_clock(issuer)
    token = issuer.token(RESOURCE)
    issuer.stop()
    with pytest.raises(IssuerUnavailableError):
        authorizer(event(f"Bearer {token}"))
    (record,) = [one for one in caplog.records if one.message == "issuer unavailable"]
    assert record.levelno == logging.ERROR
    assert "ConnectionRefusedError" in record.__dict__["reason"] or "refused" in record.__dict__["reason"]
    issuer.start()
    clock.now += FAILURE_SECONDS
    assert effect(authorizer(event(f"Bearer {token}"))) == "Allow"


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/jwks"])
def test_a_failure_is_remembered_so_that_a_flood_of_tokens_is_none_of_fetches(issuer: Issuer, path: str) -> None:
    authorizer, clock = authorizer_with_clock(issuer)
    issuer.documents[path] = b"<html>down</html>"
    good = issuer.token(RESOURCE)
    foreign = rsa_key("x")
    for number in range(100):
        token = issuer.token(RESOURCE, signed_by=replace(foreign, kid=str(number))) if number % 2 else good
        with pytest.raises(IssuerUnavailableError, match="cannot be read"):
            authorizer(event(f"Bearer {token}"))
    assert len(issuer.requests) <= 2
    clock.now += FAILURE_SECONDS
    del issuer.documents[path]
    assert effect(authorizer(event(f"Bearer {good}"))) == "Allow"


def test_known_keys_serve_on_while_a_new_fetch_fails(issuer: Issuer) -> None:
    authorizer, _ = authorizer_with_clock(issuer)
    good, foreign = issuer.token(RESOURCE), rsa_key("x")
    assert effect(authorizer(event(f"Bearer {good}"))) == "Allow"
    issuer.documents["/jwks"] = b"down"
    for _ in range(20):
        with pytest.raises(IssuerUnavailableError):
            authorizer(event(f"Bearer {issuer.token(RESOURCE, signed_by=foreign)}"))
        assert effect(authorizer(event(f"Bearer {good}"))) == "Allow"
    assert issuer.requests.count("/jwks") == 2


def test_both_documents_share_one_deadline(issuer: Issuer) -> None:
    clock, given = Clock(), []

    def fetch(url: str, seconds: float) -> object:
        given.append(seconds)
        clock.now += 2.0
        return issuer.document(url.removeprefix(issuer.url))

    authorizer = Authorizer(Settings(issuer.url), IssuerKeys(issuer.url, fetch, clock))
    assert effect(authorizer(event(f"Bearer {issuer.token(RESOURCE)}"))) == "Allow"
    assert given == [LOAD_SECONDS, LOAD_SECONDS - 2.0]


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
    numbers: tuple[object, ...] = (5, [], "", "AQ", "é", None)
    odd = [{"kid": "one", "kty": "RSA", "n": n, "e": e} for n in numbers for e in ("AQAB", 3)]
    issuer.documents["/jwks"] = {"keys": [5, None, {}, {"kid": "one", "kty": "RSA"}, *odd]}
    with UNAUTHORIZED:
        authorizer(event(f"Bearer {issuer.token(RESOURCE)}"))
