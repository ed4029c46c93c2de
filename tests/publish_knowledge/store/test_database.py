"""Write access to a place that is not as it should be."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from knowledge.errors import StorageUnavailableError
from local_s3.moto_server import S3Server
from publish_knowledge.doctor import examine
from publish_knowledge.publishing.catalog import list_items
from tests.support.datasets import ANA, Location, document, item, put, put_one, run_in_store
from tests.support.reading import read_text


@pytest.mark.slow
@pytest.mark.parametrize("place", ["dead port", "missing bucket"])
def test_a_store_that_is_not_there_is_reported(s3_server: S3Server, place: str) -> None:
    options = {**s3_server.options, "client_max_retries": "0"}
    if place == "dead port":
        where = Location("s3://bucket/data", {**options, "endpoint": "http://127.0.0.1:9"})
    else:
        where = Location("s3://no-such-bucket/data", options)
    for work in (put(where, ANA, "notes", {"a.md": "Text."}), run_in_store(where, list_items, ANA)):
        with pytest.raises(StorageUnavailableError):
            asyncio.run(work)


@pytest.mark.slow
def test_a_folder_that_is_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageUnavailableError, match="cannot be read or written"):
        asyncio.run(put(Location(str(tmp_path / "file")), ANA, "notes", {"a.md": "Text."}))


def test_many_first_publishers_of_one_dataset_all_succeed(location: Location) -> None:
    async def story() -> None:
        paths = [f"{number}.md" for number in range(4)]
        outcomes = await asyncio.gather(*(put_one(location, ANA, "notes", document(path, path)) for path in paths))
        assert [outcome.action for outcome in outcomes] == ["created"] * 4
        assert await run_in_store(location, examine) == ()
        for path in paths:
            assert await read_text(location, ANA, item(ANA, "notes", path)) == path

    asyncio.run(story())
