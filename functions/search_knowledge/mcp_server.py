"""The MCP server: JSON-RPC and both versions of MCP are known to this module alone.

The SDK's Streamable HTTP manager is called once for each event, with an ASGI scope built here. Its `run()` is entered
once, in a task that lives longer than an event: Lambda freezes it between events.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar, cast

import mcp_types as types
from mcp import MCPError
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request

from search_knowledge.arguments import input_schema
from search_knowledge.http_messages import HttpRequest, HttpResponse
from search_knowledge.request_validation import MAX_BODY_BYTES, Inbound, validate_request
from search_knowledge.tool import CallContext, KnowledgeTool
from search_knowledge.tool_definition import DESCRIPTION, INSTRUCTIONS, META, NAME, TITLE, VERSION, output_schema

T = TypeVar("T")

_Context = ServerRequestContext[Any, Request]

_MESSAGE_KEY: Final = "search_knowledge.http_messages"
"""Key in the ASGI scope under which a tool call finds its own message and context."""

_DEFINITION_HINT: Final = CacheHint(ttl_ms=3_600_000, scope="public")
"""The tool's definition is the same for every caller and changes only with a deployment."""

_REWRITTEN_BODY_BYTES: Final = 6 * MAX_BODY_BYTES
"""`request_validation` has checked the size; a body that is encoded again may be longer than the one received."""


@dataclass(frozen=True, slots=True)
class _Message:
    """One message and the context of its call."""

    message: Mapping[str, Any]
    context: CallContext


class ProtocolServer:
    """Answers HTTP requests, one at a time, on its own event loop; close it when done."""

    def __init__(self, tool: KnowledgeTool, *, listed: bool) -> None:
        self._server = _Handlers(tool, listed=listed).server()
        self._runner = asyncio.Runner()
        self._keeper: asyncio.Task[None] | None = None
        self._manager: StreamableHTTPSessionManager | None = None

    def answer(self, request: HttpRequest, context: CallContext) -> HttpResponse:
        """The response to one request; must not be called from a running event loop."""
        admitted = validate_request(request)
        if isinstance(admitted, HttpResponse):
            return admitted
        return self._run(self._handle(admitted, context))

    def prepare(self) -> None:
        """Start the SDK's manager before the first event."""
        self._run(self._start_manager())

    def close(self) -> None:
        """Stop the SDK's manager and the event loop."""
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        # Not the runner's own `run`, which installs and removes a signal handler: a third of a short call's time.
        loop = self._runner.get_loop()
        # Context variables of one event must not reach the next one.
        return loop.run_until_complete(loop.create_task(work, context=contextvars.copy_context()))

    async def _start_manager(self) -> StreamableHTTPSessionManager:
        if self._manager is None or self._keeper is None or self._keeper.done():
            ready: asyncio.Future[StreamableHTTPSessionManager] = asyncio.get_running_loop().create_future()
            self._keeper = asyncio.create_task(_keep(_manager(self._server), ready))
            self._manager = await ready
        return self._manager

    async def _handle(self, inbound: Inbound, context: CallContext) -> HttpResponse:
        manager = await self._start_manager()
        reply = _Reply()
        incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        # After the body the queue stays empty, so that receiving waits: a disconnect would cancel the call.
        incoming.put_nowait({"type": "http.request", "body": inbound.body, "more_body": False})
        scope = _asgi_scope(inbound, _Message(inbound.message, context))
        await manager.handle_request(scope, incoming.get, reply.send)
        return reply.response()


class _Handlers:
    """The methods this server has, in the SDK's terms."""

    def __init__(self, tool: KnowledgeTool, *, listed: bool) -> None:
        self._tool = tool
        self._tools = [_declaration()] if listed else []

    def server(self) -> Server[Any]:
        logging.getLogger("mcp").setLevel(logging.WARNING)
        return Server(
            NAME,
            version=VERSION,
            title=TITLE,
            instructions=INSTRUCTIONS,
            cache_hints={"tools/list": _DEFINITION_HINT, "server/discover": _DEFINITION_HINT},
            # No argument is mirrored in a header, so there is nothing to compare.
            get_tool_input_schema=lambda _name: None,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            # Some clients request these in any case and fail on "method not found".
            on_list_prompts=_no_prompts,
            on_list_resources=_no_resources,
            on_list_resource_templates=_no_templates,
        )

    async def _list_tools(self, _context: _Context, _params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._tools)

    async def _call_tool(self, context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name != NAME:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool; this server has {NAME}.")
        message: _Message = cast("Request", context.request).scope[_MESSAGE_KEY]
        arguments = message.message["params"].get("arguments") or {}
        result = await self._tool.call(arguments, message.context)
        return types.CallToolResult(
            content=[types.TextContent(text=result.text)],
            structured_content=result.envelope,
            is_error=result.is_error,
        )


class _Reply:
    """Collects what the SDK sends."""

    def __init__(self) -> None:
        self._status = 500
        self._headers: dict[str, str] = {}
        self._body = bytearray()

    async def send(self, message: Any) -> None:  # noqa: ANN401 - ASGI messages are plain dicts
        if message["type"] == "http.response.start":
            pairs = ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in message["headers"])
            self._status = message["status"]
            self._headers = {name: value for name, value in pairs if name != "content-length"}
        else:
            self._body += message.get("body", b"")

    def response(self) -> HttpResponse:
        return HttpResponse(self._status, self._body.decode("utf-8"), self._headers)


def _declaration() -> types.Tool:
    return types.Tool(
        name=NAME,
        title=TITLE,
        description=DESCRIPTION,
        input_schema=input_schema(),
        output_schema=output_schema(),
        annotations=types.ToolAnnotations(
            title=TITLE, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
        _meta=META,
    )


async def _no_prompts(_context: _Context, _params: object) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[])


async def _no_resources(_context: _Context, _params: object) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[])


async def _no_templates(_context: _Context, _params: object) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=[])


def _manager(server: Server[Any]) -> StreamableHTTPSessionManager:
    return StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        max_request_body_size=_REWRITTEN_BODY_BYTES,
        # Behind a gateway the function has any host name; `local_gateway` checks the name itself.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )


async def _keep(manager: StreamableHTTPSessionManager, ready: asyncio.Future[StreamableHTTPSessionManager]) -> None:
    async with manager.run():
        ready.set_result(manager)
        await asyncio.Event().wait()


def _asgi_scope(inbound: Inbound, message: _Message) -> dict[str, Any]:
    headers = [
        (name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in inbound.headers
    ]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "https",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "root_path": "",
        "query_string": b"",
        "headers": headers,
        "server": None,
        "client": None,
        _MESSAGE_KEY: message,
    }
