"""A server on loopback with the part of Bedrock's runtime API that embeds texts, and with injected faults.

Its vectors are those of the small local model, padded or cut to the requested length, so that searches work.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import unquote

import numpy as np
import pytest

from knowledge.embedding.bedrock import COHERE, TITAN
from tests.support.datasets import embedding

ERROR_STATUS: Final = {
    "AccessDeniedException": 403,
    "ExpiredTokenException": 403,
    "UnrecognizedClientException": 403,
    "ResourceNotFoundException": 404,
    "ThrottlingException": 429,
    "ValidationException": 400,
    "InternalServerException": 500,
    "ServiceUnavailableException": 503,
}
VARIABLES: Final = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "eu-west-1"}


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request: the model, the body, and the service and region for which it was signed."""

    model: str
    body: dict[str, Any]
    signed_for: str


Fault = Callable[[int], str | bytes | None]
"""Called with the number of a request, from 0; the error or the raw body that it returns is sent as the answer."""


class BedrockServer(ThreadingHTTPServer):
    """Records its requests."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[ModelRequest] = []
        self.fault: Fault | None = None
        self.delay = 0.0
        self.lock = threading.Lock()

    @property
    def endpoint(self) -> str:
        """Base address."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    @contextmanager
    def fail_with(self, fault: str | bytes | Fault) -> Iterator[None]:
        """Answer the requests of a block with a fault; the record of requests is cleared."""
        self.requests.clear()
        self.fault = fault if callable(fault) else lambda _number: fault
        try:
            yield
        finally:
            self.fault = None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: BedrockServer

    def do_POST(self) -> None:
        """`POST /model/<id>/invoke`."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        _, kind, model, action = self.path.split("/")
        assert (kind, action, self.headers["content-type"]) == ("model", "invoke", "application/json")
        with self.server.lock:
            number = len(self.server.requests)
            scope = self.headers["authorization"].partition("Credential=")[2].split("/")
            self.server.requests.append(ModelRequest(unquote(model), body, "/".join(scope[2:4])))
        time.sleep(self.server.delay)
        fault = self.server.fault(number) if self.server.fault else None
        if isinstance(fault, str):
            self._send(ERROR_STATUS[fault], json.dumps({"message": "no"}).encode(), fault)
        else:
            self._send(200, fault or json.dumps(_answer(unquote(model), body)).encode())

    def _send(self, status: int, body: bytes, error: str = "") -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if error:
            self.send_header("x-amzn-errortype", f"{error}:http://internal.amazon.com/coral/")
        with suppress(ConnectionError):  # a client that has left
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the base class's name
        """Print nothing."""
        del format, arguments


def _answer(model: str, body: dict[str, Any]) -> dict[str, Any]:
    if model == TITAN:
        assert set(body) == {"inputText", "dimensions", "normalize"}
        assert len(body["inputText"]) > 0
        return {"embedding": _vectors([body["inputText"]], body["dimensions"])[0], "inputTextTokenCount": 1}
    assert model == COHERE
    assert 0 < len(body["texts"]) <= 96
    assert all(0 < len(text) <= 2048 for text in body["texts"])
    return {"id": "1", "response_type": "embeddings_floats", "embeddings": _vectors(body["texts"], 1024)}


def _vectors(texts: list[str], length: int) -> list[list[float]]:
    found = embedding().embed_passages(texts)[:, :length]
    padded = np.pad(found, ((0, 0), (0, length - found.shape[1])))
    rows: list[list[float]] = (3 * padded).tolist()
    return rows


@pytest.fixture(scope="session")
def _bedrock() -> Iterator[BedrockServer]:
    # Loaded here, so that no client waits longer than for Bedrock.
    embedding().embed_query("warm")
    server = BedrockServer()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def bedrock_server(_bedrock: BedrockServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[BedrockServer]:
    """The server, with an empty record; the clients of this process use it."""
    for name, value in {**VARIABLES, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": _bedrock.endpoint}.items():
        monkeypatch.setenv(name, value)
    _bedrock.requests.clear()
    yield _bedrock
    _bedrock.delay = 0.0
