"""Moto's server: a bucket, a log of requests, and faults on demand."""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pytest

from local_s3.moto_server import S3Server


@pytest.fixture
def server() -> Iterator[S3Server]:
    with S3Server() as running:
        yield running


def list_bucket(server: S3Server, name: str) -> bytes:
    with urlopen(f"{server.endpoint}/{name}", timeout=10) as listed:  # noqa: S310 - http, on this machine
        body: bytes = listed.read()
    return body


def test_a_new_bucket_is_empty_and_the_server_ends() -> None:
    with S3Server() as server:
        name = server.make_bucket()
        body = list_bucket(server, name)
    assert f"<Name>{name}</Name>".encode() in body
    assert b"<Contents>" not in body
    with pytest.raises(URLError, match="refused"):
        list_bucket(server, name)


def test_each_bucket_is_another(server: S3Server) -> None:
    assert server.make_bucket() != server.make_bucket()


def test_requests_are_recorded_with_what_was_sent(server: S3Server) -> None:
    name = server.make_bucket()
    with server.record_requests() as requests:
        body = list_bucket(server, name)
    assert [(one.method, one.path.strip("/"), one.status, one.sent) for one in requests] == [
        ("GET", name, 200, len(body))
    ]


def test_a_block_is_answered_with_a_status_and_the_next_request_as_usual(server: S3Server) -> None:
    name = server.make_bucket()
    with server.answer_with(503), pytest.raises(HTTPError, match="503"):
        list_bucket(server, name)
    assert list_bucket(server, name)


def test_a_block_is_cut_off(server: S3Server) -> None:
    name = server.make_bucket()
    with server.cut_connections(), pytest.raises((URLError, HTTPException, ConnectionError)):
        list_bucket(server, name)
    assert list_bucket(server, name)
