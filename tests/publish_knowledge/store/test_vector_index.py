"""Vector indexes by size: which one is chosen, and that it is built."""

from __future__ import annotations

import asyncio

import pytest

from knowledge.results import SearchHit
from knowledge.store.schema import PASSAGE
from publish_knowledge.maintenance import optimize_dataset, optimize_if_needed
from publish_knowledge.store import vector_index
from publish_knowledge.store.vector_index import (
    EXACT_BYTES,
    INDEX_FROM,
    PARTITION_ROWS,
    VectorIndex,
    choose_index,
    parse_index_name,
)
from tests.support.datasets import ANA, Location, put
from tests.support.publishing import open_tables, read_health
from tests.support.reading import find_items, search_scope

DIMENSIONS = 384
EXACT_ROWS = EXACT_BYTES // (2 * DIMENSIONS)


@pytest.mark.parametrize(
    ("passages", "chosen"),
    [
        (0, None),
        (INDEX_FROM - 1, None),
        (INDEX_FROM, VectorIndex(1, exact=True)),
        (4 * PARTITION_ROWS - 1, VectorIndex(1, exact=True)),
        (4 * PARTITION_ROWS, VectorIndex(4, exact=True)),
        (16 * PARTITION_ROWS, VectorIndex(16, exact=True)),
        (EXACT_ROWS, VectorIndex(16, exact=True)),
        (EXACT_ROWS + 1, VectorIndex(16, exact=False)),
        (64 * PARTITION_ROWS, VectorIndex(64, exact=False)),
    ],
)
def test_the_index_is_chosen_by_the_number_of_vectors(passages: int, chosen: VectorIndex | None) -> None:
    assert choose_index(passages, DIMENSIONS) == chosen


def test_longer_vectors_are_quantized_earlier() -> None:
    assert choose_index(EXACT_ROWS // 2 + 1, 2 * DIMENSIONS) == VectorIndex(16, exact=False)


@pytest.mark.parametrize("index", [VectorIndex(1, exact=True), VectorIndex(64, exact=False)])
def test_an_index_is_known_by_its_name(index: VectorIndex) -> None:
    assert parse_index_name(index.name) == index


@pytest.mark.parametrize("name", ["vector_idx", "terms_idx", ""])
def test_other_names_are_no_vector_index(name: str) -> None:
    assert parse_index_name(name) is None


@pytest.mark.parametrize(
    ("present", "wanted", "outgrown"),
    [
        (VectorIndex(1, exact=True), VectorIndex(1, exact=True), False),
        (VectorIndex(1, exact=True), VectorIndex(4, exact=True), True),
        (VectorIndex(4, exact=True), VectorIndex(1, exact=True), False),
        (VectorIndex(16, exact=True), VectorIndex(16, exact=False), True),
        (VectorIndex(16, exact=False), VectorIndex(16, exact=True), False),
    ],
)
def test_an_index_is_replaced_by_one_for_more_vectors_only(
    present: VectorIndex, wanted: VectorIndex, *, outgrown: bool
) -> None:
    assert present.is_outgrown_by(wanted) is outgrown


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


def test_many_vectors_are_quantized_and_candidates_are_scored_by_whole_ones(
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
