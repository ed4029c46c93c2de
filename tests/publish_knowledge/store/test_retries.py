"""Writes that conflict with another writer's: repeated, reported, and not logged."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import pytest
import stamina

from knowledge.errors import StorageUnavailableError
from knowledge.store.faults import MissingTableError
from publish_knowledge.store import retries
from publish_knowledge.store.retries import ATTEMPTS, RetryingCaller, disable_retry_logging

CONFLICT = "lance error: Retryable commit conflict for version 7"


class Write:
    """A write that raises one error after the other, then succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = errors
        self.tries = 0

    async def __call__(self) -> str:
        self.tries += 1
        if self.tries <= len(self.errors):
            raise self.errors[self.tries - 1]
        return "written"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(retries, "FIRST_WAIT", 0.0)
    monkeypatch.setattr(retries, "MAX_JITTER", 0.001)
    monkeypatch.setattr(retries, "MAX_WAIT", 0.001)
    stamina.instrumentation.set_on_retry_hooks(None)
    yield
    stamina.instrumentation.set_on_retry_hooks(None)


def run(write: Write) -> str:
    return asyncio.run(RetryingCaller("/somewhere").run(write))


@pytest.mark.parametrize(
    "text",
    [
        CONFLICT,
        "This CreateIndex transaction was preempted by concurrent transaction Rewrite",
        "Table 'a' already exists",
        "Concurrent modification",
    ],
)
def test_a_write_that_conflicts_is_repeated(text: str) -> None:
    write = Write(RuntimeError(text), OSError(text))
    assert run(write) == "written"
    assert write.tries == 3


def test_conflicts_without_end_are_reported_after_the_last_attempt() -> None:
    write = Write(*[RuntimeError(CONFLICT)] * ATTEMPTS)
    with pytest.raises(StorageUnavailableError, match="Other writers kept changing /somewhere meanwhile"):
        run(write)
    assert write.tries == ATTEMPTS


def test_an_outage_is_reported_at_once_with_its_cause() -> None:
    write = Write(OSError("connection refused"))
    with pytest.raises(StorageUnavailableError, match="/somewhere cannot be read or written") as raised:
        run(write)
    assert write.tries == 1
    assert raised.value.__cause__ is write.errors[0]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("Table 'items' was not found"), MissingTableError),
        (TypeError("conflict"), TypeError),
        (KeyError("conflict"), KeyError),
    ],
)
def test_a_missing_table_and_a_programming_error_pass_through(error: Exception, expected: type[Exception]) -> None:
    write = Write(error)
    with pytest.raises(expected):
        run(write)
    assert write.tries == 1


@pytest.mark.parametrize(("silent", "logged"), [(False, ["stamina.retry_scheduled"]), (True, [])])
def test_retries_are_logged_unless_that_is_disabled(
    caplog: pytest.LogCaptureFixture, *, silent: bool, logged: list[str]
) -> None:
    if silent:
        disable_retry_logging()
    with caplog.at_level(logging.DEBUG, logger="stamina"):
        assert run(Write(RuntimeError(CONFLICT))) == "written"
    assert [record.message for record in caplog.records if record.name == "stamina"] == logged
