"""Other MCP servers for Lambda as workers of `rivals`: each with a tool that does nothing.

It runs in `.venv-rivals`, with one argument: `fastmcp`, `sdk` (the class of the MCP SDK that was called FastMCP before)
or `awslabs`. The first two run on Mangum, which by itself runs the application's lifespan with each event; with `-kept`
it is entered once, in a task that stays, and Mangum is configured not to run it.
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
    """Find nothing."""
    del query
    return {"type": "knowledge_search", "results": []}


def build_fastmcp(*, kept: bool) -> Act:
    """Return FastMCP, stateless and with JSON answers: its other modes need a lasting connection."""
    from fastmcp import FastMCP  # noqa: PLC0415 - each worker loads its own library only

    server: Any = FastMCP("rival")
    server.tool(search_knowledge)
    return _wrap_in_mangum(server.http_app(path="/mcp", stateless_http=True, json_response=True), kept=kept)


def build_sdk(*, kept: bool) -> Act:
    """Return the SDK's high-level server, configured in the same way."""
    from mcp.server.mcpserver import MCPServer  # noqa: PLC0415 - as above
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415 - as above

    server: Any = MCPServer("rival")
    server.tool()(search_knowledge)
    anywhere = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    application = server.streamable_http_app(stateless_http=True, json_response=True, transport_security=anywhere)
    return _wrap_in_mangum(application, kept=kept)


def _wrap_in_mangum(application: Any, *, kept: bool) -> Act:  # noqa: ANN401 - an ASGI application of either library
    from mangum import Mangum  # noqa: PLC0415 - as above

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    keeper = loop.create_task(_keep_open(application)) if kept else None
    loop.run_until_complete(asyncio.sleep(0.5))
    handler = Mangum(application, lifespan="off" if keeper else "auto")
    return lambda event: handler(event, None)


async def _keep_open(application: Any) -> None:  # noqa: ANN401 - as above
    async with application.router.lifespan_context(application):
        await asyncio.Event().wait()


def build_awslabs() -> Act:
    """Return the handler of AWS Labs."""
    from awslabs.mcp_lambda_handler import MCPLambdaHandler  # noqa: PLC0415 - as above

    server: Any = MCPLambdaHandler("rival")
    server.tool()(search_knowledge)
    return lambda event: server.handle_request(event, None)


def main(name: str) -> None:
    """Serve as the worker of that name."""
    logging.disable()  # by default each event writes a line or two in colour
    kept = name.endswith("-kept")
    servers: dict[str, Callable[[], Act]] = {
        "awslabs": build_awslabs,
        "fastmcp": partial(build_fastmcp, kept=kept),
        "sdk": partial(build_sdk, kept=kept),
    }
    serve(servers[name.removesuffix("-kept")]())


if __name__ == "__main__":
    main(sys.argv[1])
