"""The authorizer's errors, as the gateway answers them."""

from __future__ import annotations

import pytest

from authorizer import errors
from authorizer.app import Authorizer, UnauthorizedError
from authorizer.settings import settings_from
from tests.support.authorizer import RESOURCE, effect, event
from tests.support.issuer import Issuer


def test_every_foreseen_fault_has_one_base() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) == 4
    assert all(issubclass(kind, errors.AuthorizerError) for kind in kinds)


def test_a_refused_token_is_401_a_refused_caller_403_and_an_unavailable_issuer_500(
    issuer: Issuer, authorizer: Authorizer
) -> None:
    with pytest.raises(UnauthorizedError):
        authorizer(event("Bearer nonsense"))
    assert effect(authorizer(event(f"Bearer {issuer.token(RESOURCE, scope='openid')}"))) == "Deny"
    token = issuer.token(RESOURCE)
    issuer.stop()
    with pytest.raises(errors.IssuerUnavailableError):
        Authorizer(settings_from({"ISSUER": issuer.url}))(event(f"Bearer {token}"))
