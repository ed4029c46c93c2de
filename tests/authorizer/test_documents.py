"""Fetching a document: whatever an issuer does, the call ends at its deadline and leaves nothing behind."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from typing import Final

import pytest

from authorizer.documents import MAX_DOCUMENT_BYTES, fetch_json
from tests.support.issuer import Issuer

SECONDS: Final = 0.4
SLACK_SECONDS: Final = 2.0
"""For a busy machine; without the deadline each of these takes minutes."""
HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
DRIP_SECONDS: Final = 0.05


@contextmanager
def listen(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server whose connections are served by a function; the URL of a document on it."""
    server = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=handle, args=(connection,), daemon=True).start()

    def handle(connection: socket.socket) -> None:
        with connection:
            try:
                serve(connection)
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/jwks"
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def drip(connection: socket.socket, data: bytes) -> None:
    for number in range(len(data)):
        connection.sendall(data[number : number + 1])
        time.sleep(DRIP_SECONDS)


def say_nothing(connection: socket.socket) -> None:
    while connection.recv(4096):
        pass


def drip_status(connection: socket.socket) -> None:
    drip(connection, HEAD * 100)


def drip_headers(connection: socket.socket) -> None:
    connection.sendall(HEAD)
    drip(connection, b"X-Header: " + b"x" * 5000)


def drip_body(connection: socket.socket) -> None:
    connection.sendall(HEAD + b"Content-Length: 5000\r\n\r\n")
    drip(connection, b" " * 5000)


def drip_chunks(connection: socket.socket) -> None:
    connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    drip(connection, b"1\r\n \r\n" * 1000)


def stop_in_the_body(connection: socket.socket) -> None:
    connection.sendall(HEAD + b"Content-Length: 5000\r\n\r\n{")
    say_nothing(connection)


def redirect_for_ever(connection: socket.socket) -> None:
    connection.recv(4096)
    time.sleep(DRIP_SECONDS * 4)
    connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: /jwks?again\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


SLOW: Final = [
    say_nothing,
    drip_status,
    drip_headers,
    drip_body,
    drip_chunks,
    stop_in_the_body,
    redirect_for_ever,
]


@pytest.mark.parametrize("serve", SLOW, ids=lambda serve: serve.__name__)
def test_a_slow_issuer_holds_a_call_until_the_deadline_and_no_thread_after_it(
    serve: Callable[[socket.socket], None],
) -> None:
    before = set(threading.enumerate())
    with listen(serve) as url:
        started = time.monotonic()
        with pytest.raises((OSError, HTTPException)):
            fetch_json(url, SECONDS)
        assert time.monotonic() - started < SECONDS + SLACK_SECONDS
        while threads_of_downloads(before):
            assert time.monotonic() - started < 2 * SECONDS + SLACK_SECONDS
            time.sleep(0.01)


def threads_of_downloads(before: set[threading.Thread]) -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one not in before and "_run" in one.name]


@pytest.mark.parametrize("size", [MAX_DOCUMENT_BYTES, MAX_DOCUMENT_BYTES + 1])
def test_a_document_has_a_largest_size(issuer: Issuer, size: int) -> None:
    issuer.documents["/jwks"] = b"{}".ljust(size)
    if size <= MAX_DOCUMENT_BYTES:
        assert fetch_json(f"{issuer.url}/jwks", 10.0) == {}
    else:
        with pytest.raises(ValueError, match="too large"):
            fetch_json(f"{issuer.url}/jwks", 10.0)


def test_a_deadline_that_has_passed_fetches_nothing(issuer: Issuer) -> None:
    with pytest.raises(TimeoutError):
        fetch_json(f"{issuer.url}/jwks", 0.0)


def test_what_is_not_json_is_an_error(issuer: Issuer) -> None:
    issuer.documents["/jwks"] = b"<html>"
    with pytest.raises(ValueError, match="Expecting value"):
        fetch_json(f"{issuer.url}/jwks", 10.0)
