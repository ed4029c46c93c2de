"""What the function reports to its operator: a log line for each call, a usage record for each unit, and metrics.

Records say what kind of call it was and how it ended, never what was asked, found or claimed. An exception's message is
left out too, because a library may quote a query or a filter in it.
"""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from aws_lambda_powertools import Logger

from knowledge.errors import DatasetMismatchError, InternalError, StorageUnavailableError
from search_knowledge.metrics import Metrics

OK: Final = "ok"
"""The outcome of a call that was not an error; only these are units."""

BROKEN: Final = frozenset({StorageUnavailableError.code, DatasetMismatchError.code, InternalError.code})
"""Outcomes that the operator has to investigate."""

_KEY_DIGITS: Final = 16
"""Hex digits of a caller's key: enough to follow one caller through the log, too few to be an id elsewhere."""

_LONGEST_CLAIM: Final = 128
"""Longest client id or tier in a record: an issuer may let clients choose their names."""


@dataclass(slots=True)
class CallRecord:
    """What is known of one call; filled in while the call is answered.

    `caller` is its key, `client` and `tier` are claims. `shape` is `search`, `read` or empty if the call did not get
    that far; `mode` is empty for a read. `outcome` is `OK` or an error's code, `cause` the class of what made it fail.
    """

    request_id: str
    tool: str
    caller: str = ""
    client: str = ""
    tier: str = ""
    shape: str = ""
    mode: str = ""
    outcome: str = OK
    duration_ms: int = 0
    cause: str = ""


class CallLog:
    """Writes log lines, usage records and metrics; without `metrics`, as on a developer's machine, no metrics."""

    def __init__(self, logger: Logger, metrics: Metrics | None = None) -> None:
        self._logger = logger
        self._metrics = metrics
        self._cold = True

    def record_event(self) -> None:
        """Record an event; count a cold start for the first one."""
        if self._cold and self._metrics:
            self._metrics.cold_start()
        self._cold = False

    def record_call(self, record: CallRecord) -> None:
        """Write a line for a call, a second one if it is a unit, and the metrics."""
        self._logger.info("call", call=_call(record))
        if record.outcome == OK:
            self._logger.info("usage", usage=_usage(record))
        if self._metrics:
            _measure(self._metrics, record)

    def record_fault(self, error: BaseException, request_id: str) -> None:
        """Write where an exception came from: its classes and code lines, not its message; its remedy if it has one."""
        remedy = getattr(error, "remedy", "")
        fault = {"request_id": request_id, "exceptions": list(_chain(error))}
        self._logger.error("fault", fault=fault | ({"remedy": remedy} if remedy else {}))


def caller_key(owner_id: str) -> str:
    """A short digest that identifies a caller."""
    return hashlib.sha256(owner_id.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_DIGITS]


def cause_of(error: BaseException) -> str:
    """The class of the first exception in an error's chain of causes; empty if it has none."""
    causes = list(_causes(error))[1:]
    return _name(causes[-1]) if causes else ""


def _call(record: CallRecord) -> dict[str, object]:
    known = {
        "request_id": record.request_id,
        "caller": record.caller,
        "shape": record.shape,
        "mode": record.mode,
        "outcome": record.outcome,
        "duration_ms": record.duration_ms,
    }
    return known | ({"cause": record.cause} if record.cause else {})


def _usage(record: CallRecord) -> dict[str, object]:
    return {
        "request_id": record.request_id,
        "caller": record.caller,
        "client": record.client[:_LONGEST_CLAIM],
        "tier": record.tier[:_LONGEST_CLAIM],
        "tool": record.tool,
        "shape": record.shape,
        "mode": record.mode,
        "units": 1,
    }


def _measure(metrics: Metrics, record: CallRecord) -> None:
    metrics.call(record.shape, record.mode, record.duration_ms)
    if record.outcome != OK:
        metrics.error(record.outcome)
    if record.outcome in BROKEN:
        metrics.unavailable()


def _chain(error: BaseException) -> Iterator[dict[str, object]]:
    for one in _causes(error):
        stack = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(one.__traceback__)]
        yield {"type": _name(one), "stack": stack}


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _name(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}"
