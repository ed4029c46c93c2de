"""Calls of the storage library made safe: its exceptions mapped, and another try where another writer was quicker."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from knowledge.errors import StorageUnavailableError
from knowledge.store.faults import storage_faults

T = TypeVar("T")

ATTEMPTS: Final = 12
"""Tries of one write before it is given up: 16 publishers on one table need about 8."""

_FIRST_PAUSE: Final = 0.02
_MOST_DOUBLINGS: Final = 6
_CONFLICT: Final = re.compile(r"conflict|concurrent|already exists|preempted", re.IGNORECASE)


class ConflictError(Exception):
    """Another writer was quicker; the same write may succeed on the version it left."""


class Guard:
    """Runs calls of the library for one dataset. Every call must be safe to repeat."""

    def __init__(self, uri: str) -> None:
        self._uri = uri

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Raises `MissingTableError` and `StorageUnavailableError` only."""
        for attempt in range(ATTEMPTS):
            try:
                return await self._once(work)
            except ConflictError:
                await asyncio.sleep(_pause(attempt))
        msg = f"Other writers kept changing {self._uri} meanwhile. Run the same command again when they are done."
        raise StorageUnavailableError(msg)

    async def _once(self, work: Callable[[], Awaitable[T]]) -> T:
        try:
            with storage_faults():
                return await work()
        except StorageUnavailableError as error:
            if _CONFLICT.search(str(error.__cause__)):
                raise ConflictError from error.__cause__
            msg = (
                f"The dataset at {self._uri} cannot be read or written. Check the address, the credentials and the "
                "network, then run the same command again; what was committed is kept."
            )
            raise StorageUnavailableError(msg) from error.__cause__


def _pause(attempt: int) -> float:
    return random.uniform(0.0, _FIRST_PAUSE * 2.0 ** min(attempt, _MOST_DOUBLINGS))  # noqa: S311 - it spreads writers
