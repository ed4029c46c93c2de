"""Maintenance: tables stay quick, and stay readable while they are tidied."""

from __future__ import annotations

import asyncio

import pytest

from knowledge.results import SearchHit
from knowledge.store.schema import PASSAGE
from publish_knowledge import maintenance
from publish_knowledge.maintenance import optimize_dataset, optimize_if_needed
from publish_knowledge.store import vector_index
from publish_knowledge.store.database import Health
from publish_knowledge.store.scope_tables import ScopeTables, open_scope
from tests.support.datasets import ANA, BEN, SUPPORT, Location, item, put, within
from tests.support.readers import found, search, text_of


async def tables_of(where: Location) -> ScopeTables:
    tables = await open_scope(where.store(), ANA)
    assert tables is not None
    return tables


async def health_of(where: Location) -> tuple[Health, Health]:
    tables = await tables_of(where)
    return await tables.current.health(), await tables.revisions.health()


def test_publishing_one_by_one_never_leaves_many_fragments(location: Location) -> None:
    async def story() -> None:
        for number in range(maintenance.MAX_FRAGMENTS + 3):
            await put(location, ANA, "notes", {f"{number}.md": f"Text number {number} about tides."})
        for health in await health_of(location):
            assert health.fragments <= maintenance.MAX_FRAGMENTS
        assert len(await found(location, ANA, "tides")) == maintenance.MAX_FRAGMENTS + 3

    asyncio.run(story())


def test_many_new_rows_are_indexed_at_once(folder: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        monkeypatch.setattr(maintenance, "MAX_UNINDEXED", 19)
        await put(folder, ANA, "notes", {f"{number}.md": f"Text number {number}." for number in range(20)})
        for health in await health_of(folder):
            assert {index.unindexed_rows for index in health.indexes.values()} == {0}

    asyncio.run(story())


def test_the_whole_dataset_or_one_scope_is_optimized(location: Location) -> None:
    async def story() -> None:
        for scope in (ANA, BEN):
            await put(location, scope, "notes", {"a.md": "Tides."})
            await put(location, scope, "notes", {"a.md": "Tides and winds."})
        [current, revisions] = await within(location, optimize_dataset, ANA)
        assert (current.table, current.scope, current.unindexed_rows) == (ANA.current_table, ANA.name, 0)
        assert (revisions.table, revisions.fragments) == (ANA.revisions_table, 1)
        assert [report.scope for report in await within(location, optimize_dataset)] == [ANA.name] * 2 + [BEN.name] * 2
        assert await within(location, optimize_dataset, SUPPORT) == ()
        assert await text_of(location, ANA, item(ANA, "notes", "a.md")) == "Tides and winds."

    asyncio.run(story())


def test_vectors_are_indexed_when_there_are_many_and_anew_when_outgrown(
    folder: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        monkeypatch.setattr(vector_index, "INDEX_FROM", 8)
        monkeypatch.setattr(vector_index, "PARTITION_ROWS", 4)
        names = []
        for count in (4, 8, 16, 40):
            await put(folder, ANA, "notes", {f"{number}.md": f"Tides, part {number}." for number in range(count)})
            index = (await health_of(folder))[0].indexes.get("vector")
            names.append(index.name if index else None)
        assert names == [None, "vector_exact_1", "vector_exact_4", "vector_exact_4"]
        assert len(await found(folder, ANA, "tides")) == 40
        tables = await tables_of(folder)
        await optimize_if_needed(tables)
        assert await tables.current.count({"kind": PASSAGE}) == 40

    asyncio.run(story())


def test_many_vectors_are_shortened_and_what_is_found_is_measured_whole(
    folder: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        monkeypatch.setattr(vector_index, "INDEX_FROM", 300)
        texts = {f"{number}.md": f"Tides, part {number}, by the clock of {number * 7}." for number in range(300)}
        await put(folder, ANA, "notes", texts)
        exact = await search(folder, ANA, "the clock of tides", "semantic")
        monkeypatch.setattr(vector_index, "EXACT_BYTES", 1)
        async with folder.store() as store:
            await optimize_dataset(store)
        assert [index.name for index in (await health_of(folder))[0].indexes.values() if "vector" in index.name] == [
            "vector_short_1"
        ]
        short = await search(folder, ANA, "the clock of tides", "semantic")
        assert [scored(hit) for hit in short.hits[:10]] == [scored(hit) for hit in exact.hits[:10]]

    asyncio.run(story())


def scored(hit: SearchHit) -> tuple[str, float]:
    assert hit.scores.semantic is not None
    return hit.revision.item_id, round(hit.scores.semantic, 4)
