"""The other ways to speak MCP on Lambda in `rivals`, as a process: each with a tool that does nothing.

It runs in `.venv-rivals`, with one argument: `fastmcp`, `sdk` (the class of the MCP SDK that was called FastMCP before)
or `awslabs`. The first two run on Mangum, which by itself runs the application's lifespan with each event; with `-kept`
it is entered once, in a task that stays, and Mangum is configured to leave it alone.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.rivals.worker import Act, serve


def search_knowledge(query: str) -> dict[str, Any]:
    """Find nothing, at once."""
    del query
    return {"type": "knowledge_search", "results": []}


def fastmcp(*, kept: bool) -> Act:
    """FastMCP, stateless and with JSON answers: the other forms need a connection that stays."""
    from fastmcp import FastMCP  # noqa: PLC0415 - each contestant loads its own library only

    server: Any = FastMCP("rival")
    server.tool(search_knowledge)
    return _on_mangum(server.http_app(path="/mcp", stateless_http=True, json_response=True), kept=kept)


def sdk(*, kept: bool) -> Act:
    """The SDK's own upper server, in the same way."""
    from mcp.server.mcpserver import MCPServer  # noqa: PLC0415 - as above
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415 - as above

    server: Any = MCPServer("rival")
    server.tool()(search_knowledge)
    anywhere = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    application = server.streamable_http_app(stateless_http=True, json_response=True, transport_security=anywhere)
    return _on_mangum(application, kept=kept)


def _on_mangum(application: Any, *, kept: bool) -> Act:  # noqa: ANN401 - an ASGI application of either library
    from mangum import Mangum  # noqa: PLC0415 - as above

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    keeper = loop.create_task(_keep(application)) if kept else None
    loop.run_until_complete(asyncio.sleep(0.5))
    handler = Mangum(application, lifespan="off" if keeper else "auto")
    return lambda event: handler(event, None)


async def _keep(application: Any) -> None:  # noqa: ANN401 - as above
    async with application.router.lifespan_context(application):
        await asyncio.Event().wait()


def awslabs() -> Act:
    """The handler of AWS Labs."""
    from awslabs.mcp_lambda_handler import MCPLambdaHandler  # noqa: PLC0415 - as above

    server: Any = MCPLambdaHandler("rival")
    server.tool()(search_knowledge)
    return lambda event: server.handle_request(event, None)


def main(name: str) -> None:
    """Be the contestant of that name."""
    logging.disable()  # what is logged by default would cost each event a line or two in colour
    kept = name.endswith("-kept")
    made: dict[str, Callable[[], Act]] = {
        "awslabs": awslabs,
        "fastmcp": partial(fastmcp, kept=kept),
        "sdk": partial(sdk, kept=kept),
    }
    serve(made[name.removesuffix("-kept")]())


if __name__ == "__main__":
    main(sys.argv[1])
