"""Calls of the function for tests: events, messages of both eras, and the real MCP client in process."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final, Literal, cast

import httpx2
from aws_lambda_powertools import Logger
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY

from knowledge.claims import CONTEXT_MARK
from knowledge.embedding.providers import LOCAL_SMALL
from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from search_knowledge.tool_definition import NAME, output_schema
from tests.support.datasets import embedding

Json = dict[str, Any]
Era = Literal["legacy", "auto"]

ERAS: Final[tuple[Era, ...]] = ("legacy", "auto")
"""The client's modes: the handshake, and discovery, which finds the stateless era."""
STATELESS: Final = "2026-07-28"
ANA: Final[Json] = {"sub": "ana", "scope": "knowledge:read", "teams": '["support"]', **CONTEXT_MARK}
"""What this project's authorizer says of a caller, as a REST API hands it on."""
OUTPUT: Final = Draft202012Validator(output_schema())

_NAMED: Final = {"tools/call": "name"}


@dataclass(frozen=True, slots=True)
class Context:
    """Lambda's context: what is left of the time, and the request's id."""

    remaining_ms: int = 30_000
    aws_request_id: str = "lambda-request"

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms


def switched_on(uri: str = "", **settings: Any) -> Handler:  # noqa: ANN401 - fields of `Settings`
    """A handler whose switch is on, with the small embedding model of this process; its log goes nowhere."""
    usual: Json = {"uri": uri, "embedding": LOCAL_SMALL, "runtime_switch": "on"}
    given = Settings(**(usual | settings))
    return Handler(given, logger(), embedding() if given.embedding == LOCAL_SMALL else None)


def logger(stream: StringIO | None = None) -> Logger:
    """A logger of its own for each handler, so that one test never reads another's lines."""
    target = stream or StringIO()
    found = Logger(service=f"test-{id(target)}", stream=target, level="INFO")
    logging.getLogger(found.name).propagate = False
    return found


def request(method: str, params: Json | None = None, *, identity: object = 1) -> Json:
    """A JSON-RPC request of the handshake era."""
    return {"jsonrpc": "2.0", "id": identity, "method": method} | ({} if params is None else {"params": params})


def tool_call(arguments: object, *, name: str = NAME) -> Json:
    """A request that calls the tool."""
    return request("tools/call", {"name": name, "arguments": arguments})


def stateless(message: Json) -> tuple[Json, Json]:
    """The same message and the headers that go with it, in the stateless era."""
    params = dict(message.get("params") or {})
    params["_meta"] = {PROTOCOL_VERSION_META_KEY: STATELESS, CLIENT_CAPABILITIES_META_KEY: {}}
    headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": message["method"]}
    if message["method"] in _NAMED:
        headers["Mcp-Name"] = params[_NAMED[message["method"]]]
    return message | {"params": params}, headers


def rest_event(body: object, *, headers: Json | None = None, authorizer: object = ANA, **fields: object) -> Json:
    """A REST API's event; a body that is not text is written as JSON."""
    return {
        "httpMethod": "POST",
        "path": "/mcp",
        "headers": {"Content-Type": "application/json", "Accept": "application/json", **(headers or {})},
        "body": body if isinstance(body, str) or body is None else json.dumps(body),
        "isBase64Encoded": False,
        "requestContext": {"authorizer": authorizer, "requestId": "gateway-request"},
        **fields,
    }


def http_event(body: object, *, headers: Json | None = None, authorizer: object = None, **fields: object) -> Json:
    """An HTTP API's event."""
    event = rest_event(body, headers=headers, authorizer=authorizer)
    del event["httpMethod"], event["path"]
    event["headers"] = {name.lower(): value for name, value in event["headers"].items()}
    event["requestContext"]["http"] = {"method": "POST", "path": "/mcp"}
    return {"version": "2.0", "rawPath": "/mcp", **event, **fields}


def body_of(answer: Mapping[str, Any]) -> Json:
    """The JSON body of a gateway answer."""
    return cast("Json", json.loads(answer["body"]))


def envelope_of(answer: Mapping[str, Any]) -> Json:
    """The envelope of a tool result, after checking all that holds for every one of them."""
    result = body_of(answer)["result"]
    envelope: Json = result["structuredContent"]
    (content,) = result["content"]
    assert answer["statusCode"] == 200
    assert content["type"] == "text"
    assert json.loads(content["text"]) == envelope
    assert content["text"] == json.dumps(envelope, ensure_ascii=False, separators=(",", ":"))
    assert result.get("isError", False) is (envelope["type"] in {"knowledge_error", "knowledge_unavailable"})
    OUTPUT.validate(envelope)
    return envelope


def call(handler: Callable[..., Json], arguments: object, *, authorizer: object = ANA) -> Json:
    """The envelope that a call gets through a REST API."""
    return envelope_of(handler(rest_event(tool_call(arguments), authorizer=authorizer), Context()))


def error_of(envelope: Json) -> tuple[str, str | None]:
    """Code and field of an error envelope."""
    return envelope["error"]["code"], envelope["error"]["field"]


def client(handler: Callable[..., Json], era: Era, authorizer: object = ANA) -> Client:
    """The real MCP client, talking to the handler without a socket."""
    turn = threading.Lock()

    def serve(event: Json) -> Json:
        with turn:
            return handler(event, Context())

    async def relay(request: httpx2.Request) -> httpx2.Response:
        event = rest_event((await request.aread()).decode() or None, authorizer=authorizer)
        event |= {"httpMethod": request.method, "headers": dict(request.headers)}
        answer = await asyncio.to_thread(serve, event)
        return httpx2.Response(answer["statusCode"], headers=answer["headers"], text=answer["body"])

    transport = httpx2.AsyncClient(transport=httpx2.MockTransport(relay))
    return Client(streamable_http_client("https://gateway.test/mcp", http_client=transport), mode=era)
