"""Killed publishers: nothing is half-published after any write, and running the command again completes it."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest

from knowledge.errors import StorageUnavailableError
from local_s3.moto_server import S3Server
from publish_knowledge.doctor import examine
from publish_knowledge.store.scope_tables import open_scope
from tests.support.campaign import choose_trials
from tests.support.datasets import ANA, Location, embedding, item, put
from tests.support.kills import DISK_BASE, kill_at_call, kill_at_write, make_task
from tests.support.reading import find_items, open_service, read_revision
from tests.support.s3 import new_bucket

OLD = {"a.md": "# Old\n\n" + "The old lighthouse. " * 100, "b.md": "The old pier."}
NEW = {"a.md": "# New\n\n" + "The new lighthouse shines. " * 150, "b.md": "The new pier."}
FIRST_WRITES = 33
"""The first publish of these texts makes 32 writes."""
STEP = choose_trials(5, 1)
"""Every fifth write is enough to meet each kind of them; a campaign kills before every one."""
DRAFT = {"a.md": "A draft nobody may read.", "c.md": "A draft of a new item."}


async def read_texts(where: Location) -> dict[str, str]:
    """The text that a reader gets of each file."""
    async with open_service(where) as service:
        answers = {
            path: await read_revision(service, ANA, item(ANA, DISK_BASE, path)) for path in ("a.md", "b.md", "c.md")
        }
    return {path: answer.content for path, answer in answers.items() if answer is not None}


async def assert_sound(where: Location, texts: dict[str, str]) -> None:
    """Everything is published once, and nothing is left over."""
    assert await read_texts(where) == texts
    async with where.store() as store:
        assert await examine(store) == ()
        tables = await open_scope(store, ANA)
        assert tables is not None
        assert await tables.current.count_rows({"kind": "head"}) == len(texts)
        assert await tables.current.count_rows({"kind": "history"}) == len(await tables.list_history(None))
        assert len(await tables.read_archive_ranges()) == len(await tables.list_history(None))


async def assert_each_old_or_new(where: Location, before: dict[str, str], after: dict[str, str]) -> None:
    """After a kill a reader gets each text either old or new, never a mixture and never an error."""
    seen = await read_texts(where)
    for path in before.keys() | after.keys():
        assert seen.get(path) in {before.get(path), after.get(path)}
    items = {item(ANA, DISK_BASE, path) for path in seen}
    assert {hit for hit, _ in await find_items(where, ANA, "lighthouse pier")} <= items


@pytest.fixture(autouse=True)
def _embed_all(tmp_path: Path) -> None:
    """Embed everything once in this process, so that the killed ones need no model."""

    async def embed() -> None:
        for texts in (OLD, NEW, DRAFT):
            await put(Location(str(tmp_path / "learning")), ANA, "learning", texts)

    if not embedding().known:
        asyncio.run(embed())


def test_a_first_publish_killed_before_any_write_is_completed_by_the_next(s3_server: S3Server) -> None:
    for number in range(3, FIRST_WRITES, STEP):
        where = new_bucket(s3_server)
        assert kill_at_write(s3_server, make_task(where, NEW), number)
        asyncio.run(assert_completed(where, {}, NEW))


def test_before_the_first_publish_has_written_its_marker_nothing_is_served(s3_server: S3Server) -> None:
    where = new_bucket(s3_server)
    assert kill_at_write(s3_server, make_task(where, NEW), 1)
    with pytest.raises(StorageUnavailableError):
        asyncio.run(read_texts(where))


def test_a_publish_over_old_texts_killed_before_any_write_is_completed_by_the_next(s3_server: S3Server) -> None:
    for number in itertools.count(1):
        where = new_bucket(s3_server)
        asyncio.run(publish_old(where))
        if not kill_at_write(s3_server, make_task(where, NEW), number):
            break
        asyncio.run(assert_completed(where, OLD, NEW))
    assert number > 5


def test_a_draft_killed_before_any_write_never_shows(s3_server: S3Server) -> None:
    for number in itertools.count(1):
        where = new_bucket(s3_server)
        asyncio.run(publish_old(where))
        if not kill_at_write(s3_server, make_task(where, DRAFT, draft=True), number):
            break
        asyncio.run(assert_completed(where, OLD, OLD, draft=DRAFT))
    assert number > 3


def test_a_publish_on_disk_killed_before_any_call_of_the_library_is_completed_by_the_next(tmp_path: Path) -> None:
    for number in itertools.count(1):
        where = Location(str(tmp_path / str(number)))
        asyncio.run(publish_old(where))
        if not kill_at_call(make_task(where, NEW), number):
            break
        asyncio.run(assert_completed(where, OLD, NEW))
    assert number > 5


async def publish_old(where: Location) -> None:
    await put(where, ANA, DISK_BASE, OLD)


async def assert_completed(
    where: Location, before: dict[str, str], after: dict[str, str], draft: dict[str, str] | None = None
) -> None:
    """Read as a reader does, run the same command again, and check everything."""
    await assert_each_old_or_new(where, before, after)
    await put(where, ANA, DISK_BASE, draft or after, draft=draft is not None)
    if draft:
        assert await read_texts(where) == after
    else:
        await assert_sound(where, after)
