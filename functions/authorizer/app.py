"""The Lambda entry, `authorizer.app.handler`, and the composition root.

Importing this module composes the authorizer from the environment and opens nothing.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from authorizer.claims import context_of, usage_key
from authorizer.errors import IssuerUnavailableError, RefusedCallerError, RefusedTokenError
from authorizer.requests import AuthorizerRequest, allow, deny, read_request
from authorizer.settings import Settings, settings_from
from authorizer.signing_keys import IssuerKeys
from authorizer.tokens import TokenVerifier

_KEY_DIGITS: Final = 16
"""Hex digits of the caller's key, computed as in the tool's log, so that the gateway's log can be joined with it."""

_LOG: Final = logging.getLogger(__name__)

Answer = dict[str, Any]


class UnauthorizedError(Exception):
    """The gateway answers 401 to an authorizer that fails with exactly this text."""

    def __init__(self) -> None:
        super().__init__("Unauthorized")


class Authorizer:
    """Answers the gateway's authorizer events for one set of settings."""

    def __init__(self, settings: Settings, keys: IssuerKeys | None = None) -> None:
        self._settings = settings
        issuer_keys = keys or IssuerKeys(settings.issuer)
        self._verifier = TokenVerifier(settings.issuer, issuer_keys, settings.client_ids)

    def __call__(self, event: Mapping[str, Any], _context: object = None) -> Answer:
        """A policy that allows or denies; raises `UnauthorizedError` for 401, and anything else for 500."""
        try:
            request = read_request(event)
            claims = self._verifier.claims(request.token, self._audiences(request))
        except RefusedTokenError as error:
            _LOG.info("token refused", extra={"reason": str(error)})
            raise UnauthorizedError from None
        except IssuerUnavailableError as error:
            _LOG.error("issuer unavailable", extra={"reason": str(error)})
            raise
        return self._decide(request, claims)

    def _audiences(self, request: AuthorizerRequest) -> frozenset[str]:
        return self._settings.audiences | {self._settings.resource or request.resource}

    def _decide(self, request: AuthorizerRequest, claims: Mapping[str, Any]) -> Answer:
        settings = self._settings
        try:
            context = context_of(claims, settings)
            key = usage_key(claims, context, settings.claim_names, settings.usage_keys)
            return allow(request, _caller_key(context["sub"]), context, key)
        except RefusedCallerError as error:
            _LOG.info("caller refused", extra={"reason": str(error)})
            return deny(request)


def _caller_key(owner_id: str) -> str:
    return hashlib.sha256(owner_id.encode()).hexdigest()[:_KEY_DIGITS]


def compose(environ: Mapping[str, str]) -> Callable[..., Answer]:
    """Build the handler from environment variables; with wrong ones it fails for every event."""
    try:
        return Authorizer(settings_from(environ))
    except ValueError as error:
        reason = str(error)

    def refuse(_event: object, _context: object = None) -> Answer:
        # Every call is refused, and the log says why each time.
        _LOG.error("settings are wrong", extra={"reason": reason})
        raise RuntimeError(reason)

    return refuse


handler: Final = compose(os.environ)
