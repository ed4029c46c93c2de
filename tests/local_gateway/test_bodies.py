"""Bodies of HTTP requests: counted, chunked, and neither."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_gateway.bodies import MAX_BODY_BYTES, BodyError, read_body

CHUNKED = {"transfer-encoding": "chunked"}


def read(data: bytes, **headers: str) -> tuple[bytes, bytes]:
    """The body, and what is left for the next request."""
    stream = BytesIO(data)
    named = {name.replace("_", "-"): value for name, value in headers.items()} or CHUNKED
    return read_body(named, stream), stream.read()


def test_a_body_without_a_length_is_empty() -> None:
    assert read_body({}, BytesIO(b"next")) == b""


def test_a_counted_body_ends_at_its_length() -> None:
    assert read(b"bodynext", content_length="4") == (b"body", b"next")
    assert read(b"next", content_length="0") == (b"", b"next")


@pytest.mark.parametrize(
    "data",
    [
        b"4\r\nbody\r\n0\r\n\r\n",
        b"2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n",
        b"04;name=value\r\nbody\r\n000\r\nTrailer: x\r\nOther: y\r\n\r\n",
        b"4 \nbody\n0\n\n",
    ],
)
def test_a_chunked_body_is_joined_and_its_trailers_are_skipped(data: bytes) -> None:
    assert read(data + b"next") == (b"body", b"next")


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=20))
def test_any_chunks_give_their_bytes(chunks: list[bytes]) -> None:
    framed = b"".join(b"%X\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    assert read(framed + b"next") == (b"".join(chunks), b"next")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"4",
        b"4\r\nbod",
        b"4\r\nbody",
        b"4\r\nbody\r\n",
        b"4\r\nbody more\r\n0\r\n\r\n",
        b"x\r\nbody\r\n",
        b"-4\r\nbody\r\n",
        b"+4\r\nbody\r\n",
        b"0x4\r\nbody\r\n",
        b"\r\n",
        b"4;" + b"x" * 5000 + b"\r\nbody\r\n",
        b"123456789\r\n",
    ],
)
def test_chunks_that_are_none_are_refused(data: bytes) -> None:
    with pytest.raises(BodyError) as caught:
        read(data)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    "data",
    [
        b"FFFFFFFF\r\n",
        b"%X\r\n" % (MAX_BODY_BYTES + 1),
        (b"%X\r\n" % MAX_BODY_BYTES) + b" " * MAX_BODY_BYTES + b"\r\n0\r\n\r\n",
        b"1;" + b"x" * 4000 + b"\r\n \r\n" + (b"1;" + b"x" * 4000 + b"\r\n \r\n") * 3000,
        b"0\r\n" + (b"T: " + b"x" * 4000 + b"\r\n") * 3000,
    ],
    ids=["four gigabytes", "a byte more", "with its framing", "much framing", "many trailers"],
)
def test_chunks_without_end_are_refused(data: bytes) -> None:
    with pytest.raises(BodyError) as caught:
        read(data)
    assert caught.value.status == 413
