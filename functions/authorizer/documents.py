"""Fetch one of the issuer's documents within a deadline, whatever the issuer does.

A socket's time limit holds for each piece that arrives, so that an issuer that sends a byte a second could hold a call
for hours, and there is none for the look-up of its name. So a thread does the work, and the caller waits for it until
the deadline.
"""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any, Final

from authorizer.settings import is_secure

MAX_DOCUMENT_BYTES: Final = 512 * 1024
"""Far above any issuer's key set."""

_PIECE_BYTES: Final = 64 * 1024


def fetch_json(url: str, seconds: float) -> object:
    """The JSON document at a URL; raises `OSError`, at the deadline too, `HTTPException` or `ValueError`."""
    if seconds <= 0:
        raise TimeoutError
    transfer = _Transfer(url, seconds)
    try:
        return json.loads(transfer.result())
    finally:
        transfer.abort()


class _Transfer:
    """One download in a thread of its own, which ends soon after the deadline."""

    def __init__(self, url: str, seconds: float) -> None:
        self._url = url
        self._deadline = time.monotonic() + seconds
        self._connections: list[HTTPConnection] = []
        self._ended = threading.Event()
        self._data = b""
        self._error: BaseException | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def result(self) -> bytes:
        """The document; raises `TimeoutError` at the deadline, and else what the download raised."""
        if not self._ended.wait(self._remaining()):
            raise TimeoutError
        if self._error:
            raise self._error
        return self._data

    def abort(self) -> None:
        """End a download that still waits for headers; afterwards its connection is closed by itself."""
        for connection in self._connections:
            with suppress(OSError):
                if connection.sock:
                    connection.sock.shutdown(socket.SHUT_RDWR)

    def _remaining(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def _run(self) -> None:
        try:
            self._data = self._download()
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is waited for
            self._error = error
        self._ended.set()

    def _download(self) -> bytes:
        request = urllib.request.Request(self._url, headers={"Accept": "application/json"})  # noqa: S310 - the caller has checked the scheme
        opener = urllib.request.build_opener(_Http(self._connections), _Https(self._connections))
        # A limit of 0 would mean that the socket does not wait at all.
        with opener.open(request, timeout=self._remaining() or 0.001) as response:
            if not is_secure(response.url):
                raise ValueError("it redirects to an address without TLS")
            return self._read_body(response)

    def _read_body(self, response: HTTPResponse) -> bytes:
        data = bytearray()
        while piece := response.read1(_PIECE_BYTES):
            data += piece
            if len(data) > MAX_DOCUMENT_BYTES:
                raise ValueError("the document is too large")
            if not self._remaining():
                raise TimeoutError
        return bytes(data)


def _keep(connections: list[HTTPConnection], kind: type[HTTPConnection]) -> Callable[..., HTTPConnection]:
    """Make connections of a kind as the library does, and keep them, so that they can be aborted."""

    def connect(host: str, **options: Any) -> HTTPConnection:  # noqa: ANN401 - the library's own options
        connections.append(kind(host, **options))
        return connections[-1]

    return connect


class _Http(urllib.request.HTTPHandler):
    def __init__(self, connections: list[HTTPConnection]) -> None:
        super().__init__()
        self._connect = _keep(connections, HTTPConnection)

    def http_open(self, request: urllib.request.Request) -> HTTPResponse:
        return self.do_open(self._connect, request)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, connections: list[HTTPConnection]) -> None:
        super().__init__()
        self._connect = _keep(connections, HTTPSConnection)

    def https_open(self, request: urllib.request.Request) -> HTTPResponse:
        return self.do_open(self._connect, request)
