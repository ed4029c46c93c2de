"""Outages while publishing: each is a clear error, and nothing is lost or left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from knowledge.errors import StorageUnavailableError
from local_s3.moto_server import S3Server
from publish_knowledge.doctor import examine
from publish_knowledge.maintenance import optimize_dataset
from tests.support.datasets import ANA, Location, embedder, item, put, run_in_store
from tests.support.reading import read_text

Outage = Callable[[S3Server], AbstractContextManager[None]]


OUTAGES: dict[str, Outage] = {
    "forbidden": lambda server: server.answer_with(403),
    "overloaded": lambda server: server.answer_with(503),
    "cut": lambda server: server.cut_connections(),
}


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_is_reported_with_its_remedy_and_the_same_command_completes_it_later(
    s3_server: S3Server, bucket: Location, outage: str
) -> None:
    async def story() -> None:
        await put(bucket, ANA, "notes", {"a.md": "Before."})
        with OUTAGES[outage](s3_server), pytest.raises(StorageUnavailableError, match="run the same command again"):
            await put(bucket, ANA, "notes", {"a.md": "After."})
        assert await read_text(bucket, ANA, item(ANA, "notes", "a.md")) == "Before."
        await put(bucket, ANA, "notes", {"a.md": "After."})
        assert await read_text(bucket, ANA, item(ANA, "notes", "a.md")) == "After."

    asyncio.run(story())


def test_many_publishers_and_optimizers_on_one_scope_all_succeed(folder: Location) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"a.md": "Text."})
        work = [put(folder, ANA, "notes", {f"{number}.md": f"Text {number}."}) for number in range(8)]
        await asyncio.gather(*work, *(run_in_store(folder, optimize_dataset) for _ in range(3)))
        assert await run_in_store(folder, examine) == ()
        for number in range(8):
            assert await read_text(folder, ANA, item(ANA, "notes", f"{number}.md")) == f"Text {number}."

    asyncio.run(story())


def test_the_embedder_of_the_tests_is_the_real_one() -> None:
    near, far = embedder().embed(["The ship sailed.", "O navio partiu."])
    assert float(near @ far) > 0.5
