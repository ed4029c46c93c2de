"""Moto's S3 server in this process, with a log of its requests and a hook that can answer or cut them."""

from __future__ import annotations

import http.client
import itertools
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from moto.moto_server.threaded_moto_server import ThreadedMotoServer
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.datastructures import Headers
from werkzeug.serving import make_server
from werkzeug.test import run_wsgi_app

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

REGION: Final = "eu-west-1"
_AUTHORIZATION: Final = f"AWS4-HMAC-SHA256 Credential=testing/20260101/{REGION}/s3/aws4_request"
_numbers = itertools.count(1)

READING: Final = frozenset({"GET", "HEAD"})
"""Methods of a reader; a LIST is a GET of the bucket."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server saw it; `sent` counts the bytes of the answer's body."""

    method: str
    path: str
    query: str
    status: int
    sent: int


Hook = Callable[[str, str], int | None]
"""Hears method and path before a request is served; a status that it returns is answered instead."""


class Recorder:
    """A WSGI application around moto's.

    One request at a time: moto can fail a LIST while keys change under it, and conditional writes must be atomic.
    """

    def __init__(self, inner: WSGIApplication) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self.log: list[Request] = []
        self.hook: Hook | None = None

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request, or let the hook answer it, and log it."""
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
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
        """Say nothing: the recorder keeps a better log."""

    def connection_dropped(self, error: BaseException, environ: WSGIEnvironment | None = None) -> None:
        """End a line that a hook has cut; otherwise the client would wait for its answer."""
        del error, environ
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


class S3Server(ThreadedMotoServer):
    """Moto's threaded server on a free port of the loopback address, recorded."""

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
        """Base address, `http://127.0.0.1:<port>`."""
        host, port = self.get_host_and_port()
        return f"http://{host}:{port}"

    @property
    def environment(self) -> dict[str, str]:
        """The standard AWS variables that lead a program to this server."""
        return {
            "AWS_ENDPOINT_URL_S3": self.endpoint,
            "AWS_REGION": REGION,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
        }

    @property
    def options(self) -> dict[str, str]:
        """LanceDB storage options that lead to this server."""
        return {
            "endpoint": self.endpoint,
            "allow_http": "true",
            "region": REGION,
            "aws_access_key_id": "testing",
            "aws_secret_access_key": "testing",
            "client_max_retries": "2",
            "client_retry_timeout": "4",
            "timeout": "5s",
        }

    def make_bucket(self) -> str:
        """Name of a new, empty bucket."""
        name = f"knowledge-{next(_numbers)}"
        constraint = (
            f"<CreateBucketConfiguration><LocationConstraint>{REGION}</LocationConstraint></CreateBucketConfiguration>"
        )
        line = http.client.HTTPConnection(*self.get_host_and_port())
        line.request("PUT", f"/{name}", constraint, {"Authorization": _AUTHORIZATION})
        status = line.getresponse().status
        line.close()
        if status != HTTPStatus.OK:
            raise RuntimeError(f"the S3 server answered {status} when a bucket was to be made")
        return name

    @contextmanager
    def recorded(self) -> Iterator[list[Request]]:
        """The requests of a block; the list is filled when the block ends."""
        first, made = len(self.recorder.log), list[Request]()
        yield made
        made += self.recorder.log[first:]

    @contextmanager
    def hooked(self, hook: Hook) -> Iterator[None]:
        """Let a hook hear, and answer, the requests of a block. It may raise `ConnectionError` to cut the line."""
        self.recorder.hook = hook
        try:
            yield
        finally:
            self.recorder.hook = None

    @contextmanager
    def answering(self, status: int) -> Iterator[None]:
        """Answer every request of a block with a status."""
        with self.hooked(lambda _method, _path: status):
            yield

    @contextmanager
    def cutting(self) -> Iterator[None]:
        """Cut the line at every request of a block."""

        def cut(_method: str, _path: str) -> None:
            raise ConnectionResetError

        with self.hooked(cut):
            yield
