"""API Gateway events: a REST API's (payload 1.0) and an HTTP API's (payload 2.0). No other module knows their shape."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from knowledge.claims import ClaimForm, context_form
from search_knowledge.http_messages import Claims, HttpRequest, HttpResponse

_FOR_BROWSERS: Final = {"access-control-allow-origin": "*"}
"""Clients in a browser may read the answer, from any origin, because no cookie identifies the caller."""

_WHITESPACE: Final = " \t"
_NO_CLAIMS: Final = Claims({})


class MalformedEventError(ValueError):
    """The event is not one of API Gateway's, or its body cannot be decoded; the message is for the caller."""


def read_event(event: object, context: object = None) -> HttpRequest:
    """The HTTP request in an event; raises `MalformedEventError`."""
    if not isinstance(event, Mapping):
        raise MalformedEventError("The event is no API Gateway event: it is not an object.")
    context_of_event = _mapping(event.get("requestContext"))
    method = _mapping(context_of_event.get("http")).get("method") or event.get("httpMethod")
    if not isinstance(method, str):
        raise MalformedEventError("The event is no API Gateway event: it names no HTTP method.")
    return HttpRequest(
        method=method.upper(),
        headers=tuple(_headers(event)),
        body=_body(event),
        claims=claims_of(context_of_event.get("authorizer")),
        request_id=request_id(event, context),
    )


def claims_of(authorizer: object) -> Claims:
    """The claims in a gateway's authorizer context; never raises.

    There are four shapes: a REST API's Lambda authorizer (flat texts), its Cognito authorizer (`claims`), an HTTP API's
    JWT authorizer (`jwt.claims`, where every array has become the text `[a b]`) and its Lambda authorizer (`lambda`,
    where lists stay lists). Only what a Lambda authorizer has written can be the context of this project's own.
    """
    if not isinstance(authorizer, Mapping):
        return _NO_CLAIMS
    jwt, context, cognito = (authorizer.get(key) for key in ("jwt", "lambda", "claims"))
    if isinstance(jwt, Mapping):
        verified = jwt.get("claims")
        return Claims(verified, ClaimForm.FLATTENED) if isinstance(verified, Mapping) else _NO_CLAIMS
    if isinstance(cognito, Mapping):
        return Claims(cognito)
    written = context if isinstance(context, Mapping) else authorizer
    return Claims(written, context_form(written))


def request_id(event: object, context: object) -> str:
    """The platform's id of the call: Lambda's, else the gateway's, else a new one; never raises."""
    request_context = _mapping(_mapping(event).get("requestContext"))
    found = (getattr(context, "aws_request_id", None), request_context.get("requestId"))
    return next((one for one in found if isinstance(one, str) and one), None) or uuid.uuid4().hex


def to_lambda(response: HttpResponse) -> dict[str, Any]:
    """The response in the form that both kinds of gateway accept."""
    return {
        "statusCode": response.status,
        "headers": {**_FOR_BROWSERS, **response.headers},
        "body": response.body,
        "isBase64Encoded": False,
    }


def _headers(event: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Payload 1.0 repeats a header only in `multiValueHeaders`; payload 2.0 joins the values itself.

    Whitespace around a value is not part of it, as in HTTP; the SDK compares values exactly.
    """
    several = _mapping(event.get("multiValueHeaders"))
    for name, values in several.items():
        for value in values if isinstance(values, list) else [values]:
            if value is not None:
                yield str(name).lower(), str(value).strip(_WHITESPACE)
    repeated = {str(name).lower() for name in several}
    for name, value in _mapping(event.get("headers")).items():
        if value is not None and str(name).lower() not in repeated:
            yield str(name).lower(), str(value).strip(_WHITESPACE)


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
