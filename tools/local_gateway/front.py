"""HTTP on loopback: each request becomes an event for the handler, one at a time, as in one Lambda environment.

Callers need no token here. What protects the listener instead: it binds to loopback only, and it refuses foreign `Host`
and `Origin` headers, so that a web page cannot reach it through the browser (DNS rebinding).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

from local_gateway.bodies import BodyError, read_body
from local_gateway.events import Developer, Payload, Request, build_event
from search_knowledge.http_messages import INVALID_REQUEST, HttpResponse, rpc_error

HOST: Final = "127.0.0.1"
PATH: Final = "/mcp"

_PATHS: Final = (PATH, f"{PATH}/")
"""Clients that join a base address and a path may add the slash."""

_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_ALLOWED_ORIGIN: Final = "access-control-allow-origin"
_CORS: Final = {
    "access-control-max-age": "7200",
    "access-control-allow-methods": "POST, GET, DELETE, OPTIONS",
    "access-control-allow-headers": (
        "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id"
    ),
}

Handle = Callable[[object], Mapping[str, Any]]


class Front(ThreadingHTTPServer):
    """The listener. `port` 0 takes a free one; see `url`."""

    daemon_threads = True

    def __init__(self, handle: Handle, developer: Developer, *, port: int = 0, payload: Payload = "1.0") -> None:
        super().__init__((HOST, port), _Connection)
        self._handle = handle
        self._event = partial(build_event, developer=developer, payload=payload)
        self._turn = threading.Lock()

    @property
    def url(self) -> str:
        """The address of the tool."""
        return f"http://{HOST}:{self.server_port}{PATH}"

    def relay(self, request: Request) -> Mapping[str, Any]:
        """Return the function's answer. Connections are served concurrently, calls one after another."""
        with self._turn:
            return self._handle(self._event(request))


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Front

    def _serve(self) -> None:
        try:
            body = read_body({name.lower(): value for name, value in self.headers.items()}, self.rfile)
        except BodyError as error:
            # Before the other checks, so that an answer never leaves an unread body in an open connection.
            self.close_connection = True
            self._send(rpc_error(error.status, INVALID_REQUEST, error.message))
            return
        refused = self._check_caller() or self._check_path()
        if refused:
            self._send(refused)
        elif self.command == "OPTIONS":
            self._send(HttpResponse(204, "", _CORS))
        else:
            answer = self.server.relay(Request(self.command, PATH, self.headers.items(), body))
            self._send(HttpResponse(answer["statusCode"], answer["body"], answer["headers"]))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _serve  # noqa: N815 - names of the base class

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - name of the base class
        """Print nothing: the function writes a line for each call."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what the base class cannot read, in the form of every other error."""
        self.close_connection = True
        # Until it has read a version it would write no status and no headers.
        self.request_version = self.protocol_version
        self._send(rpc_error(code, INVALID_REQUEST, message or explain or HTTPStatus(code).phrase))

    def _check_caller(self) -> HttpResponse | None:
        origin = self.headers.get("origin", "")
        if _is_loopback(f"//{self.headers.get('host', '')}") and (not origin or _is_loopback(origin)):
            return None
        text = "Only this machine may call: Host and Origin must be 127.0.0.1, localhost or ::1."
        return rpc_error(HTTPStatus.FORBIDDEN, INVALID_REQUEST, text)

    def _check_path(self) -> HttpResponse | None:
        if urlsplit(self.path).path in _PATHS:
            return None
        text = f"There is nothing at this path; the tool is at {self.server.url}."
        return rpc_error(HTTPStatus.NOT_FOUND, INVALID_REQUEST, text)

    def _send(self, response: HttpResponse) -> None:
        data = response.body.encode("utf-8")
        self.send_response(response.status)
        for name, value in self._response_headers(response).items():
            self.send_header(name, value)
        if response.status != HTTPStatus.NO_CONTENT:
            self.send_header("content-length", str(len(data)))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _response_headers(self, response: HttpResponse) -> Mapping[str, str]:
        """The response's headers, with the one origin that is allowed here in place of the function's `*`.

        A browser refuses an answer that has that header twice.
        """
        headers = {name.lower(): value for name, value in response.headers.items()}
        headers.pop(_ALLOWED_ORIGIN, None)
        # Where the request line cannot be read there are no headers of a request.
        origin = self.headers.get("origin", "") if hasattr(self, "headers") else ""
        if not _is_loopback(origin):
            return headers
        return {
            **headers,
            _ALLOWED_ORIGIN: origin,
            "access-control-expose-headers": "WWW-Authenticate",
            "vary": "Origin",
        }


def _is_loopback(address: str) -> bool:
    try:
        return urlsplit(address).hostname in _LOOPBACK
    except ValueError:
        return False
