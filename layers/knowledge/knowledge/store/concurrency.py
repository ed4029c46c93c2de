"""Run several reads in parallel, and leave none running."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")
U = TypeVar("U")


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
        await _cancel_pending(tasks)
    _raise_first(task for task in tasks if task in done)
    return [task.result() for task in tasks]


async def gather_pair(first: Coroutine[Any, Any, T], second: Coroutine[Any, Any, U]) -> tuple[T, U]:
    """Run two of different types; fails as `gather_all` does."""
    results: list[Any] = await gather_all([first, second])
    return results[0], results[1]


async def _cancel_pending(tasks: list[asyncio.Task[T]]) -> None:
    pending = [task for task in tasks if not task.done()]
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)


def _raise_first(tasks: Iterable[asyncio.Task[T]]) -> None:
    failures = [failure for task in tasks if (failure := task.exception()) is not None]
    if failures:
        raise failures[0]
