"""Running reads side by side without leaving any behind."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable

T = TypeVar("T")
U = TypeVar("U")


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all, in order of results; the first failure cancels the rest and is raised as itself, not as a group."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(part) for part in work]
    except BaseExceptionGroup as failures:
        raise _first(failures) from None
    return [task.result() for task in tasks]


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    failure: BaseException = failures
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure


async def both(first: Coroutine[Any, Any, T], second: Coroutine[Any, Any, U]) -> tuple[T, U]:
    """Two of different types side by side, failing as `together` does."""
    results: list[Any] = await together([first, second])
    return results[0], results[1]
