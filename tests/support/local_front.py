"""One request to the local gateway."""

from __future__ import annotations

import http.client
from collections.abc import Mapping

from local_gateway.events import Developer
from local_gateway.front import Front

ANA = Developer("ana", ("support",))
JSON = {"Content-Type": "application/json"}


def send(
    front: Front, method: str, path: str = "/mcp", headers: Mapping[str, str] = JSON, body: bytes = b""
) -> tuple[int, str]:
    """Status and body of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", front.server_port, timeout=30)
    try:
        connection.request(method, path, body or None, dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()
