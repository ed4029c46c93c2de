"""The libraries below a call, without the tool: LanceDB's queries, and the session manager of the MCP SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, Final, Self

import mcp_types as types
import pyarrow as pa
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from knowledge.embedding.base import Vectors
from knowledge.scopes import Scope
from knowledge.store.lance import AsyncTable, any_term, connect
from search_knowledge.arguments import input_schema
from search_knowledge.tool_definition import DESCRIPTION, NAME, TITLE, output_schema

DEPTH: Final = 128
"""Rows requested by each query, as many as by the tool."""

_LEXICAL: Final = ["scope", "item_id", "start", "terms", "_score"]
_SEMANTIC: Final = ["scope", "item_id", "start", "_distance"]
_ROW: Final = ["about", "state", "text"]
"""The columns that the tool requests."""


class BaselineTable:
    """The `current` table of a scope, opened once, with the same caches as the tool."""

    def __init__(self, table: AsyncTable) -> None:
        self._table = table

    @classmethod
    async def open(cls, dataset: Path, team: str) -> Self:
        """Open the table of a team."""
        connection = await connect(str(dataset), {})
        return cls(await connection.open_table(Scope("team", team).current_table))

    async def search(self, terms: str, vector: Awaitable[Vectors]) -> tuple[pa.Table, pa.Table]:
        """Run both queries concurrently, the semantic one as soon as it has its vector."""
        return await asyncio.gather(self._search_lexical(terms), self._search_semantic(vector))

    async def read_row(self, position: int) -> pa.Table:
        """Return the rows at one indexed address."""
        return await self._table.query().where(f"place = {position}").select(_ROW).to_arrow()

    async def _search_lexical(self, terms: str) -> pa.Table:
        query = self._table.query().nearest_to_text(any_term(terms, "terms"))
        return await query.select(_LEXICAL).limit(DEPTH).to_arrow()

    async def _search_semantic(self, vector: Awaitable[Vectors]) -> pa.Table:
        query = self._table.query().nearest_to(await vector).distance_type("cosine")
        return await query.select(_SEMANTIC).limit(DEPTH).to_arrow()


class BaselineSessionManager:
    """The SDK's session manager, stateless and with JSON answers, for a server that lists the same tool."""

    def __init__(self) -> None:
        tool = types.Tool(
            name=NAME, title=TITLE, description=DESCRIPTION, input_schema=input_schema(), output_schema=output_schema()
        )

        async def list_tools(_context: object, _params: object) -> types.ListToolsResult:
            return types.ListToolsResult(tools=[tool])

        async def call_tool(_context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
            return types.CallToolResult(content=[types.TextContent(text=params.name)])

        server = Server[Any](NAME, on_list_tools=list_tools, on_call_tool=call_tool)
        self._manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        self._keeper: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the manager; it runs until the loop is closed."""
        ready = asyncio.Event()
        self._keeper = asyncio.create_task(self._run(ready))
        await ready.wait()

    async def _run(self, ready: asyncio.Event) -> None:
        async with self._manager.run():
            ready.set()
            await asyncio.Event().wait()

    async def answer(self, body: bytes, headers: list[tuple[bytes, bytes]]) -> bytes:
        """Return the body of the answer to a request."""
        answer = bytearray()
        incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        incoming.put_nowait({"type": "http.request", "body": body, "more_body": False})

        async def send(message: Any) -> None:  # noqa: ANN401 - ASGI messages are plain dicts
            answer.extend(message.get("body", b""))

        await self._manager.handle_request(_build_scope(headers), incoming.get, send)
        return bytes(answer)


def _build_scope(headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", b"localhost:80"), *headers],
        "server": ("localhost", 80),
        "client": ("localhost", 1),
    }
