"""All that the reading side takes from LanceDB; no other module here imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import lancedb
from lancedb.expr import Expr, col, lit
from lancedb.query import MatchQuery

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lancedb import AsyncConnection, AsyncTable
else:
    AsyncConnection = AsyncTable = Any

__all__ = ["AsyncConnection", "AsyncTable", "Expr", "any_term", "col", "connect", "lit"]

INDEX_CACHE_BYTES: Final = 256 * 1024 * 1024
METADATA_CACHE_BYTES: Final = 64 * 1024 * 1024
"""Bounds of the caches that all tables of a connection share; without them memory grows with every index read."""


def any_term(terms: str, column: str) -> MatchQuery:
    """Match rows with any of the blank-separated terms; unlike a plain string, never parsed for quotes or operators."""
    return MatchQuery(terms, column=column)  # type: ignore[call-arg]  # defaults of a pydantic dataclass, unseen by mypy


async def connect(uri: str, storage_options: Mapping[str, str]) -> AsyncConnection:
    """Connect with bounded caches. Handles opened from it stay at their version until opened again."""
    session = lancedb.Session(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES)
    return await lancedb.connect_async(uri, storage_options=dict(storage_options), session=session)
