"""One log line for each call of the tool.

It says what kind of call it was and how it went, never what was asked, found or claimed. Even the text of an exception
stays out: a lower library may quote a query or a filter in it.
"""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

from aws_lambda_powertools import Logger

_KEY_DIGITS: Final = 16
"""Hex digits of a caller's key: enough to follow one caller through the log, too few to be an id elsewhere."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """What the log says of one call. `shape` is `search`, `read` or empty if the call did not get so far."""

    request_id: str
    caller: str
    shape: str
    mode: str
    outcome: str
    duration_ms: int


class Journal:
    """Writes call records and unforeseen faults."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger

    def call(self, record: CallRecord) -> None:
        """One line for one call."""
        self._logger.info("call", call=asdict(record))

    def fault(self, error: BaseException, request_id: str) -> None:
        """Where an unforeseen exception came from: its classes and the lines it passed, not its words."""
        self._logger.error("fault", fault={"request_id": request_id, "exceptions": list(_chain(error))})


def caller_key(owner_id: str) -> str:
    """A short digest that stands for a caller."""
    return hashlib.sha256(owner_id.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_DIGITS]


def _chain(error: BaseException | None) -> Iterator[dict[str, object]]:
    while error is not None:
        stack = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
        yield {"type": f"{type(error).__module__}.{type(error).__qualname__}", "stack": stack}
        error = error.__cause__ or error.__context__
