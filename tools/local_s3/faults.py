"""Faults that the counting server injects: which requests they concern, and what a client gets instead of an answer."""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import dataclass
from typing import Final, Literal

FaultKind = Literal["403", "404", "500", "503", "reset", "hang", "drip", "truncate", "corrupt"]

STATUS_FAULTS: Final = {
    "403": ("403 Forbidden", "AccessDenied"),
    "404": ("404 Not Found", "NoSuchKey"),
    "500": ("500 Internal Server Error", "InternalError"),
    "503": ("503 Slow Down", "SlowDown"),
}
"""Kinds that answer with a status; with the code that S3 gives in the body."""

_DRIP_SECONDS: Final = 0.25
"""Between two bytes of a dripping answer: each arrives well within a client's time-out for a read."""

_CORRUPTED_EVERY: Final = 37
"""Distance of the corrupted bytes of a body, so that each of its structures is hit."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of so many requests from number `first` on, counted from 1 when it is set; `count` 0 means all."""

    kind: FaultKind
    first: int = 1
    count: int = 0

    def concerns(self, number: int) -> bool:
        """Whether the request of this number fails."""
        return number >= self.first and (not self.count or number < self.first + self.count)


async def send_faulty(writer: asyncio.StreamWriter, answer: bytes, kind: FaultKind, healed: asyncio.Event) -> None:
    """Send an answer as a fault leaves it, and raise `ConnectionError` where the connection ends with it.

    A hanging or dripping answer ends when the fault is `healed`.
    """
    head, separator, body = answer.partition(b"\r\n\r\n")
    if kind in STATUS_FAULTS:
        status, code = STATUS_FAULTS[kind]
        text = f"<Error><Code>{code}</Code></Error>".encode()
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text)
    elif kind == "corrupt":
        writer.write(head + separator + _corrupt(body))
    else:
        await _break_off(writer, head + separator, body, kind, healed)


async def _break_off(
    writer: asyncio.StreamWriter, head: bytes, body: bytes, kind: FaultKind, healed: asyncio.Event
) -> None:
    if kind == "truncate":
        writer.write(head + body[: len(body) // 2])
        await writer.drain()
    elif kind == "hang":
        await healed.wait()
    elif kind == "drip":
        await _drip(writer, head + body, healed)
    else:
        _reset_on_close(writer)
    raise ConnectionResetError


async def _drip(writer: asyncio.StreamWriter, answer: bytes, healed: asyncio.Event) -> None:
    for byte in answer:
        if healed.is_set():
            return
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(_DRIP_SECONDS)


def _corrupt(body: bytes) -> bytes:
    return bytes(byte ^ 0xFF if at % _CORRUPTED_EVERY == 0 else byte for at, byte in enumerate(body))


def _reset_on_close(writer: asyncio.StreamWriter) -> None:
    # Without lingering, closing a connection resets it.
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
