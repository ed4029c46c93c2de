"""Kill publishers: real processes, ended with SIGKILL just before one of their writes.

On S3 the server kills the process when the n-th write arrives, so that every write of the storage library is tested. On
disk the process kills itself before its n-th call of the library.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Final, TypeVar

from knowledge.embedding.base import Vectors
from local_s3.moto_server import READING, S3Server
from publish_knowledge.store.retries import RetryingCaller
from tests.support.datasets import ANA, Location, embedding, put

T = TypeVar("T")

DISK_BASE: Final = "notes"
_JOIN_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Task:
    """What the process publishes: texts by path into ANA's `notes`, with vectors that are known already."""

    where: Location
    texts: Mapping[str, str]
    vectors: Mapping[str, Vectors]
    draft: bool = False


def make_task(where: Location, texts: Mapping[str, str], *, draft: bool = False) -> Task:
    """A task for a process; its texts must have been embedded in this process before."""
    return Task(where, texts, dict(embedding().known), draft)


def kill_at_write(server: S3Server, work: Task, number: int) -> bool:
    """Run a publisher and kill it before its n-th write reaches S3; false if it ended earlier."""
    process = _make_process(work, None)
    left = number

    def hook(method: str, _path: str) -> int | None:
        nonlocal left
        left -= method not in READING
        if left > 0 or method in READING:
            return None
        if process.pid is not None and process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
        return 503

    with server.hook_requests(hook):
        return _run_until_killed(process)


def kill_at_call(work: Task, number: int) -> bool:
    """Run a publisher that kills itself before its n-th call of the storage library; false if it ended earlier."""
    return _run_until_killed(_make_process(work, number))


def publish_and_die(work: Task, number: int | None) -> None:
    """Publish in the process, killing it before a call if a number is given."""
    embedding().known.update(work.vectors)
    if number is not None:
        _kill_before_call(number)
    asyncio.run(put(work.where, ANA, DISK_BASE, work.texts, draft=work.draft))


def _kill_before_call(number: int) -> None:
    original, calls = RetryingCaller.run, 0

    async def run(self: RetryingCaller, call: Callable[[], Awaitable[T]]) -> T:
        nonlocal calls
        calls += 1
        if calls == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return await original(self, call)

    RetryingCaller.run = run  # type: ignore[method-assign] # in a process that is about to end


def _make_process(work: Task, number: int | None) -> ForkServerProcess:
    return _forkserver().Process(target=publish_and_die, args=(work, number))


def _forkserver() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    # Imported once: a process then starts in milliseconds.
    context.set_forkserver_preload(["tests.support.kills"])
    return context


def _run_until_killed(process: ForkServerProcess) -> bool:
    process.start()
    process.join(_JOIN_SECONDS)
    assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
    return process.exitcode != 0
