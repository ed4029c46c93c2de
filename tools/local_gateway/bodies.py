"""Read the body of an HTTP request, whose length is given or which comes in chunks, as the .NET client sends it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import BufferedIOBase
from typing import Final

MAX_BODY_BYTES: Final = 10 * 1024 * 1024
"""API Gateway's limit; the function's own is lower. The framing of chunks counts, so that it is bounded too."""

_MAX_LINE_BYTES: Final = 4096
"""For the size of a chunk and its extensions, and for a trailer."""

_CHUNK_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(;.*)?\r?\n", re.DOTALL)
_CHUNK_END: Final = (b"\r\n", b"\n")


class BodyError(Exception):
    """The body cannot be read. What follows in the connection cannot be either, so it has to be closed."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def read_body(headers: Mapping[str, str], stream: BufferedIOBase) -> bytes:
    """The body that follows the headers, whose names are lower-case; raises `BodyError`."""
    length, coding = headers.get("content-length"), headers.get("transfer-encoding")
    if coding is None:
        return _read_counted(length or "0", stream)
    if length is not None:
        raise BodyError(400, "A request has a Content-Length or a Transfer-Encoding, not both.")
    if coding.strip().lower() != "chunked":
        raise BodyError(501, "The only Transfer-Encoding that is read here is chunked.")
    return _read_chunks(stream)


def _read_counted(length: str, stream: BufferedIOBase) -> bytes:
    if not (length.isascii() and length.isdecimal()):
        raise BodyError(400, "The Content-Length is not a number.")
    if len(length) > len(str(MAX_BODY_BYTES)) or int(length) > MAX_BODY_BYTES:
        raise _too_large()
    return _read_exactly(int(length), stream)


def _read_chunks(stream: BufferedIOBase) -> bytes:
    body = bytearray()
    left = MAX_BODY_BYTES
    while True:
        line = _read_line(stream)
        found = _CHUNK_SIZE.fullmatch(line)
        if found is None:
            raise BodyError(400, "The size of a chunk cannot be read.")
        size = int(found[1], 16)
        left -= len(line) + size
        if left < 0:
            raise _too_large()
        if size == 0:
            _skip_trailers(stream, left)
            return bytes(body)
        body += _read_exactly(size, stream)
        if _read_line(stream) not in _CHUNK_END:
            raise BodyError(400, "A chunk is longer than its size.")


def _skip_trailers(stream: BufferedIOBase, left: int) -> None:
    while (line := _read_line(stream)) not in _CHUNK_END:
        left -= len(line)
        if left < 0:
            raise _too_large()


def _read_line(stream: BufferedIOBase) -> bytes:
    line = stream.readline(_MAX_LINE_BYTES)
    if not line.endswith(b"\n"):
        raise BodyError(400, "A line of the chunked body is too long, or the body ends early.")
    return line


def _read_exactly(size: int, stream: BufferedIOBase) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise BodyError(400, "The body ends early.")
    return data


def _too_large() -> BodyError:
    return BodyError(413, f"The request body is larger than {MAX_BODY_BYTES} bytes.")
