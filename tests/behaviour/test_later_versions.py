"""A process that knows a scope sees what was committed since, even by a publisher killed between two writes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest

from knowledge.service import KnowledgeService
from local_s3.moto_server import S3Server
from publish_knowledge.publishing.lifecycle import purge_scope
from tests.support.campaign import choose_trials
from tests.support.datasets import ANA, BEN, Location, embedding, item, put, run_in_store
from tests.support.kills import DISK_BASE, kill_at_write, make_task
from tests.support.reading import open_service, read_revision
from tests.support.s3 import new_bucket

TEXTS: Final = {"a.md": "# New\n\n" + "The new lighthouse shines. " * 150, "b.md": "The new pier."}
STEP: Final = choose_trials(5, 1)


@pytest.fixture(autouse=True)
def _ask_at_every_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for later versions at every call, and embed all texts once in this process."""
    monkeypatch.setattr("knowledge.store.table_handles.REFRESH_SECONDS", 0.0)
    asyncio.run(put(Location(str(tmp_path / "learning")), ANA, "learning", TEXTS))


async def read_texts(service: KnowledgeService) -> dict[str, str]:
    answers = {path: await read_revision(service, ANA, item(ANA, DISK_BASE, path)) for path in TEXTS}
    return {path: answer.content for path, answer in answers.items() if answer is not None}


def kill_beside_reader(server: S3Server, where: Location, number: int) -> bool:
    """Kill a publisher at a write, beside a process that has known the scope before; compare it with a new process."""

    async def read() -> bool:
        async with open_service(where) as known:
            for _ in range(3):
                await read_texts(known)
            killed = await asyncio.to_thread(kill_at_write, server, make_task(where, TEXTS), number)
            async with open_service(where) as new:
                assert await read_texts(known) == await read_texts(new), number
            await put(where, ANA, DISK_BASE, TEXTS)
            assert await read_texts(known) == TEXTS, number
            return killed

    return asyncio.run(read())


def test_a_scope_created_by_a_publisher_that_was_killed_is_seen_as_far_as_it_was_committed(
    s3_server: S3Server,
) -> None:
    number = 1
    while True:
        where = new_bucket(s3_server)
        asyncio.run(put(where, BEN, "notes", {"a.md": "Another owner's."}))
        if not kill_beside_reader(s3_server, where, number):
            break
        number += STEP
    assert number > 20


def test_a_scope_that_was_purged_and_published_again_is_seen_whatever_its_versions(s3_server: S3Server) -> None:
    where = new_bucket(s3_server)

    async def compare() -> None:
        for number in range(6):
            await put(where, ANA, DISK_BASE, {"a.md": f"Text {number}."})
        async with open_service(where) as known:
            for _ in range(3):
                assert await read_texts(known) == {"a.md": "Text 5."}
            await run_in_store(where, purge_scope, ANA)
            assert await read_texts(known) == {}
            await put(where, ANA, DISK_BASE, TEXTS)
            assert await read_texts(known) == TEXTS

    asyncio.run(compare())


def test_many_scopes_created_at_once_are_all_announced(s3_server: S3Server) -> None:
    where = new_bucket(s3_server)
    embedding()

    async def compare() -> None:
        await put(where, BEN, "notes", {"a.md": "Another owner's."})
        async with open_service(where) as known:
            for _ in range(3):
                assert await read_texts(known) == {}
            others = [type(ANA)("team", f"team{number}") for number in range(choose_trials(5, 40))]
            await asyncio.gather(*(put(where, one, DISK_BASE, TEXTS) for one in (*others, ANA)))
            assert await read_texts(known) == TEXTS

    asyncio.run(compare())
