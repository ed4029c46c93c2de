"""The gateway's authorizer event: one bearer token, or none at all."""

from __future__ import annotations

from typing import Final

import pytest

from authorizer.app import Authorizer
from tests.support.authorizer import RESOURCE, UNAUTHORIZED, effect, event
from tests.support.issuer import Issuer


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
@pytest.mark.parametrize("name", ["Authorization", "authorization", "AUTHORIZATION"])
def test_the_scheme_and_the_header_are_known_in_any_case(
    issuer: Issuer, authorizer: Authorizer, scheme: str, name: str
) -> None:
    assert effect(authorizer(event(f"{scheme} {issuer.token(RESOURCE)}", name=name))) == "Allow"


def test_an_event_with_single_headers_only_is_read_too(issuer: Issuer, authorizer: Authorizer) -> None:
    single = event(f"Bearer {issuer.token(RESOURCE)}") | {"multiValueHeaders": None}
    assert effect(authorizer(single)) == "Allow"


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
