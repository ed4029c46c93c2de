"""Checks of a request that the MCP SDK leaves open behind a gateway.

Each check returns a response, or `None` for a request that passes. The SDK gets the body in the form in which it was
parsed here, so that no second parser can read a different message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp_types import HEADER_MISMATCH, PROTOCOL_VERSION_META_KEY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from search_knowledge.http_messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    JSON,
    PARSE_ERROR,
    HttpRequest,
    HttpResponse,
    rpc_error,
)

MAX_BODY_BYTES: Final = 1024 * 1024
"""Far above the largest call (2,000 characters of query), far below the gateway's 10 MB."""

VERSION_HEADER: Final = "mcp-protocol-version"

_NOTIFICATION_PREFIX: Final = "notifications/"
_FORWARDED_PREFIX: Final = "mcp-"
_SESSION_HEADER: Final = "mcp-session-id"
_JSON_RANGES: Final = ("*/*", "application/*", JSON)


@dataclass(frozen=True, slots=True)
class Inbound:
    """A request that passed: the decoded message, and headers and body for the SDK."""

    message: Mapping[str, Any]
    headers: tuple[tuple[str, str], ...]
    body: bytes


def validate_request(request: HttpRequest) -> Inbound | HttpResponse:
    """Return the message for the SDK, or the response of the first check that fails."""
    refused = _check_method(request) or _check_size(request) or _check_content_type(request) or _check_accept(request)
    if refused:
        return refused
    try:
        message = json.loads(request.body.decode("utf-8"))
        # A lone surrogate, which the SDK's parser cannot read, becomes `?`; the tool reads the message itself.
        body = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return rpc_error(400, PARSE_ERROR, "Parse error: the body is not JSON in UTF-8.")
    return _check_envelope(message) or _check_era(request, message) or Inbound(message, _select_headers(request), body)


def _check_method(request: HttpRequest) -> HttpResponse | None:
    # The SDK would answer GET with a stream and hold it open; there is no session that DELETE could end.
    if request.method == "POST":
        return None
    return rpc_error(405, INVALID_REQUEST, f"Method {request.method[:20]} is not allowed; use POST.", allow="POST")


def _check_size(request: HttpRequest) -> HttpResponse | None:
    if len(request.body) <= MAX_BODY_BYTES:
        return None
    return rpc_error(413, INVALID_REQUEST, f"The request body is larger than {MAX_BODY_BYTES} bytes.")


def _check_content_type(request: HttpRequest) -> HttpResponse | None:
    media_type = request.value("content-type").partition(";")[0].strip().lower()
    return None if media_type == JSON else rpc_error(415, INVALID_REQUEST, f"The content type must be {JSON}.")


def _check_accept(request: HttpRequest) -> HttpResponse | None:
    """Without the header everything is accepted, as in HTTP; the SDK would refuse that."""
    accepted = [_media_range(one) for one in request.value("accept").split(",") if one.strip()]
    if not accepted or any(media in _JSON_RANGES and wanted for media, wanted in accepted):
        return None
    return rpc_error(406, INVALID_REQUEST, f"The answer is {JSON}, which the Accept header does not admit.")


def _media_range(text: str) -> tuple[str, bool]:
    """A media range, and whether it is acceptable: a quality of 0 means that it is not."""
    media, *parameters = (part.strip().lower() for part in text.split(";"))
    return media, not any(part.startswith("q=") and not part[2:].strip("0.") for part in parameters)


def _check_envelope(message: Any) -> HttpResponse | None:  # noqa: ANN401 - any JSON value at all may arrive
    if isinstance(message, list):
        return rpc_error(400, INVALID_REQUEST, "Batches are not served; send one request at a time.")
    if not isinstance(message, dict):
        return rpc_error(400, INVALID_REQUEST, "The body must be one JSON-RPC object.")
    identity = message.get("id")
    if "id" in message and (isinstance(identity, bool) or not isinstance(identity, (str, int))):
        return rpc_error(400, INVALID_REQUEST, "The id must be a string or an integer.")
    refused = _check_kind(message)
    if refused:
        return refused
    if not isinstance(message.get("params", {}), (dict, type(None))):
        return rpc_error(400, INVALID_PARAMS, "The params must be an object.", identity)
    return None


def _check_kind(message: Mapping[str, Any]) -> HttpResponse | None:
    """Pass requests and notifications alone."""
    if "result" in message or "error" in message:
        # The id would be one of this server's own requests, and it makes none. The SDK's answer quotes its validator.
        return rpc_error(400, INVALID_REQUEST, "The body is a response or an error; this server takes requests alone.")
    method = message.get("method")
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
        return rpc_error(400, INVALID_REQUEST, 'A request has "jsonrpc": "2.0" and a method.', message.get("id"))
    if method.startswith(_NOTIFICATION_PREFIX) == ("id" in message):
        return rpc_error(400, INVALID_REQUEST, "A request has an id, and a notification has none.", message.get("id"))
    return None


def _check_era(request: HttpRequest, message: Mapping[str, Any]) -> HttpResponse | None:
    """Refuse a message of the stateless version without its header, which alone the SDK looks at."""
    versions = request.values(VERSION_HEADER)
    meta = (message.get("params") or {}).get("_meta")
    stateless = "id" in message and isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta
    by_handshake = not versions or versions[0] in HANDSHAKE_PROTOCOL_VERSIONS
    if len(versions) > 1 or (stateless and by_handshake):
        text = "The MCP-Protocol-Version header must be given once and match the version in params._meta."
        return rpc_error(400, HEADER_MISMATCH, text, message.get("id"))
    return None


def _select_headers(request: HttpRequest) -> tuple[tuple[str, str], ...]:
    """The headers that the protocol needs: there are no sessions, and the gateway has checked hosts and origins."""
    kept = (
        (name, value)
        for name, value in request.headers
        if name.startswith(_FORWARDED_PREFIX) and name != _SESSION_HEADER
    )
    return (("content-type", JSON), ("accept", f"{JSON}, text/event-stream"), *kept)
