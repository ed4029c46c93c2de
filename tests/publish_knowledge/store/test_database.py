"""Tables of a dataset: what one commit changes, versions, filters, indexes, and a store that cannot be reached."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest

from knowledge.errors import StorageUnavailableError
from knowledge.store.schema import MARKER_TABLE, META_CREATED, marker_schema, read_metadata
from local_s3.moto_server import S3Server
from publish_knowledge.doctor import examine
from publish_knowledge.publishing.catalog import list_items
from publish_knowledge.store.database import Health, Index, Table, Where
from tests.support.datasets import ANA, Location, document, item, put, put_one, run_in_store
from tests.support.reading import read_text

ANIMALS: Final = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False, metadata={"lance-schema:unenforced-primary-key": "true"}),
        pa.field("kind", pa.string()),
        pa.field("state", pa.string()),
        pa.field("legs", pa.int64()),
    ]
)
ROWS: Final = {"ant": ("insect", "new", 6), "bee": ("insect", "new", 6), "cat": ("mammal", "new", 4)}
Rows = Mapping[str, tuple[str, str, int]]


def build_rows(rows: Rows) -> pa.Table:
    columns = zip(*((key, *values) for key, values in rows.items()), strict=True)
    return pa.table(dict(zip(ANIMALS.names, columns, strict=True)), schema=ANIMALS)


async def read_all(table: Table, where: Where | None = None, at: int | None = None) -> Rows:
    rows = await table.read_rows(where or {"legs": [range(100)]}, ANIMALS.names, at)
    return {row["key"]: (row["kind"], row["state"], row["legs"]) for row in rows.to_pylist()}


@asynccontextmanager
async def open_animals(where: Location) -> AsyncIterator[Table]:
    async with where.store() as store:
        table = await store.create_table("animals", ANIMALS)
        await table.insert_missing(build_rows(ROWS))
        yield table


def test_tables_are_created_listed_opened_and_dropped(location: Location) -> None:
    async def story() -> None:
        async with location.store() as store:
            assert await store.list_tables() == ()
            assert await store.open_table("animals") is None
            for name in ("b", "a", "a"):
                assert await (await store.create_table(name, ANIMALS)).schema() == ANIMALS
            assert await store.list_tables() == ("a", "b")
            assert await store.open_table("animals") is None
            for _ in range(2):
                await store.drop_table("a")
            assert await store.list_tables() == ("b",)

    asyncio.run(story())


def test_inserting_leaves_existing_rows_as_they_are(folder: Location) -> None:
    async def story() -> None:
        async with open_animals(folder) as table:
            before = await table.version()
            merged = await table.insert_missing(build_rows({"ant": ("plant", "old", 0), "dog": ("mammal", "new", 4)}))
            assert (merged.version, merged.updated, merged.deleted) == (before + 1, 0, 0)
            assert await read_all(table) == {**ROWS, "dog": ("mammal", "new", 4)}

    asyncio.run(story())


def test_a_merge_writes_and_deletes_in_one_version(location: Location) -> None:
    async def story() -> None:
        async with open_animals(location) as table:
            before = await table.version()
            rows = {"bee": ("insect", "old", 6), "eel": ("fish", "new", 0)}
            merged = await table.merge(build_rows(rows), {"kind": "insect"})
            assert (merged.version, merged.updated, merged.deleted) == (before + 1, 1, 1)
            assert await read_all(table) == {**rows, "cat": ROWS["cat"]}
            assert await read_all(table, at=before) == ROWS
            assert await table.version() == before + 1

    asyncio.run(story())


def test_states_are_set_only_where_the_row_is_still_as_expected(folder: Location) -> None:
    async def story() -> None:
        async with open_animals(folder) as table:
            assert (await table.set_states(["ant", "dog"], "old")).updated == 1
            assert await read_all(table) == {**ROWS, "ant": ("insect", "old", 6)}
            expected = {"state": "new", "kind": "insect"}
            updated = [
                (await table.set_states([key], "kept", only_if=expected)).updated for key in ("ant", "bee", "cat")
            ]
            assert updated == [0, 1, 0]
            merged = await table.set_states(["cat"], "old", delete={"kind": "insect"})
            assert merged.deleted == 2
            assert await read_all(table) == {"cat": ("mammal", "old", 4)}

    asyncio.run(story())


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        ({"key": "ant"}, "ant"),
        ({"legs": 6}, "ant bee"),
        ({"key": ["ant", "cat", "dog"]}, "ant cat"),
        ({"legs": [4, 5]}, "cat"),
        ({"legs": [range(4, 6)]}, "cat"),
        ({"legs": [range(5), range(6, 7)]}, "ant bee cat"),
        ({"kind": "insect", "key": ["bee", "cat"]}, "bee"),
        ({"key": "ant' or '1' = '1"}, ""),
    ],
)
def test_filters_select_rows_by_value_values_and_ranges(folder: Location, where: Where, keys: str) -> None:
    async def story() -> None:
        async with open_animals(folder) as table:
            assert sorted(await read_all(table, where)) == keys.split()
            assert await table.count_rows(where) == len(keys.split())
            await table.delete(where)
            assert sorted(await read_all(table)) == sorted(ROWS.keys() - set(keys.split()))

    asyncio.run(story())


def test_a_handle_sees_what_another_one_commits(location: Location) -> None:
    async def story() -> None:
        async with open_animals(location) as table, location.store() as other_store:
            other = await other_store.open_table("animals")
            assert other is not None
            await other.delete({"kind": "mammal"})
            assert sorted(await read_all(table)) == ["ant", "bee"]
            assert (await table.insert_missing(build_rows(ROWS))).version == await other.version()

    asyncio.run(story())


def test_indexes_are_built_once_and_lag_until_the_table_is_optimized(folder: Location) -> None:
    async def story() -> None:
        async with open_animals(folder) as table:
            assert await table.read_health() == Health(rows=3, fragments=1, indexes={})
            for _ in range(2):
                await table.create_index("kind")
            assert await table.read_health() == Health(3, 1, {"kind": Index("kind_idx", 0)})
            await table.insert_missing(build_rows({"dog": ("mammal", "new", 4)}))
            health = await table.read_health()
            assert (health.fragments, health.unindexed_rows) == (2, 1)
            await table.optimize()
            assert (await table.read_health()).indexes == {"kind": Index("kind_idx", 0)}
            await table.drop_index("kind_idx")
            assert (await table.read_health()).unindexed_rows == 0

    asyncio.run(story())


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
    with pytest.raises(StorageUnavailableError, match="is a file, not a folder"):
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


def test_a_table_that_another_writer_has_just_created_is_opened_whatever_its_metadata(location: Location) -> None:
    async def story() -> None:
        async with location.store() as store:
            for time in ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"):
                table = await store.create_table(MARKER_TABLE, marker_schema(store.model, store.dimensions, time))
                assert read_metadata(await table.schema())[META_CREATED] == "2026-01-01T00:00:00Z"

    asyncio.run(story())
