"""The gateway's authorizer event: the one module that knows its shape, on the way in and on the way out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from authorizer.errors import RefusedCallerError, RefusedTokenError

MAX_TOKEN_CHARS: Final = 16 * 1024
"""More than the gateway lets through in all headers together (10 kB)."""

MAX_ANSWER_BYTES: Final = 8000
"""The gateway accepts an authorizer's answer of 8 kB and answers 500 above that."""

_BEARER: Final = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE | re.ASCII)
_PATH: Final = "mcp"


@dataclass(frozen=True, slots=True)
class AuthorizerRequest:
    """One request to the authorizer: the token, the URL that was called, and the method to allow or deny."""

    token: str
    resource: str
    method_arn: str


def read_request(event: Mapping[str, Any]) -> AuthorizerRequest:
    """The request in an event; raises `RefusedTokenError` unless it has exactly one bearer token."""
    context = event["requestContext"]
    return AuthorizerRequest(
        token=_token(list(_authorizations(event))),
        # The gateway's own host name, not the caller's Host header.
        resource=f"https://{context['domainName']}/{context['stage']}/{_PATH}",
        method_arn=event["methodArn"],
    )


def allow(request: AuthorizerRequest, principal: str, context: Mapping[str, str], usage_key: str) -> dict[str, Any]:
    """The answer that lets the request pass; raises `RefusedCallerError` if it is larger than the gateway accepts."""
    answer = {**_policy("Allow", request, principal), "context": dict(context)}
    if usage_key:
        answer["usageIdentifierKey"] = usage_key
    # With escapes, the longest form in which it may be counted.
    if len(json.dumps(answer)) > MAX_ANSWER_BYTES:
        raise RefusedCallerError("the claims are larger than the gateway can pass on")
    return answer


def deny(request: AuthorizerRequest) -> dict[str, Any]:
    """The answer that refuses the request, from which the gateway makes a 403."""
    return {**_policy("Deny", request, "refused"), "context": {}}


def _policy(effect: Literal["Allow", "Deny"], request: AuthorizerRequest, principal: str) -> dict[str, Any]:
    """Allow or deny the one method that was requested."""
    statement = {"Action": "execute-api:Invoke", "Effect": effect, "Resource": request.method_arn}
    return {"principalId": principal, "policyDocument": {"Version": "2012-10-17", "Statement": [statement]}}


def _authorizations(event: Mapping[str, Any]) -> Iterator[str]:
    """All values of the header, whatever the case of its name; only the second form has repeated ones."""
    repeated = event.get("multiValueHeaders") or {name: [value] for name, value in (event.get("headers") or {}).items()}
    for name, values in repeated.items():
        if name.lower() == "authorization":
            yield from values


def _token(authorizations: list[str]) -> str:
    if len(authorizations) != 1:
        msg = f"{len(authorizations)} Authorization headers, where one is needed"
        raise RefusedTokenError(msg)
    found = _BEARER.fullmatch(authorizations[0]) if len(authorizations[0]) <= MAX_TOKEN_CHARS else None
    if found is None:
        raise RefusedTokenError("the Authorization header has no bearer token")
    return found[1]
