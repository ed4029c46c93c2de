"""A read-only S3 server over a folder that delays every request, records it, and injects faults.

It runs in a process of its own and does almost nothing for a request, so that requests which a client sends
concurrently are recorded as concurrent: `python -m local_s3.counting_server FOLDER [SECONDS]`. The folders in `FOLDER`
are the buckets; `SECONDS` is the delay.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from local_s3.connection import storage_options
from local_s3.faults import Fault, FaultKind, send_faulty

WAIT_SECONDS: Final = 0.02
"""About the time to first byte of S3; without it, a server on this machine answers at once."""

RECORD: Final = "/-/record"
"""Path that returns the requests recorded since it was last read, and clears the record."""

FAULT: Final = "/-/fault"
"""Path that sets the fault given in its query, `kind`, `first` and `count`; without a query the store is healthy."""

_PAGE_KEYS: Final = 1_000
"""Keys in one page of a LIST, unless the client asks for another number; S3's own default."""
_OK, _PARTIAL, _NOT_FOUND, _NOT_ALLOWED = "200 OK", "206 Partial Content", "404 Not Found", "405 Method Not Allowed"


@dataclass(frozen=True, slots=True)
class Request:
    """One request: `start` and `end` in seconds, `kind` GET, HEAD or LIST, `sent` in bytes of the answer's body."""

    start: float
    end: float
    kind: str
    key: str
    sent: int


def count_waves(requests: Sequence[Request]) -> int:
    """Length of the longest chain of requests of which each began after the one before had ended.

    Concurrent requests count once, however many they are; a request that waited for an answer adds one.
    """
    length, ended = 0, float("-inf")
    for request in sorted(requests, key=lambda one: one.end):
        if request.start >= ended:
            length, ended = length + 1, request.end
    return length


@dataclass(frozen=True, slots=True)
class CountingServer:
    """A running server."""

    port: int

    @property
    def options(self) -> dict[str, str]:
        """LanceDB's storage options for this server."""
        return storage_options(f"http://127.0.0.1:{self.port}")

    def take_requests(self) -> list[Request]:
        """Requests since the last call, in order of their start."""
        return sorted((Request(*one) for one in self._ask(RECORD)), key=lambda one: one.start)

    @contextmanager
    def inject(self, kind: FaultKind, first: int = 1, count: int = 0) -> Iterator[None]:
        """Let so many requests of a block fail, from number `first` on; a `count` of 0 means all of them."""
        self._ask(f"{FAULT}?kind={kind}&first={first}&count={count}")
        try:
            yield
        finally:
            self._ask(FAULT)

    def _ask(self, path: str) -> list[list[Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", path)
        listed: list[list[Any]] = json.load(connection.getresponse())
        connection.close()
        return listed


@contextmanager
def serve_counted(folder: Path, wait_seconds: float = WAIT_SECONDS) -> Iterator[CountingServer]:
    """Run a server over a folder for the duration of a block; each request waits so long."""
    command = [sys.executable, "-m", "local_s3.counting_server", str(folder), str(wait_seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - this very module
        try:
            yield CountingServer(int(next(iter(process.stdout or ()))))
        finally:
            process.terminate()


@dataclass(frozen=True, slots=True)
class _Response:
    status: str
    body: bytes = b""
    headers: Mapping[str, str] | None = None
    length: int | None = None


class _Server:
    def __init__(self, root: Path, wait_seconds: float) -> None:
        self._root = root
        self._wait_seconds = wait_seconds
        self._record: list[Request] = []
        self._fault: Fault | None = None
        self._healed = asyncio.Event()
        self._served = 0

    async def serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await self._serve_request(head.decode("latin-1"), writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _serve_request(self, head: str, writer: asyncio.StreamWriter) -> None:
        request, *lines = head.strip().split("\r\n")
        method, target, _ = request.split(" ")
        url = urlsplit(target)
        if url.path == RECORD:
            writer.write(self._take_record())
        elif url.path == FAULT:
            writer.write(self._set_fault(url.query))
        else:
            self._served += 1
            fault, healed = self._fault, self._healed
            is_faulty = fault is not None and fault.concerns(self._served)
            answer = await self._answer_request(method, target, lines)
            if fault is not None and is_faulty:
                await send_faulty(writer, answer, fault.kind, healed)
            else:
                writer.write(answer)

    async def _answer_request(self, method: str, target: str, lines: Sequence[str]) -> bytes:
        start = time.monotonic()
        await asyncio.sleep(self._wait_seconds)
        url = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        ranged = next((line.partition("=")[2] for line in lines if line.lower().startswith("range:")), "")
        key = unquote(url.path).strip("/")
        kind = "LIST" if "list-type" in query else method
        answer = self._list_bucket(key, query) if kind == "LIST" else self._get_object(method, key, ranged)
        self._record.append(Request(start, time.monotonic(), kind, _describe_key(key, query, ranged), len(answer.body)))
        return _encode_response(answer)

    def _take_record(self) -> bytes:
        taken = [[one.start, one.end, one.kind, one.key, one.sent] for one in self._record]
        self._record = []
        return _encode_response(_Response(_OK, json.dumps(taken).encode()))

    def _set_fault(self, query: str) -> bytes:
        given = {name: values[0] for name, values in parse_qs(query).items()}
        self._healed.set()
        self._healed, self._served = asyncio.Event(), 0
        kind = cast("FaultKind | None", given.get("kind"))
        self._fault = None if kind is None else Fault(kind, int(given["first"]), int(given["count"]))
        return _encode_response(_Response(_OK, b"[]"))

    def _get_object(self, method: str, key: str, ranged: str) -> _Response:
        path = self._root / key
        if method not in {"GET", "HEAD"}:
            return _Response(_NOT_ALLOWED)
        if not path.is_file():
            return _Response(_NOT_FOUND, b"<Error><Code>NoSuchKey</Code></Error>" if method == "GET" else b"")
        size = path.stat().st_size
        headers = {"ETag": f'"{size:x}"', "Last-Modified": formatdate(path.stat().st_mtime, usegmt=True)}
        if method == "HEAD":
            return _Response(_OK, headers=headers, length=size)
        if not ranged:
            return _Response(_OK, path.read_bytes(), headers)
        first, last = _parse_range(ranged, size)
        headers["Content-Range"] = f"bytes {first}-{last}/{size}"
        with path.open("rb") as file:
            return _Response(_PARTIAL, os.pread(file.fileno(), last - first + 1, first), headers)

    def _list_bucket(self, bucket: str, query: Mapping[str, str]) -> _Response:
        prefix, after = query.get("prefix", ""), query.get("continuation-token") or query.get("start-after", "")
        keys, folders = self._list_keys(bucket, prefix, one_level="delimiter" in query)
        page = int(query.get("max-keys", _PAGE_KEYS))
        following = [key for key in keys if key > after]
        shown = "".join(map(self._format_entry, [f"{bucket}/{key}" for key in following[:page]]))
        groups = "".join(f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in folders)
        is_truncated = len(following) > page
        token = f"<NextContinuationToken>{escape(following[page - 1])}</NextContinuationToken>" if is_truncated else ""
        body = (
            f"<ListBucketResult><Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(following)}"
            f"</KeyCount><IsTruncated>{str(is_truncated).lower()}</IsTruncated>{token}{shown}{groups}</ListBucketResult>"
        )
        return _Response(_OK, body.encode(), {"Content-Type": "application/xml"})

    def _list_keys(self, bucket: str, prefix: str, *, one_level: bool) -> tuple[list[str], list[str]]:
        root = self._root / bucket
        top = root / prefix.rpartition("/")[0]
        found = top.iterdir() if one_level and top.is_dir() else top.rglob("*")
        named = [(path.relative_to(root).as_posix(), path.is_dir()) for path in found]
        below = [(name, folder) for name, folder in named if name.startswith(prefix)]
        folders = [f"{name}/" for name, folder in below if folder and one_level]
        return sorted(name for name, folder in below if not folder), sorted(folders)

    def _format_entry(self, name: str) -> str:
        status = (self._root / name).stat()
        changed = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(status.st_mtime))
        key = escape(name.partition("/")[2])
        return (
            f"<Contents><Key>{key}</Key><LastModified>{changed}</LastModified><ETag>&quot;{status.st_size:x}&quot;"
            f"</ETag><Size>{status.st_size}</Size></Contents>"
        )


def _describe_key(key: str, query: Mapping[str, str], ranged: str) -> str:
    return f"{key}/{query.get('prefix', '')}" if query else f"{key} {ranged}".strip()


def _parse_range(ranged: str, size: int) -> tuple[int, int]:
    first, _, last = ranged.partition("-")
    if not first:
        return max(0, size - int(last)), size - 1
    return int(first), min(int(last), size - 1) if last else size - 1


def _encode_response(answer: _Response) -> bytes:
    headers = {"Content-Length": str(len(answer.body) if answer.length is None else answer.length)}
    lines = [f"{name}: {value}" for name, value in {**headers, **(answer.headers or {})}.items()]
    return "\r\n".join([f"HTTP/1.1 {answer.status}", *lines, "", ""]).encode() + answer.body


async def _serve(root: Path, wait_seconds: float) -> None:
    server = await asyncio.start_server(_Server(root, wait_seconds).serve_connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), float(sys.argv[2]) if sys.argv[2:] else WAIT_SECONDS))
