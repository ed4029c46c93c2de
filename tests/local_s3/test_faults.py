"""Injected faults: which requests they concern, and what a client gets."""

from __future__ import annotations

import http.client
from collections.abc import Iterator

import pytest

from local_s3.counting_server import CountingServer, serve_counted
from local_s3.faults import STATUS_FAULTS, Fault, FaultKind

TEXT = b"Tides come and go. " * 40
PATIENCE_SECONDS = 1.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CountingServer]:
    folder = tmp_path_factory.mktemp("store")
    (folder / "bucket").mkdir()
    (folder / "bucket" / "a.txt").write_bytes(TEXT)
    with serve_counted(folder, 0) as running:
        yield running


def get(server: CountingServer) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", "/bucket/a.txt")
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_a_fault_concerns_a_range_of_requests_or_all_that_follow() -> None:
    assert [number for number in range(1, 6) if Fault("hang", 3).concerns(number)] == [3, 4, 5]
    assert [number for number in range(1, 6) if Fault("hang", 2, 2).concerns(number)] == [2, 3]


@pytest.mark.parametrize("kind", STATUS_FAULTS)
def test_a_status_is_sent_for_the_requests_of_the_fault_and_no_others(server: CountingServer, kind: FaultKind) -> None:
    with server.inject(kind, 2, 1):
        assert [get(server)[0] for _ in range(3)] == [200, int(kind), 200]
    assert get(server) == (200, TEXT)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("reset", ConnectionError),
        ("truncate", http.client.IncompleteRead),
        ("hang", TimeoutError),
    ],
)
def test_a_connection_breaks_as_the_fault_says(server: CountingServer, kind: FaultKind, error: type[Exception]) -> None:
    with server.inject(kind), pytest.raises(error):
        get(server)
    assert get(server) == (200, TEXT)


def test_a_corrupted_body_has_the_same_length_and_other_bytes(server: CountingServer) -> None:
    with server.inject("corrupt"):
        status, body = get(server)
    assert (status, len(body)) == (200, len(TEXT))
    assert body != TEXT


def test_a_dripping_answer_comes_byte_by_byte(server: CountingServer) -> None:
    with server.inject("drip"):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
        connection.request("GET", "/bucket/a.txt")
        assert connection.sock is not None
        assert [connection.sock.recv(100) for _ in range(3)] == [b"H", b"T", b"T"]
        connection.close()
