"""Build API Gateway events from HTTP requests, with the claims of one developer instead of a token's."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from knowledge.claims import CONTEXT_MARK

Payload = Literal["1.0", "2.0"]
PAYLOADS: Final[tuple[Payload, ...]] = ("1.0", "2.0")

_SCOPE: Final = "knowledge:read"


@dataclass(frozen=True, slots=True)
class Developer:
    """The identity that the gateway gives every caller."""

    owner: str
    teams: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request as it was received."""

    method: str
    path: str
    headers: Sequence[tuple[str, str]]
    body: bytes = b""


def build_event(request: Request, developer: Developer, payload: Payload = "1.0") -> dict[str, Any]:
    """Return the event that a REST API (1.0) or an HTTP API (2.0) with a Lambda authorizer would send."""
    made = _build_rest_event(request, developer) if payload == "1.0" else _build_http_event(request, developer)
    return {**made, **_encode_body(request.body)}


def _encode_body(body: bytes) -> dict[str, Any]:
    try:
        return {"body": body.decode("utf-8") or None, "isBase64Encoded": False}
    except UnicodeDecodeError:
        return {"body": base64.b64encode(body).decode("ascii"), "isBase64Encoded": True}


def _build_rest_event(request: Request, developer: Developer) -> dict[str, Any]:
    several: dict[str, list[str]] = {}
    for name, value in request.headers:
        several.setdefault(name, []).append(value)
    # The authorizer context of a REST API holds no lists: teams are a JSON array in text, which the mark declares.
    teams = {"teams": json.dumps(developer.teams), **CONTEXT_MARK}
    authorizer = {"principalId": developer.owner, **_build_claims(developer), **teams}
    return {
        "resource": request.path,
        "path": request.path,
        "httpMethod": request.method,
        "headers": {name: values[-1] for name, values in several.items()},
        "multiValueHeaders": several,
        "queryStringParameters": None,
        "requestContext": {
            **_build_context(),
            "httpMethod": request.method,
            "path": request.path,
            "authorizer": authorizer,
        },
    }


def _build_http_event(request: Request, developer: Developer) -> dict[str, Any]:
    joined: dict[str, str] = {}
    for name, value in request.headers:
        key = name.lower()
        joined[key] = f"{joined[key]},{value}" if key in joined else value
    return {
        "version": "2.0",
        "routeKey": f"{request.method} {request.path}",
        "rawPath": request.path,
        "rawQueryString": "",
        "headers": joined,
        "requestContext": {
            **_build_context(),
            "http": {"method": request.method, "path": request.path, "protocol": "HTTP/1.1"},
            "authorizer": {"lambda": {**_build_claims(developer), "teams": list(developer.teams)}},
        },
    }


def _build_claims(developer: Developer) -> Mapping[str, str]:
    return {"sub": developer.owner, "scope": _SCOPE, "client_id": "local"}


def _build_context() -> Mapping[str, str]:
    return {"stage": "local", "requestId": str(uuid.uuid4())}
