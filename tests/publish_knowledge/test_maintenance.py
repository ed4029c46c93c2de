"""Maintenance: tables stay fast, and are read in full afterwards."""

from __future__ import annotations

import asyncio

import pytest

from knowledge.errors import StorageUnavailableError
from publish_knowledge import maintenance
from publish_knowledge.maintenance import optimize_dataset, optimize_if_needed, optimize_tables
from tests.support.datasets import ANA, BEN, SUPPORT, Location, item, put, run_in_store
from tests.support.publishing import open_tables, read_health
from tests.support.reading import find_items, read_text


@pytest.mark.slow
def test_publishing_one_by_one_never_leaves_many_fragments(location: Location) -> None:
    async def story() -> None:
        for number in range(maintenance.MAX_FRAGMENTS + 3):
            await put(location, ANA, "notes", {f"{number}.md": f"Text number {number} about tides."})
        for health in await read_health(location):
            assert health.fragments <= maintenance.MAX_FRAGMENTS
        assert len(await find_items(location, ANA, "tides")) == maintenance.MAX_FRAGMENTS + 3

    asyncio.run(story())


def test_many_new_rows_are_indexed_at_once(folder: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        monkeypatch.setattr(maintenance, "MAX_UNINDEXED", 19)
        await put(folder, ANA, "notes", {f"{number}.md": f"Text number {number}." for number in range(20)})
        for health in await read_health(folder):
            assert {index.unindexed_rows for index in health.indexes.values()} == {0}

    asyncio.run(story())


@pytest.mark.slow
def test_the_whole_dataset_or_one_scope_is_optimized(location: Location) -> None:
    async def story() -> None:
        for scope in (ANA, BEN):
            await put(location, scope, "notes", {"a.md": "Tides."})
            await put(location, scope, "notes", {"a.md": "Tides and winds."})
        [current, revisions] = await run_in_store(location, optimize_dataset, ANA)
        assert (current.table, current.scope, current.unindexed_rows) == (ANA.current_table, ANA.name, 0)
        assert (revisions.table, revisions.fragments) == (ANA.revisions_table, 1)
        assert [report.scope for report in await run_in_store(location, optimize_dataset)] == [ANA.name] * 2 + [
            BEN.name
        ] * 2
        assert await run_in_store(location, optimize_dataset, SUPPORT) == ()
        assert await read_text(location, ANA, item(ANA, "notes", "a.md")) == "Tides and winds."

    asyncio.run(story())


def test_tables_that_need_no_maintenance_are_left_alone(folder: Location) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"a.md": "Tides."})
        tables = await open_tables(folder)
        before = [await tables.current.version(), await tables.revisions.version()]
        await optimize_if_needed(tables)
        assert [await tables.current.version(), await tables.revisions.version()] == before
        await put(folder, ANA, "notes", {"b.md": "Winds."})
        await optimize_tables(tables)
        assert {health.unindexed_rows for health in await read_health(folder)} == {0}

    asyncio.run(story())


def test_without_a_dataset_nothing_is_optimized(folder: Location) -> None:
    with pytest.raises(StorageUnavailableError, match="There is no dataset"):
        asyncio.run(run_in_store(folder, optimize_dataset))
