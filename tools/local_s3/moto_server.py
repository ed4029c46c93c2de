"""Moto's S3 server in a thread of this process, with a request log and a hook that can answer or cut requests."""

from __future__ import annotations

import http.client
import itertools
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from moto.moto_server.threaded_moto_server import ThreadedMotoServer
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.datastructures import Headers
from werkzeug.serving import make_server
from werkzeug.test import run_wsgi_app

from local_s3.connection import KEY, REGION, environment, storage_options

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_AUTHORIZATION: Final = f"AWS4-HMAC-SHA256 Credential={KEY}/20260101/{REGION}/s3/aws4_request"
"""Tells moto the service and the region; it checks no signature."""
_FEW_RETRIES: Final = {"client_max_retries": "2", "client_retry_timeout": "4", "timeout": "5s"}
_numbers = itertools.count(1)

READING: Final = frozenset({"GET", "HEAD"})
"""HTTP methods that change nothing; a LIST is a GET of the bucket."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server saw it; `sent` counts the bytes of the answer's body."""

    method: str
    path: str
    query: str
    status: int
    sent: int


Hook = Callable[[str, str], int | None]
"""Called with method and path before a request is served; a status that it returns is sent instead of serving it."""

Gate = Callable[[str, str], None]
"""Called as a hook is, but may block: other requests are served meanwhile."""


class Recorder:
    """A WSGI application around moto's.

    It serves one request at a time: moto may fail a LIST while keys change, and conditional writes must be atomic.
    """

    def __init__(self, inner: WSGIApplication) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self.log: list[Request] = []
        self.hook: Hook | None = None
        self.gate: Gate | None = None

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request, or send what the hook returns, and log it."""
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if self.gate:
            self.gate(method, path)
        with self._lock:
            injected = self.hook(method, path) if self.hook else None
            if injected is None:
                parts, status, headers = run_wsgi_app(self._inner, environ, buffered=True)
                body = b"".join(parts)
            else:
                body, status, headers = b"", f"{injected} Injected", Headers()
            sent = 0 if method == "HEAD" else len(body)
            self.log.append(Request(method, path, environ.get("QUERY_STRING", ""), int(status[:3]), sent))
        start_response(status, list(headers))
        return [body]


class _QuietHandler(MotoRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Print nothing: the recorder keeps the log."""

    def connection_dropped(self, error: BaseException, environ: WSGIEnvironment | None = None) -> None:
        """Shut down a connection that a hook has cut; otherwise the client would wait for a response."""
        del error, environ
        self.close_connection = True
        with suppress(OSError):  # the client may have closed it
            self.connection.shutdown(socket.SHUT_RDWR)


class S3Server(ThreadedMotoServer):
    """Moto's threaded server on a free port of the loopback address, with a `Recorder` in front."""

    def __init__(self) -> None:
        super().__init__("127.0.0.1", 0, verbose=False)
        self.recorder = Recorder(DomainDispatcherApplication(create_backend_app))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _server_entry(self) -> None:
        host = self._ip_address
        self._server = make_server(host, 0, self.recorder, threaded=True, request_handler=_QuietHandler)
        self._server_ready_event.set()
        self._server.serve_forever()

    @property
    def endpoint(self) -> str:
        """Base URL, `http://127.0.0.1:<port>`."""
        host, port = self.get_host_and_port()
        return f"http://{host}:{port}"

    @property
    def environment(self) -> dict[str, str]:
        """The standard AWS variables for this server."""
        return environment(self.endpoint)

    @property
    def options(self) -> dict[str, str]:
        """LanceDB's storage options for this server, with few retries, so that an injected fault soon shows."""
        return storage_options(self.endpoint) | _FEW_RETRIES

    def make_bucket(self) -> str:
        """Create an empty bucket and return its name; raises `RuntimeError`."""
        name = f"knowledge-{next(_numbers)}"
        constraint = (
            f"<CreateBucketConfiguration><LocationConstraint>{REGION}</LocationConstraint></CreateBucketConfiguration>"
        )
        connection = http.client.HTTPConnection(*self.get_host_and_port())
        connection.request("PUT", f"/{name}", constraint, {"Authorization": _AUTHORIZATION})
        status = connection.getresponse().status
        connection.close()
        if status != HTTPStatus.OK:
            raise RuntimeError(f"the S3 server answered {status} to the creation of a bucket")
        return name

    @contextmanager
    def record_requests(self) -> Iterator[list[Request]]:
        """Yield a list that has the requests of the block when the block has ended."""
        first, requests = len(self.recorder.log), list[Request]()
        yield requests
        requests += self.recorder.log[first:]

    @contextmanager
    def hook_requests(self, hook: Hook) -> Iterator[None]:
        """Call a hook before each request of a block. It may raise `ConnectionError` to cut the connection."""
        self.recorder.hook = hook
        try:
            yield
        finally:
            self.recorder.hook = None

    @contextmanager
    def hold_requests(self, gate: Gate) -> Iterator[None]:
        """Call a gate before each request of a block; it may block to hold a request back."""
        self.recorder.gate = gate
        try:
            yield
        finally:
            self.recorder.gate = None

    @contextmanager
    def answer_with(self, status: int) -> Iterator[None]:
        """Answer every request of a block with one status."""
        with self.hook_requests(lambda _method, _path: status):
            yield

    @contextmanager
    def cut_connections(self) -> Iterator[None]:
        """Cut the connection at every request of a block."""

        def cut(_method: str, _path: str) -> None:
            raise ConnectionResetError

        with self.hook_requests(cut):
            yield
