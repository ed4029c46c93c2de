"""Shared by tests of publishing: two texts, their items, and short ways to publish and inspect them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from publish_knowledge.store.database import Health
from publish_knowledge.store.scope_tables import ScopeTables, open_scope
from tests.support.datasets import ANA, Location, item, put

RIVER: Final = "# Rivers\n\nThe river carries boats to the harbour.\n"
HARBOUR: Final = "# Harbours\n\nThe harbour shelters boats from storms.\n"
A_ID: Final = item(ANA, "notes", "a.md")
B_ID: Final = item(ANA, "notes", "b.md")


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run the asynchronous body of a test."""
    asyncio.run(work)


async def publish_text(where: Location, path: str, text: str, **options: Any) -> str:  # noqa: ANN401 - those of `put`
    """Publish one of ANA's texts and return the action that was taken."""
    return (await put(where, ANA, "notes", {path: text}, **options)).outcomes[0].action


async def publish_two(where: Location) -> None:
    """Publish both texts."""
    await put(where, ANA, "notes", {"a.md": RIVER, "b.md": HARBOUR})


async def open_tables(where: Location) -> ScopeTables:
    tables = await open_scope(where.store(), ANA)
    assert tables is not None
    return tables


async def read_health(where: Location) -> tuple[Health, Health]:
    tables = await open_tables(where)
    return await tables.current.read_health(), await tables.revisions.read_health()
