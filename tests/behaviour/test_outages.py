"""Places that cannot be written or must not be: each is a clear error, and nothing is lost or left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pyarrow as pa
import pytest

from knowledge.errors import DatasetMismatchError, StorageUnavailableError
from knowledge.store.schema import MARKER_TABLE
from publish_knowledge.doctor import examine
from publish_knowledge.maintenance import optimize_dataset
from publish_knowledge.publishing.catalog import list_items
from publish_knowledge.store.database import Store
from publish_knowledge.store.marker import ensure_dataset, require_dataset
from publish_knowledge.store.retries import ATTEMPTS, RetryingCaller
from publish_knowledge.store.scope_tables import ensure_scope, open_scope
from tests.support.datasets import ANA, BEN, Location, document, embedder, embedding, item, put, put_one, within
from tests.support.readers import text_of
from tests.support.s3 import S3Server

Outage = Callable[[S3Server], AbstractContextManager[None]]
OUTAGES: dict[str, Outage] = {
    "forbidden": lambda server: server.answering(403),
    "overloaded": lambda server: server.answering(503),
    "cut": lambda server: server.cutting(),
}


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_is_told_with_what_to_do_and_the_same_command_completes_it_later(
    s3_server: S3Server, bucket: Location, outage: str
) -> None:
    async def story() -> None:
        await put(bucket, ANA, "notes", {"a.md": "Before."})
        with OUTAGES[outage](s3_server), pytest.raises(StorageUnavailableError, match="run the same command again"):
            await put(bucket, ANA, "notes", {"a.md": "After."})
        assert await text_of(bucket, ANA, item(ANA, "notes", "a.md")) == "Before."
        await put(bucket, ANA, "notes", {"a.md": "After."})
        assert await text_of(bucket, ANA, item(ANA, "notes", "a.md")) == "After."

    asyncio.run(story())


@pytest.mark.parametrize("place", ["dead port", "missing bucket"])
def test_a_store_that_is_not_there_is_told(s3_server: S3Server, place: str) -> None:
    options = {**s3_server.options, "client_max_retries": "0"}
    if place == "dead port":
        where = Location("s3://bucket/data", {**options, "endpoint": "http://127.0.0.1:9"})
    else:
        where = Location("s3://no-such-bucket/data", options)
    for work in (put(where, ANA, "notes", {"a.md": "Text."}), within(where, list_items, ANA)):
        with pytest.raises(StorageUnavailableError):
            asyncio.run(work)


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageUnavailableError, match="cannot be read or written"):
        asyncio.run(put(Location(str(tmp_path / "file")), ANA, "notes", {"a.md": "Text."}))


def test_somebody_elses_tables_are_left_alone(location: Location) -> None:
    async def story() -> None:
        async with location.store() as store:
            await store.create("products", pa.schema([pa.field("name", pa.string())]))
            with pytest.raises(StorageUnavailableError, match="not a dataset of this tool"):
                await put(location, ANA, "notes", {"a.md": "Text."})
            assert await store.names() == ("products",)

    asyncio.run(story())


def test_another_model_or_other_dimensions_are_refused(location: Location) -> None:
    async def story() -> None:
        await put(location, ANA, "notes", {"a.md": "Text."})
        model = embedding()
        for name, dimensions in (("another", model.dimensions), (model.model, 7)):
            other = Store(location.uri, name, dimensions, location.options)
            for check in (require_dataset, ensure_dataset):
                with pytest.raises(DatasetMismatchError, match="Set the embedding that it was made with"):
                    await check(other)

    asyncio.run(story())


def test_a_table_under_the_wrong_name_is_refused(folder: Location) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"a.md": "Text."})
        source = Path(folder.uri)
        for mine, other in ((ANA.current_table, BEN.current_table), (ANA.revisions_table, BEN.revisions_table)):
            (source / f"{mine}.lance").rename(source / f"{other}.lance")
        with pytest.raises(StorageUnavailableError, match="does not belong to owner:ben"):
            await put(folder, BEN, "notes", {"a.md": "Text."})
        with pytest.raises(StorageUnavailableError, match="does not belong to owner:ben"):
            await within(folder, list_items, BEN)
        assert {finding.code for finding in await within(folder, examine)} == {"strange-table"}

    asyncio.run(story())


def test_half_a_pair_is_refused_for_reading(folder: Location) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"a.md": "Text."})
        async with folder.store() as store:
            await store.drop(ANA.revisions_table)
            await store.drop(ANA.revisions_table)
            with pytest.raises(StorageUnavailableError, match=r"is missing\. Run `knowledge doctor`"):
                await open_scope(store, ANA)

    asyncio.run(story())


def test_many_first_publishers_of_one_dataset_all_succeed(location: Location) -> None:
    async def story() -> None:
        paths = [f"{number}.md" for number in range(4)]
        outcomes = await asyncio.gather(*(put_one(location, ANA, "notes", document(path, path)) for path in paths))
        assert [outcome.action for outcome in outcomes] == ["created"] * 4
        assert await within(location, examine) == ()
        for path in paths:
            assert await text_of(location, ANA, item(ANA, "notes", path)) == path

    asyncio.run(story())


def test_many_publishers_and_a_tidier_on_one_scope_all_succeed(folder: Location) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"a.md": "Text."})
        work = [put(folder, ANA, "notes", {f"{number}.md": f"Text {number}."}) for number in range(8)]
        await asyncio.gather(*work, *(within(folder, optimize_dataset) for _ in range(3)))
        assert await within(folder, examine) == ()
        for number in range(8):
            assert await text_of(folder, ANA, item(ANA, "notes", f"{number}.md")) == f"Text {number}."

    asyncio.run(story())


def test_writers_that_never_let_go_are_told_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("publish_knowledge.store.retries.FIRST_WAIT", 0.0)
    tries = 0

    async def loses() -> None:
        nonlocal tries
        tries += 1
        raise RuntimeError("lance error: Retryable commit conflict for version 7")

    with pytest.raises(StorageUnavailableError, match="Other writers kept changing"):
        asyncio.run(RetryingCaller("/somewhere").run(loses))
    assert tries == ATTEMPTS


def test_the_marker_is_found_beside_a_publisher_that_has_just_made_it(folder: Location) -> None:
    async def story() -> None:
        async with folder.store() as store:
            await asyncio.gather(*(ensure_dataset(store) for _ in range(3)))
            await ensure_scope(store, ANA)
            assert MARKER_TABLE in await store.names()

    asyncio.run(story())


def test_the_embedder_of_the_tests_is_the_real_one() -> None:
    near, far = embedder().embed(["The ship sailed.", "O navio partiu."])
    assert float(near @ far) > 0.5
