"""The dataset marker: who writes it, and what it refuses."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from knowledge.errors import DatasetMismatchError, StorageUnavailableError
from knowledge.store.schema import MARKER_TABLE
from publish_knowledge.store.database import Store
from publish_knowledge.store.marker import current_time, dataset_exists, ensure_dataset, require_dataset
from publish_knowledge.store.scope_tables import ensure_scope
from tests.support.datasets import ANA, Location, embedding, put


def test_the_time_is_written_in_utc_with_whole_seconds() -> None:
    parsed = datetime.strptime(current_time(), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert abs(datetime.now(UTC) - parsed) < timedelta(minutes=1)


def test_a_dataset_exists_from_the_first_publisher_on(location: Location) -> None:
    async def story() -> None:
        async with location.store() as store:
            with pytest.raises(StorageUnavailableError, match="There is no dataset at"):
                await require_dataset(store)
            assert not await dataset_exists(store)
            assert await store.list_tables() == ()
            await ensure_dataset(store)
            assert await dataset_exists(store)
            await require_dataset(store)
            assert await store.list_tables() == (MARKER_TABLE,)

    asyncio.run(story())


def test_tables_of_another_program_are_left_alone(location: Location) -> None:
    async def story() -> None:
        async with location.store() as store:
            await store.create_table("products", pa.schema([pa.field("name", pa.string())]))
            with pytest.raises(StorageUnavailableError, match="not a dataset of this tool"):
                await put(location, ANA, "notes", {"a.md": "Text."})
            assert await store.list_tables() == ("products",)

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


def test_the_marker_is_found_beside_a_publisher_that_has_just_made_it(folder: Location) -> None:
    async def story() -> None:
        async with folder.store() as store:
            await asyncio.gather(*(ensure_dataset(store) for _ in range(3)))
            await ensure_scope(store, ANA)
            assert MARKER_TABLE in await store.list_tables()

    asyncio.run(story())
