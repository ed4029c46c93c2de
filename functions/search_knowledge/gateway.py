"""API Gateway events: a REST API's (payload 1.0) and an HTTP API's (payload 2.0). No other module knows their shape."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from search_knowledge.claims import claims_of
from search_knowledge.http_messages import HttpRequest, HttpResponse

_FOR_BROWSERS: Final = {"access-control-allow-origin": "*"}
"""Clients that run in a browser may read the answer. No cookie says who calls, so that any origin will do."""


_BLANKS: Final = " \t"


class MalformedEventError(ValueError):
    """The event is not one of API Gateway's, or its body cannot be decoded; the message is for the caller."""


def read_event(event: object, context: object = None) -> HttpRequest:
    """The HTTP request in an event; raises `MalformedEventError`."""
    if not isinstance(event, Mapping):
        raise MalformedEventError("The event is no API Gateway event: it is not an object.")
    about = _mapping(event.get("requestContext"))
    method = _mapping(about.get("http")).get("method") or event.get("httpMethod")
    if not isinstance(method, str):
        raise MalformedEventError("The event is no API Gateway event: it names no HTTP method.")
    return HttpRequest(
        method=method.upper(),
        headers=tuple(_headers(event)),
        body=_body(event),
        claims=claims_of(about.get("authorizer")),
        request_id=request_id(event, context),
    )


def request_id(event: object, context: object) -> str:
    """The id under which the platform knows the call: Lambda's, else the gateway's, else a new one; never raises."""
    about = _mapping(_mapping(event).get("requestContext"))
    found = (getattr(context, "aws_request_id", None), about.get("requestId"))
    return next((one for one in found if isinstance(one, str) and one), None) or uuid.uuid4().hex


def to_lambda(response: HttpResponse) -> dict[str, Any]:
    """The answer in the form that both kinds of gateway take."""
    return {
        "statusCode": response.status,
        "headers": {**_FOR_BROWSERS, **response.headers},
        "body": response.body,
        "isBase64Encoded": False,
    }


def _headers(event: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Payload 1.0 repeats a header only in `multiValueHeaders`; payload 2.0 joins the values itself.

    Blanks around a value are none of it, as HTTP has it; the kernel compares values exactly.
    """
    several = _mapping(event.get("multiValueHeaders"))
    for name, values in several.items():
        for value in values if isinstance(values, list) else [values]:
            if value is not None:
                yield str(name).lower(), str(value).strip(_BLANKS)
    repeated = {str(name).lower() for name in several}
    for name, value in _mapping(event.get("headers")).items():
        if value is not None and str(name).lower() not in repeated:
            yield str(name).lower(), str(value).strip(_BLANKS)


def _body(event: Mapping[str, Any]) -> bytes:
    body = event.get("body")
    if body is None:
        return b""
    if not isinstance(body, str):
        raise MalformedEventError("The event is no API Gateway event: its body is not text.")
    if event.get("isBase64Encoded") is not True:
        # A lone surrogate becomes bytes that are not UTF-8, which the parser then refuses.
        return body.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(body, validate=True)
    except ValueError:
        raise MalformedEventError("The request body is not valid base64.") from None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
