"""The stack as it would run: the template's gateway before the real functions, with the template's own variables."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from authorizer.app import Authorizer
from authorizer.settings import settings_from as authorizer_settings
from search_knowledge.app import Handler
from search_knowledge.settings import settings_from as tool_settings
from tests.support.calls import Context, logger
from tests.support.gateway import Gateway, HttpAnswer, HttpCall
from tests.support.template import Json, Stack

# What there is in place of the bucket, the parameter store and the large model.
LOCAL = {"EMBEDDING": "local-small", "RUNTIME_SWITCH": "on"}


@dataclass(slots=True)
class Running:
    """A running stack: callable in process, and served at `url` for clients that speak HTTP."""

    gateway: Gateway
    port: int

    @property
    def address(self) -> str:
        """What a person pastes into a client."""
        return str(self.gateway.stack.outputs["McpUrl"])

    @property
    def hosts(self) -> list[str]:
        """Every host name under which the stack can be called."""
        domains = self.gateway.stack.of_type("AWS::ApiGateway::DomainName").values()
        apis = self.gateway.stack.of_type("AWS::Serverless::Api")
        return [*(one["DomainName"] for one in domains), *map(api_host, apis)]

    def __call__(self, method: str, url: str, *headers: tuple[str, str], body: str = "") -> HttpAnswer:
        host, _, path = url.removeprefix("https://").partition("/")
        return self.gateway(HttpCall(method, host, f"/{path}", headers, body))


def api_host(name: str) -> str:
    """The host name that API Gateway gives to an API of the template."""
    return f"{name.lower()}.execute-api.eu-central-1.amazonaws.com"


@contextmanager
def running(uri: str, issuer: str, template: Json | None = None, /, **parameters: str) -> Iterator[Running]:
    """The stack with some parameters, reading the dataset at a URI; a spoilt template shows what a mistake does."""
    stack = Stack(template, Issuer=issuer, **parameters)
    authorizer = Authorizer(authorizer_settings(stack.environment("AuthorizerFunction")))
    variables = stack.environment("SearchKnowledgeFunction") | LOCAL | {"LANCEDB_URI": uri}
    with Handler(tool_settings(variables), logger()) as tool:

        def call_tool(event: Json) -> Json:
            return tool(event, Context())

        gateway = Gateway(stack, {"AuthorizerFunction": authorizer, "SearchKnowledgeFunction": call_tool})
        with _serve(gateway) as port:
            yield Running(gateway, port)


@contextmanager
def _serve(gateway: Gateway) -> Iterator[int]:
    server = _Server(("127.0.0.1", 0), gateway)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], gateway: Gateway) -> None:
        super().__init__(address, _Requests)
        self.gateway = gateway


class _Requests(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        call = HttpCall(self.command, self.headers["host"], self.path, tuple(self.headers.items()), body)
        self._send(self.server.gateway(call))

    do_GET = do_DELETE = do_OPTIONS = do_POST  # noqa: N815 - the library's own names

    def log_message(self, *_arguments: object) -> None:
        pass

    def _send(self, answer: HttpAnswer) -> None:
        body = answer.body.encode()
        headers: Mapping[str, str] = {**answer.headers, "Content-Length": str(len(body))}
        self.send_response(answer.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
