"""Purges beside writers: whatever a writer does meanwhile, nothing of the scope is left when both have ended."""

from __future__ import annotations

import asyncio
import itertools
import random
import shutil
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import boto3
import pytest

from knowledge.errors import KnowledgeError, StorageUnavailableError
from knowledge.store.schema import MARKER_TABLE
from local_s3.connection import KEY, REGION
from local_s3.moto_server import READING, S3Server
from publish_knowledge.doctor import examine, repair
from publish_knowledge.maintenance import optimize_dataset
from publish_knowledge.publishing.lifecycle import archive_base, archive_item, purge_scope, restore_item
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.publishing.publish import publish
from publish_knowledge.store import commits, purges
from publish_knowledge.store.database import Store
from publish_knowledge.store.purges import PurgedError, PurgeGuard
from tests.support.campaign import choose_trials
from tests.support.datasets import ANA, BEN, Location, documents, embedder, item, put, run_in_store
from tests.support.reading import read_text
from tests.support.s3 import new_bucket

TEXTS: Final = {f"{number}.md": f"# Lighthouse {number}\n\nThe secret of lighthouse {number}." for number in range(8)}
NEW: Final = {path: f"{text} It shines again." for path, text in TEXTS.items()}
OTHER: Final = {"a.md": "Another owner's text."}
A_ID: Final = item(ANA, "notes", "0.md")
DISK_TRIALS, S3_TRIALS = choose_trials(6, 120), choose_trials(2, 80)
STEP: Final = choose_trials(11, 1)
"""Every eleventh write is held in an ordinary run, every one in a campaign."""
HOLD_SECONDS: Final = 20.0


@pytest.fixture(autouse=True)
def _small_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a publish of few texts many commits."""
    monkeypatch.setattr(commits, "COMMIT_ITEMS", 2)


def list_files(where: Location) -> list[str]:
    """Every file of the dataset but the marker's."""
    if where.options:
        bucket, _, prefix = where.uri.removeprefix("s3://").partition("/")
        client = boto3.client(
            "s3",
            endpoint_url=where.options["endpoint"],
            aws_access_key_id=KEY,
            aws_secret_access_key=KEY,
            region_name=REGION,
        )
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        names = [each["Key"] for page in pages for each in page.get("Contents", [])]
    else:
        names = [str(path) for path in Path(where.uri).rglob("*") if path.is_file()]
    return [name for name in names if f"/{MARKER_TABLE}.lance/" not in name]


async def assert_purged(where: Location) -> None:
    """No file is left, nothing is wrong, and what is published now is served."""
    assert list_files(where) == []
    assert await run_in_store(where, examine) == ()
    await put(where, ANA, "notes", NEW)
    assert await read_text(where, ANA, A_ID) == NEW["0.md"]
    assert await run_in_store(where, examine) == ()


async def publish_beside(where: Location, started: asyncio.Event) -> None:
    """Publish until a purge ends it; `started` is set as soon as the scope is open."""

    def on_progress(_stage: str, _done: int, _total: int) -> None:
        started.set()

    try:
        async with where.store() as store:
            given = documents(NEW)
            await publish(store, PublishOptions(ANA, "notes"), given, embedder=embedder(), on_progress=on_progress)
    except PurgedError:
        pass
    finally:
        started.set()


async def purge_beside_a_publisher(where: Location, delay: float) -> None:
    await put(where, ANA, "notes", TEXTS)
    started = asyncio.Event()
    writer = asyncio.create_task(publish_beside(where, started))
    await started.wait()
    await asyncio.sleep(delay)
    assert (await run_in_store(where, purge_scope, ANA)).changed
    await writer


def test_a_purge_beside_a_publisher_leaves_nothing(location: Location) -> None:
    async def story() -> None:
        delays = random.Random(7)
        for _ in range(S3_TRIALS if location.options else DISK_TRIALS):
            await purge_beside_a_publisher(location, delays.random() * 0.8)
            await assert_purged(location)
            await run_in_store(location, purge_scope, ANA)

    asyncio.run(story())


class HeldWrite:
    """Holds the n-th write of a writer on its way to S3 until it is let go."""

    def __init__(self, number: int) -> None:
        self.arrived = threading.Event()
        self.released = threading.Event()
        self._left = number

    def gate(self, method: str, path: str) -> None:
        if method in READING or MARKER_TABLE in path or self.arrived.is_set():
            return
        self._left -= 1
        if self._left == 0:
            self.arrived.set()
            self.released.wait(HOLD_SECONDS)


@contextmanager
def hold_write(server: S3Server, number: int) -> Iterator[HeldWrite]:
    held = HeldWrite(number)
    try:
        with server.hold_requests(held.gate):
            yield held
    finally:
        held.released.set()


Work = Callable[[Location], Awaitable[Any]]


def patient(where: Location) -> Location:
    """The same place, with a time-out that is longer than a write is held."""
    return replace(where, options={**where.options, "timeout": "60s"})


async def purge_while_a_write_is_held(server: S3Server, where: Location, work: Work, number: int) -> bool:
    """Purge while the n-th write of a writer is on its way; false if it has fewer. The writer has ended afterwards."""
    with hold_write(server, number) as held:
        writer = asyncio.create_task(_run_until_purged(work, patient(where)))
        arrival = asyncio.create_task(asyncio.to_thread(held.arrived.wait, HOLD_SECONDS))
        await asyncio.wait({arrival, writer}, return_when=asyncio.FIRST_COMPLETED)
        if not held.arrived.is_set():
            held.arrived.set()
            return False
        assert (await run_in_store(where, purge_scope, ANA)).changed
        held.released.set()
        await writer
    return True


async def _run_until_purged(work: Work, where: Location) -> None:
    try:
        await work(where)
    except (KnowledgeError, OSError):
        return


async def publish_new(where: Location) -> None:
    await put(where, ANA, "notes", NEW)


async def publish_drafts(where: Location) -> None:
    await put(where, ANA, "notes", NEW, draft=True)


async def archive_one(where: Location) -> None:
    await run_in_store(where, archive_item, ANA, A_ID)
    await run_in_store(where, restore_item, ANA, A_ID)


async def archive_all(where: Location) -> None:
    await run_in_store(where, archive_base, ANA, "notes")


async def optimize(where: Location) -> None:
    await run_in_store(where, optimize_dataset, ANA)


@pytest.mark.parametrize("work", [publish_new, publish_drafts, archive_one, archive_all, optimize])
def test_a_write_that_lands_after_the_purge_is_removed_by_its_writer(s3_server: S3Server, work: Work) -> None:
    async def story() -> None:
        for number in itertools.count(1, STEP):
            where = new_bucket(s3_server)
            await put(where, ANA, "notes", TEXTS)
            if not await purge_while_a_write_is_held(s3_server, where, work, number):
                break
            await assert_purged(where)
        assert number > 1

    asyncio.run(story())


def test_without_the_check_after_a_write_the_text_would_stay(
    s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def blind(_guard: PurgeGuard) -> bool:
        return False

    async def story() -> None:
        where = new_bucket(s3_server)
        await put(where, ANA, "notes", TEXTS)
        with monkeypatch.context() as patch:
            patch.setattr(PurgeGuard, "_is_purged", blind)
            assert await purge_while_a_write_is_held(s3_server, where, publish_new, 1)
        assert list_files(where) != []

    asyncio.run(story())


def keep_parts(where: Location, kept: Path, pattern: str) -> None:
    """Put files of a removed table back, as a write that was killed on its way leaves some."""
    for file in sorted(kept.rglob(pattern)):
        target = Path(where.uri) / file.relative_to(kept)
        if file.is_file() and MARKER_TABLE not in str(file):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)


async def assert_repair_mends(where: Location) -> None:
    assert {finding.code for finding in await run_in_store(where, examine)} == {"unfinished-purge"}
    assert await run_in_store(where, repair) == ()


async def purge_once_more(where: Location) -> None:
    await run_in_store(where, purge_scope, ANA)


async def assert_publishing_mends(where: Location) -> None:
    await put(where, ANA, "notes", {"new.md": "Something else."})
    assert not [name for name in list_files(where) if "lighthouse" in name]
    await run_in_store(where, purge_scope, ANA)


@pytest.mark.parametrize("mend", [assert_repair_mends, purge_once_more, assert_publishing_mends])
@pytest.mark.parametrize("pattern", ["*.manifest", "data/*", "*"])
def test_what_a_killed_writer_left_of_a_purged_scope_is_removed(
    folder: Location, tmp_path: Path, pattern: str, mend: Work
) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", TEXTS)
        await put(folder, BEN, "notes", OTHER)
        kept = tmp_path / "kept"
        shutil.copytree(folder.uri, kept, ignore=lambda _, names: [each for each in names if BEN.current_table in each])
        await run_in_store(folder, purge_scope, ANA)
        keep_parts(folder, kept, pattern)
        assert await read_text(folder, BEN, item(BEN, "notes", "a.md")) == OTHER["a.md"]
        await mend(folder)
        assert not [name for name in list_files(folder) if ANA.current_table in name or ANA.revisions_table in name]
        await put(folder, ANA, "notes", NEW)
        assert await read_text(folder, ANA, A_ID) == NEW["0.md"]
        assert await run_in_store(folder, examine) == ()

    asyncio.run(story())


@pytest.mark.parametrize("mend", [assert_repair_mends, purge_once_more])
@pytest.mark.parametrize("dropped", [0, 1])
def test_a_purge_that_stopped_halfway_keeps_publishers_out_until_it_is_completed(
    location: Location, monkeypatch: pytest.MonkeyPatch, dropped: int, mend: Work
) -> None:
    async def stop_after_some_drops(store: Store) -> None:
        left = dropped
        drop = store.drop_table

        async def drop_or_stop(name: str) -> None:
            nonlocal left
            if not left:
                raise InterruptedError
            left -= 1
            await drop(name)

        monkeypatch.setattr(store, "drop_table", drop_or_stop)
        with pytest.raises(InterruptedError):
            await purge_scope(store, ANA)

    async def story() -> None:
        await put(location, ANA, "notes", TEXTS)
        monkeypatch.setattr(purges, "WAIT", 0.4)
        await run_in_store(location, stop_after_some_drops)
        with pytest.raises(StorageUnavailableError, match="Run `knowledge purge` for it again"):
            await put(location, ANA, "notes", NEW)
        await mend(location)
        await assert_purged(location)

    asyncio.run(story())


def test_purges_at_once_beside_a_publisher_leave_nothing(location: Location) -> None:
    async def story() -> None:
        for _ in range(choose_trials(1, 20)):
            await put(location, ANA, "notes", TEXTS)
            started = asyncio.Event()
            writer = asyncio.create_task(publish_beside(location, started))
            await started.wait()
            await asyncio.gather(*(run_in_store(location, purge_scope, ANA) for _ in range(3)))
            await writer
            await assert_purged(location)
            await run_in_store(location, purge_scope, ANA)

    asyncio.run(story())


def test_many_purges_do_not_fill_the_marker(folder: Location) -> None:
    async def story() -> None:
        for _ in range(12):
            await put(folder, ANA, "notes", OTHER)
            await run_in_store(folder, purge_scope, ANA)
        async with folder.store() as store:
            table = await store.open_table(MARKER_TABLE)
            assert table is not None
            assert len(await table.read_column("key")) == 2
            assert (await table.read_health()).fragments <= purges.MAX_FRAGMENTS + 2

    asyncio.run(story())
