"""Run several reads in parallel, within a limit of memory, and leave none running."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class ByteLimiter:
    """Lets work in parallel hold at most so many bytes together; more than that in one piece of work runs alone."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def reserve(self, size: int) -> AsyncIterator[None]:
        """Wait in line until `size` bytes are free, and hold them during the block."""
        size = min(size, self._limit)
        if self._waiting or self._held + size > self._limit:
            await self._wait(size)
        else:
            self._held += size
        try:
            yield
        finally:
            self._held -= size
            self._start_waiting()

    async def _wait(self, size: int) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # Started, and cancelled before it went on.
                self._held -= size
            self._waiting = deque(one for one in self._waiting if one[1] is not turn)
            self._start_waiting()
            raise

    def _start_waiting(self) -> None:
        while self._waiting and self._held + self._waiting[0][0] <= self._limit:
            size, turn = self._waiting.popleft()
            if not turn.done():
                self._held += size
                turn.set_result(None)


async def gather_all(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all and return results in order; the first failure cancels the rest and is raised itself, not in a group.

    Not `asyncio.TaskGroup`: before Python 3.13 it leaves the caller marked as being cancelled when a task fails, and a
    timeout around it then ends in a cancellation instead of a `TimeoutError`.
    """
    tasks = [asyncio.ensure_future(part) for part in work]
    if not tasks:
        return []
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        await _end_all(tasks)
    _raise_first(task for task in tasks if task in done)
    return [task.result() for task in tasks]


async def gather_pair(first: Coroutine[Any, Any, T], second: Coroutine[Any, Any, U]) -> tuple[T, U]:
    """Run two of different types; fails as `gather_all` does."""
    results: list[Any] = await gather_all([first, second])
    return results[0], results[1]


async def _end_all(tasks: list[asyncio.Task[T]]) -> None:
    for task in tasks:
        task.cancel()
    # Those that are done as well: if the caller was cancelled, nobody else retrieves their exceptions.
    await asyncio.gather(*tasks, return_exceptions=True)


def _raise_first(tasks: Iterable[asyncio.Task[T]]) -> None:
    failures = [failure for task in tasks if (failure := task.exception()) is not None]
    if failures:
        raise failures[0]
