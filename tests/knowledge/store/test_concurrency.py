"""Reads side by side: nothing is left running, and failures keep their kind."""

from __future__ import annotations

import asyncio

import pytest

from knowledge.store.concurrency import ByteLimiter, gather_all, gather_pair

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def after(seconds: float, value: str) -> str:
    await asyncio.sleep(seconds)
    return value


async def failing(seconds: float) -> str:
    await asyncio.sleep(seconds)
    raise LookupError("broken")


async def test_results_come_in_the_order_of_the_work() -> None:
    assert await gather_all([after(0.02, "slow"), after(0, "fast")]) == ["slow", "fast"]
    assert await gather_pair(after(0, "a"), after(0, "b")) == ("a", "b")
    assert await gather_all([]) == []


async def test_the_first_failure_cancels_the_rest_and_keeps_its_kind() -> None:
    slow = asyncio.ensure_future(after(30, "never"))

    async def waiting() -> str:
        return await slow

    with pytest.raises(LookupError, match="broken"):
        await gather_all([waiting(), both_failing()])
    assert slow.cancelled()


async def both_failing() -> str:
    await gather_pair(failing(0.01), after(30, "never"))
    return "never"


async def test_a_timeout_after_a_failure_is_still_a_timeout() -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(failing_then_waiting(), 0.05)


async def failing_then_waiting() -> None:
    with pytest.raises(LookupError):
        await gather_all([both_failing(), after(30, "never")])
    await asyncio.sleep(30)


async def test_cancelling_the_caller_cancels_the_parts() -> None:
    part = asyncio.ensure_future(after(30, "never"))

    async def waiting() -> str:
        return await part

    whole = asyncio.ensure_future(gather_all([waiting()]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    whole.cancel()
    with pytest.raises(asyncio.CancelledError):
        await whole
    assert part.cancelled()


async def test_work_waits_until_its_bytes_are_free_in_the_order_in_which_it_came() -> None:
    limiter, held, most, order = ByteLimiter(10), 0, 0, list[int]()

    async def work(size: int) -> None:
        nonlocal held, most
        async with limiter.reserve(size):
            order.append(size)
            held += min(size, 10)
            most = max(most, held)
            await asyncio.sleep(0.001)
            held -= min(size, 10)

    await gather_all(work(size) for size in (4, 6, 99, 1, 2, 3))
    assert (most, held) == (10, 0)
    assert order == [4, 6, 99, 1, 2, 3]


@pytest.mark.parametrize("pauses", range(4))
async def test_work_that_is_cancelled_or_fails_gives_its_bytes_back(pauses: int) -> None:
    limiter = ByteLimiter(10)

    async def work(seconds: float) -> None:
        async with limiter.reserve(10):
            await failing(seconds)

    tasks = [asyncio.ensure_future(work(0)), *(asyncio.ensure_future(work(60)) for _ in range(3))]
    for _ in range(pauses):
        await asyncio.sleep(0)
    await asyncio.sleep(0.001 * pauses)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    async with asyncio.timeout(1), limiter.reserve(10):
        pass
