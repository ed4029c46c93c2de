"""The issuer's signing keys: found by OIDC discovery, cached, and fetched again for an unknown key id."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException
from typing import Any, Final

from authorizer.documents import fetch_json
from authorizer.errors import IssuerUnavailableError
from authorizer.settings import is_secure

KEYS_SECONDS: Final = 3600.0
"""How long keys are cached: a key that the issuer has withdrawn is accepted for so long."""

REFETCHES: Final = 5
REFETCH_WINDOW_SECONDS: Final = 60.0
"""Fetches for unknown keys within a window: a rotation shows at once, and invented key ids cannot flood the issuer."""

LOAD_SECONDS: Final = 5.0
"""For both documents together: half of the authorizer's own time."""

FAILURE_SECONDS: Final = 5.0
"""How long a failed load is remembered: a flood of tokens does not become one of fetches while the issuer is down."""

Jwk = Mapping[str, Any]
Fetch = Callable[[str, float], object]


class IssuerKeys:
    """The keys of one issuer. Not safe for threads: Lambda runs one event at a time."""

    def __init__(self, issuer: str, fetch: Fetch = fetch_json, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._fetch = fetch
        self._clock = clock
        self._keys: Sequence[Jwk] = ()
        self._good_until = float("-inf")
        self._refetches: deque[float] = deque(maxlen=REFETCHES)
        self._failure = ""
        self._failed_until = float("-inf")

    def candidates(self, key_id: str | None) -> Sequence[Jwk]:
        """The keys that may have signed a token: those with its key id, then those without any.

        All keys for a token that names none. Raises `IssuerUnavailableError`.
        """
        if self._clock() >= self._good_until:
            self._load()
        named = self._keys_with_id(key_id)
        return [*named, *(key for key in self._keys if key_id is None or not isinstance(key.get("kid"), str))]

    def refreshed_candidates(self, key_id: str | None) -> Sequence[Jwk]:
        """The same after a new fetch, for a token that no candidate has verified.

        None if a key has its key id, or after too many fetches. Raises `IssuerUnavailableError`.
        """
        if self._keys_with_id(key_id) or not self._may_refetch():
            return ()
        if not self._has_failed():
            self._refetches.append(self._clock())
        self._load()
        return self.candidates(key_id)

    def _keys_with_id(self, key_id: str | None) -> Sequence[Jwk]:
        return [key for key in self._keys if key_id is not None and key.get("kid") == key_id]

    def _may_refetch(self) -> bool:
        full = len(self._refetches) == REFETCHES
        return not full or self._clock() - self._refetches[0] > REFETCH_WINDOW_SECONDS

    def _has_failed(self) -> bool:
        return self._clock() < self._failed_until

    def _load(self) -> None:
        if self._has_failed():
            raise IssuerUnavailableError(self._failure)
        try:
            self._keys = self._fetch_keys(self._clock() + LOAD_SECONDS)
        except IssuerUnavailableError as error:
            self._failure = str(error)
            self._failed_until = self._clock() + FAILURE_SECONDS
            raise
        self._good_until = self._clock() + KEYS_SECONDS

    def _fetch_keys(self, deadline: float) -> Sequence[Jwk]:
        location = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        metadata = self._document(location, deadline)
        if metadata.get("issuer") != self._issuer:
            raise IssuerUnavailableError("the discovery document names another issuer than the setting ISSUER")
        keys = self._document(str(metadata.get("jwks_uri")), deadline).get("keys")
        if not isinstance(keys, list):
            raise IssuerUnavailableError("the key set has no list of keys")
        return [key for key in keys if isinstance(key, dict)]

    def _document(self, url: str, deadline: float) -> Mapping[str, Any]:
        if not is_secure(url):
            raise IssuerUnavailableError("the discovery document names an address without TLS")
        try:
            found = self._fetch(url, deadline - self._clock())
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            msg = f"{url} cannot be read: {type(error).__name__}: {error}"
            raise IssuerUnavailableError(msg) from error
        if isinstance(found, dict):
            return found
        msg = f"{url} holds no JSON object"
        raise IssuerUnavailableError(msg)
