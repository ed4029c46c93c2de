from __future__ import annotations

from collections.abc import Iterator

import pytest

from authorizer.app import Authorizer
from authorizer.settings import settings_from
from tests.support.issuer import Issuer, SigningKey, rsa_key


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
