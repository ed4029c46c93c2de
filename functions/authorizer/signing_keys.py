"""The issuer's signing keys: found by OIDC discovery, cached, and fetched again for an unknown key id."""

from __future__ import annotations

import json
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException
from typing import Any, Final

from authorizer.errors import IssuerUnavailableError
from authorizer.settings import is_secure

KEYS_SECONDS: Final = 3600.0
"""How long keys are cached: a key that the issuer has withdrawn is accepted for so long."""

REFETCHES: Final = 5
REFETCH_WINDOW_SECONDS: Final = 60.0
"""Fetches for unknown keys within a window: a rotation shows at once, and invented key ids cannot flood the issuer."""

FETCH_SECONDS: Final = 3.0
"""Two fetches of this length fit in the authorizer's own time."""

MAX_DOCUMENT_BYTES: Final = 512 * 1024
"""Far above any issuer's key set."""

Jwk = Mapping[str, Any]
Fetch = Callable[[str], object]


def fetch_json(url: str) -> object:
    """The JSON document at a URL; raises `OSError`, `HTTPException` or `ValueError`."""
    request = urllib.request.Request(url, headers={"Accept": "application/json"})  # noqa: S310 - the caller has checked the scheme
    with urllib.request.urlopen(request, timeout=FETCH_SECONDS) as response:  # noqa: S310 - as above
        data = response.read(MAX_DOCUMENT_BYTES + 1)
        if not is_secure(response.url):
            raise ValueError("it redirects to an address without TLS")
    if len(data) > MAX_DOCUMENT_BYTES:
        raise ValueError("the document is too large")
    return json.loads(data)


class IssuerKeys:
    """The keys of one issuer. Not safe for threads: Lambda runs one event at a time."""

    def __init__(self, issuer: str, fetch: Fetch = fetch_json, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._fetch = fetch
        self._clock = clock
        self._keys: Sequence[Jwk] = ()
        self._good_until = float("-inf")
        self._refetches: deque[float] = deque(maxlen=REFETCHES)

    def candidates(self, key_id: str | None) -> Sequence[Jwk]:
        """The keys with that id, or all keys for a token that names none. Raises `IssuerUnavailableError`."""
        if self._clock() >= self._good_until:
            self._load()
        elif not self._matching(key_id) and self._may_refetch():
            self._refetches.append(self._clock())
            self._load()
        return self._matching(key_id)

    def _matching(self, key_id: str | None) -> Sequence[Jwk]:
        return [key for key in self._keys if key_id is None or key.get("kid") == key_id]

    def _may_refetch(self) -> bool:
        full = len(self._refetches) == REFETCHES
        return not full or self._clock() - self._refetches[0] > REFETCH_WINDOW_SECONDS

    def _load(self) -> None:
        location = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        metadata = self._document(location)
        if metadata.get("issuer") != self._issuer:
            raise IssuerUnavailableError("the discovery document names another issuer than the setting ISSUER")
        keys = self._document(str(metadata.get("jwks_uri"))).get("keys")
        if not isinstance(keys, list):
            raise IssuerUnavailableError("the key set has no list of keys")
        self._keys = [key for key in keys if isinstance(key, dict)]
        self._good_until = self._clock() + KEYS_SECONDS

    def _document(self, url: str) -> Mapping[str, Any]:
        if not is_secure(url):
            raise IssuerUnavailableError("the discovery document names an address without TLS")
        try:
            found = self._fetch(url)
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            msg = f"{url} cannot be read: {type(error).__name__}: {error}"
            raise IssuerUnavailableError(msg) from error
        if isinstance(found, dict):
            return found
        msg = f"{url} holds no JSON object"
        raise IssuerUnavailableError(msg)
