"""What passes between the gateway and the server: one HTTP request with its verified claims, one HTTP response."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from knowledge.claims import ClaimForm

JSON: Final = "application/json"

# JSON-RPC's own codes; those of MCP are the SDK's.
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603


@dataclass(frozen=True, slots=True)
class Claims:
    """Verified claims by name, and how the gateway has written their values."""

    values: Mapping[str, object]
    form: ClaimForm = ClaimForm.TYPED


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request. Header names are lower-case; a repeated header stays repeated."""

    method: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    claims: Claims
    request_id: str

    def values(self, name: str) -> tuple[str, ...]:
        """All values of a header, in order."""
        return tuple(value for key, value in self.headers if key == name)

    def value(self, name: str) -> str:
        """A header's values as one text; empty if it is missing."""
        return ", ".join(self.values(name))


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One response; the body is text."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


def rpc_error(status: int, code: int, message: str, request_id: object = None, **headers: str) -> HttpResponse:
    """A JSON-RPC error under an HTTP status; `request_id` only if it is a valid id."""
    valid = isinstance(request_id, (str, int)) and not isinstance(request_id, bool)
    payload = {"jsonrpc": "2.0", "id": request_id if valid else None, "error": {"code": code, "message": message}}
    return HttpResponse(status, json.dumps(payload), {"content-type": JSON, **headers})
