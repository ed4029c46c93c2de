"""A full disk at any write: the command fails with a sentence, and the same command again completes everything."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from knowledge.errors import KnowledgeError, StorageUnavailableError
from local_s3.moto_server import READING, S3Server
from publish_knowledge import maintenance
from publish_knowledge.doctor import examine
from publish_knowledge.maintenance import optimize_dataset
from publish_knowledge.publishing.lifecycle import archive_base, purge_scope
from publish_knowledge.store.database import Table
from tests.support.campaign import choose_trials
from tests.support.datasets import ANA, Location, item, put, run_in_store
from tests.support.publishing import read_health
from tests.support.reading import read_text
from tests.support.s3 import new_bucket

OLD = {f"{number}.md": f"# Tide {number}\n\nThe old tide {number}." for number in range(4)}
NEW = {path: f"{text} It has turned." for path, text in OLD.items()}
A_ID = item(ANA, "notes", "0.md")
STEP = choose_trials(13, 1)
"""Every thirteenth write is the first that fails in an ordinary run, every one in a campaign."""

Work = Callable[[Location], Awaitable[Any]]


async def publish_new(where: Location) -> None:
    await put(where, ANA, "notes", NEW)


async def archive_all(where: Location) -> None:
    await run_in_store(where, archive_base, ANA, "notes")


async def purge(where: Location) -> None:
    await run_in_store(where, purge_scope, ANA)


async def optimize(where: Location) -> None:
    await run_in_store(where, optimize_dataset, ANA)


def fill_disk_at(number: int, status: int) -> Callable[[str, str], int | None]:
    """Answer the n-th write and all after it with a status: the store has no room left."""
    left = number

    def hook(method: str, _path: str) -> int | None:
        nonlocal left
        if method in READING or method == "DELETE":
            return None
        left -= 1
        return status if left <= 0 else None

    return hook


async def fails_at(server: S3Server, where: Location, work: Work, number: int, status: int) -> bool:
    """Run a command while the n-th write and all later ones fail; false if it has fewer."""
    with server.hook_requests(fill_disk_at(number, status)):
        try:
            await work(where)
        except KnowledgeError:
            return True
    return False


@pytest.mark.parametrize("status", [507, 500])
@pytest.mark.parametrize("work", [publish_new, archive_all, optimize, purge])
def test_the_same_command_after_a_full_disk_completes_everything(
    s3_server: S3Server, monkeypatch: pytest.MonkeyPatch, work: Work, status: int
) -> None:
    # Every row counts, so that what waits for an index shows; but then nothing is left for `optimize` to do.
    if work is not optimize:
        monkeypatch.setattr(maintenance, "MAX_UNINDEXED", 0)

    async def story() -> None:
        for number in itertools.count(1, STEP):
            where = new_bucket(s3_server)
            await put(where, ANA, "notes", OLD)
            if not await fails_at(s3_server, where, work, number, status):
                break
            await work(where)
            assert await run_in_store(where, examine) == ()
            await assert_done(where, work)
        assert number > 1

    asyncio.run(story())


async def assert_done(where: Location, work: Work) -> None:
    texts: dict[Work, str] = {publish_new: NEW["0.md"], optimize: OLD["0.md"]}
    expected = texts.get(work)
    assert await read_text(where, ANA, A_ID) == expected
    if work is publish_new:
        assert [health.unindexed_rows for health in await read_health(where)] == [0, 0]


def test_rows_that_wait_for_an_index_are_indexed_by_a_publish_that_has_nothing_to_write(
    location: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_table: Table) -> None:
        raise StorageUnavailableError("No space left on device")

    async def story() -> None:
        monkeypatch.setattr(maintenance, "MAX_UNINDEXED", 0)
        with monkeypatch.context() as patch:
            patch.setattr(Table, "optimize", fail)
            with pytest.raises(StorageUnavailableError, match="No space left"):
                await put(location, ANA, "notes", OLD)
        assert max(health.unindexed_rows for health in await read_health(location)) > 0
        report = await put(location, ANA, "notes", OLD)
        assert report.count("unchanged") == len(OLD)
        assert [health.unindexed_rows for health in await read_health(location)] == [0, 0]
        assert await run_in_store(location, examine) == ()

    asyncio.run(story())
