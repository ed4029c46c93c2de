"""HTTP on loopback: each request becomes an event for the handler, one at a time, as in one Lambda environment.

Callers need no token here. What protects the listener instead: it binds to loopback only, and it refuses foreign `Host`
and `Origin` headers, so that a web page cannot reach it through the browser (DNS rebinding).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

from local_gateway.events import Developer, Payload, Request, build_event

HOST: Final = "127.0.0.1"
PATH: Final = "/mcp"
MAX_BODY_BYTES: Final = 10 * 1024 * 1024
"""API Gateway's limit; the function's own is lower."""

_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_CORS: Final = {
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
        body = self._read_body()
        refusal = self._check(body)
        if refusal:
            self._send(refusal, {}, "")
        elif self.command == "OPTIONS":
            self._send(204, _CORS, "")
        else:
            answer = self.server.relay(Request(self.command, PATH, self.headers.items(), body or b""))
            self._send(answer["statusCode"], answer["headers"], answer["body"])

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _serve  # noqa: N815 - names of the base class

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - name of the base class
        """Print nothing: the function writes a line for each call."""

    def _read_body(self) -> bytes | None:
        """Read the body; `None` where its end is unknown or too far, and the connection has to be closed."""
        length = self.headers.get("content-length", "0")
        if "transfer-encoding" in self.headers or not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            return None
        return self.rfile.read(int(length))

    def _check(self, body: bytes | None) -> int:
        """Return the status of a refusal, 0 for none."""
        if body is None:
            return 413
        origin = self.headers.get("origin", "")
        if not _is_loopback(f"//{self.headers.get('host', '')}") or (origin and not _is_loopback(origin)):
            return 403
        return 0 if urlsplit(self.path).path == PATH else 404

    def _send(self, status: int, headers: Mapping[str, str], text: str) -> None:
        data = text.encode("utf-8")
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        origin = self.headers.get("origin")
        if origin and status != 403:  # noqa: PLR2004 - a status reads best as its number
            self.send_header("access-control-allow-origin", origin)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _is_loopback(address: str) -> bool:
    try:
        return urlsplit(address).hostname in _LOOPBACK
    except ValueError:
        return False
