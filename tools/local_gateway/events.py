"""API Gateway events made from plain HTTP requests, with the claims of one developer instead of a token's."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

Payload = Literal["1.0", "2.0"]
PAYLOADS: Final[tuple[Payload, ...]] = ("1.0", "2.0")

_SCOPE: Final = "knowledge:read"


@dataclass(frozen=True, slots=True)
class Developer:
    """Whom the gateway takes every caller for."""

    owner: str
    teams: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request as it came over the wire."""

    method: str
    path: str
    headers: Sequence[tuple[str, str]]
    body: bytes = b""


def event_of(request: Request, developer: Developer, payload: Payload = "1.0") -> dict[str, Any]:
    """The event that a REST API (1.0) or an HTTP API (2.0), both with a Lambda authorizer, would send."""
    made = _rest(request, developer) if payload == "1.0" else _http(request, developer)
    return {**made, **_body(request.body)}


def _body(body: bytes) -> dict[str, Any]:
    try:
        return {"body": body.decode("utf-8") or None, "isBase64Encoded": False}
    except UnicodeDecodeError:
        return {"body": base64.b64encode(body).decode("ascii"), "isBase64Encoded": True}


def _rest(request: Request, developer: Developer) -> dict[str, Any]:
    several: dict[str, list[str]] = {}
    for name, value in request.headers:
        several.setdefault(name, []).append(value)
    # A REST API's authorizer context holds no lists: teams travel as a JSON array in text.
    authorizer = {"principalId": developer.owner, **_claims(developer), "teams": json.dumps(developer.teams)}
    return {
        "resource": request.path,
        "path": request.path,
        "httpMethod": request.method,
        "headers": {name: values[-1] for name, values in several.items()},
        "multiValueHeaders": several,
        "queryStringParameters": None,
        "requestContext": {**_about(), "httpMethod": request.method, "path": request.path, "authorizer": authorizer},
    }


def _http(request: Request, developer: Developer) -> dict[str, Any]:
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
            **_about(),
            "http": {"method": request.method, "path": request.path, "protocol": "HTTP/1.1"},
            "authorizer": {"lambda": {**_claims(developer), "teams": list(developer.teams)}},
        },
    }


def _claims(developer: Developer) -> Mapping[str, str]:
    return {"sub": developer.owner, "scope": _SCOPE, "client_id": "local"}


def _about() -> Mapping[str, str]:
    return {"stage": "local", "requestId": str(uuid.uuid4())}
