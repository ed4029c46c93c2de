"""Writes that another writer was quicker than."""

from __future__ import annotations

import asyncio

import pytest

from knowledge.errors import StorageUnavailableError
from publish_knowledge.store.retries import ATTEMPTS, RetryingCaller


def test_writers_that_never_let_go_are_reported_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("publish_knowledge.store.retries.FIRST_WAIT", 0.0)
    tries = 0

    async def loses() -> None:
        nonlocal tries
        tries += 1
        raise RuntimeError("lance error: Retryable commit conflict for version 7")

    with pytest.raises(StorageUnavailableError, match="Other writers kept changing"):
        asyncio.run(RetryingCaller("/somewhere").run(loses))
    assert tries == ATTEMPTS
