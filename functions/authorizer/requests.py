"""The gateway's authorizer event: the one module that knows its shape, on the way in and on the way out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from authorizer.errors import RefusedTokenError

MAX_TOKEN_CHARS: Final = 16 * 1024
"""More than the gateway lets through in all headers together (10 kB)."""

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


def policy(
    effect: Literal["Allow", "Deny"],
    request: AuthorizerRequest,
    principal: str,
    context: Mapping[str, str],
    usage_key: str,
) -> dict[str, Any]:
    """The answer to the gateway: allow or deny the one method that was requested."""
    statement = {"Action": "execute-api:Invoke", "Effect": effect, "Resource": request.method_arn}
    answer: dict[str, Any] = {
        "principalId": principal,
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        "context": dict(context),
    }
    return {**answer, "usageIdentifierKey": usage_key} if usage_key else answer


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
