"""Calls of the storage library: its exceptions mapped, and retried where another writer was quicker."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import stamina

from knowledge.errors import StorageUnavailableError
from knowledge.store.faults import storage_faults

T = TypeVar("T")

ATTEMPTS: Final = 12
"""Tries of one write before it is given up: 16 publishers on one table need about 8."""

FIRST_WAIT: Final = 0.02
MAX_WAIT: Final = 1.3
MAX_JITTER: Final = 0.2
"""Seconds between tries: doubled each time from the first, and spread at random, so that writers do not meet again."""

_CONFLICT: Final = re.compile(r"conflict|concurrent|already exists|preempted", re.IGNORECASE)


class ConflictError(Exception):
    """Another writer was quicker; the same write may succeed on the version it left."""


def disable_retry_logging() -> None:
    """Keep retries silent in this process: by default stamina logs each as a warning, or prints it with structlog."""
    stamina.instrumentation.set_on_retry_hooks(())


class RetryingCaller:
    """Runs calls of the library for one dataset. Every call must be safe to repeat."""

    def __init__(self, uri: str) -> None:
        self.uri = uri

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Raises `MissingTableError` and `StorageUnavailableError` only."""
        retrying = stamina.AsyncRetryingCaller(
            attempts=ATTEMPTS, timeout=None, wait_initial=FIRST_WAIT, wait_max=MAX_WAIT, wait_jitter=MAX_JITTER
        )
        try:
            return await retrying(ConflictError, self._run_once, call)
        except ConflictError as error:
            msg = f"Other writers kept changing {self.uri} meanwhile. Run the same command again when they are done."
            raise StorageUnavailableError(msg) from error

    async def _run_once(self, call: Callable[[], Awaitable[T]]) -> T:
        try:
            with storage_faults():
                return await call()
        except StorageUnavailableError as error:
            if error.__cause__ is None:
                # Not the library's: it has a message of its own.
                raise
            if _CONFLICT.search(str(error.__cause__)):
                raise ConflictError from error.__cause__
            msg = (
                f"The dataset at {self.uri} cannot be read or written. Check the address, the credentials and the "
                "network, then run the same command again; what was committed is kept."
            )
            raise type(error)(msg) from error.__cause__
