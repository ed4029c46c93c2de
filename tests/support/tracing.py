"""A workaround for coverage on Python 3.11; it changes no behaviour.

There the storage library's result streams end so that the tracer gets more returns than calls. It then loses the
functions that wait for them, and reports the rest of their lines as not run. A query in a task of its own ends in no
function's frame.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from datetime import timedelta

import pyarrow as pa
import pytest
from lancedb.query import AsyncQueryBase

_to_arrow = AsyncQueryBase.to_arrow


async def _in_a_task(query: AsyncQueryBase, timeout: timedelta | None = None) -> pa.Table:  # noqa: ASYNC109 - as theirs
    return await asyncio.create_task(_to_arrow(query, timeout))


@pytest.fixture(autouse=True, scope="session")
def _whole_traces() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if sys.version_info < (3, 12) and sys.gettrace() is not None:
            patch.setattr(AsyncQueryBase, "to_arrow", _in_a_task)
        yield
