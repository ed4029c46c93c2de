"""Vector indexes by size."""

from __future__ import annotations

import asyncio

import pytest

from knowledge.results import SearchHit
from knowledge.store.schema import PASSAGE
from publish_knowledge.maintenance import optimize_dataset, optimize_if_needed
from publish_knowledge.store import vector_index
from tests.support.datasets import ANA, Location, put
from tests.support.publishing import open_tables, read_health
from tests.support.reading import find_items, search_scope


def test_vectors_are_indexed_when_there_are_many_and_again_when_outgrown(
    folder: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        monkeypatch.setattr(vector_index, "INDEX_FROM", 8)
        monkeypatch.setattr(vector_index, "PARTITION_ROWS", 4)
        names = []
        for count in (4, 8, 16, 40):
            await put(folder, ANA, "notes", {f"{number}.md": f"Tides, part {number}." for number in range(count)})
            index = (await read_health(folder))[0].indexes.get("vector")
            names.append(index.name if index else None)
        assert names == [None, "vector_exact_1", "vector_exact_4", "vector_exact_4"]
        assert len(await find_items(folder, ANA, "tides")) == 40
        tables = await open_tables(folder)
        await optimize_if_needed(tables)
        assert await tables.current.count_rows({"kind": PASSAGE}) == 40

    asyncio.run(story())


def test_many_vectors_are_shortened_and_what_is_found_is_measured_whole(
    folder: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        monkeypatch.setattr(vector_index, "INDEX_FROM", 300)
        texts = {f"{number}.md": f"Tides, part {number}, by the clock of {number * 7}." for number in range(300)}
        await put(folder, ANA, "notes", texts)
        exact = await search_scope(folder, ANA, "the clock of tides", "semantic")
        monkeypatch.setattr(vector_index, "EXACT_BYTES", 1)
        async with folder.store() as store:
            await optimize_dataset(store)
        assert [index.name for index in (await read_health(folder))[0].indexes.values() if "vector" in index.name] == [
            "vector_short_1"
        ]
        short = await search_scope(folder, ANA, "the clock of tides", "semantic")
        assert [score_of(hit) for hit in short.hits[:10]] == [score_of(hit) for hit in exact.hits[:10]]

    asyncio.run(story())


def score_of(hit: SearchHit) -> tuple[str, float]:
    assert hit.scores.semantic is not None
    return hit.revision.item_id, round(hit.scores.semantic, 4)
