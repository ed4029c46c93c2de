"""What the function counts: EMF lines in its log, which CloudWatch turns into metrics.

Every metric has the dimension `service`; the finer ones are named with each. No dimension is an id: one with
many values would cost more than the function.
"""

from __future__ import annotations

from typing import Final

from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

CALLS: Final = "Calls"
LATENCY: Final = "Latency"
"""Calls, and their milliseconds in the tool; also by `shape` and `mode`."""
ERRORS: Final = "Errors"
"""Calls answered with an error; only by `code`."""
UNAVAILABLE: Final = "CallsUnavailable"
"""Calls that failed through no fault of the caller's, nor of an operator who has switched the tool off."""
COLD_START: Final = "ColdStart"
"""First events of an environment, new or restored."""

NONE: Final = "none"
"""The value for a call without shape or mode: a dimension must not be empty."""


class Metrics:
    """Writes to standard output, one line for each thing counted."""

    def __init__(self, namespace: str, service: str) -> None:
        self._namespace = namespace
        self._service = service

    def call(self, shape: str, mode: str, duration_ms: int) -> None:
        """Count a call and its duration."""
        metrics = self._line()
        metrics.add_dimensions(service=self._service, shape=shape or NONE, mode=mode or NONE)
        metrics.add_metric(CALLS, MetricUnit.Count, 1)
        metrics.add_metric(LATENCY, MetricUnit.Milliseconds, duration_ms)
        metrics.flush_metrics()

    def error(self, code: str) -> None:
        """Count an error of a call."""
        metrics = self._line()
        metrics.add_dimension("code", code)
        metrics.add_metric(ERRORS, MetricUnit.Count, 1)
        metrics.flush_metrics()

    def unavailable(self) -> None:
        """Count a call that failed for no fault of the caller."""
        self._count(UNAVAILABLE)

    def cold_start(self) -> None:
        """Count an environment's first event."""
        self._count(COLD_START)

    def _count(self, name: str) -> None:
        metrics = self._line()
        metrics.add_metric(name, MetricUnit.Count, 1)
        metrics.flush_metrics()

    def _line(self) -> EphemeralMetrics:
        # Not `Metrics`, whose state all instances share: two handlers in one process would mix theirs.
        return EphemeralMetrics(namespace=self._namespace, service=self._service)
