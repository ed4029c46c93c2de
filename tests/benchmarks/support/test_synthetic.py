"""Generated datasets: valid, and searched and read like published ones."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from benchmarks.support.synthetic import BASE, count_items, make_dataset, name_item
from benchmarks.support.texts import draw_questions, draw_vectors
from knowledge.embedding.providers import LOCAL_SMALL, provider
from publish_knowledge.doctor import Finding, examine
from publish_knowledge.store.database import Store
from tests.support.calls import call, switched_on

pytestmark = pytest.mark.slow
"""Thousands of passages are generated and indexed."""

SCOPES = {"support": 2_010, "field": 20}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("bench"), SCOPES, LOCAL_SMALL)


def test_the_doctor_finds_nothing_wrong(made: Path) -> None:
    model = provider(LOCAL_SMALL)

    async def examine_store() -> tuple[Finding, ...]:
        async with Store(str(made), model.model, model.dimensions) as store:
            return await examine(store)

    assert asyncio.run(examine_store()) == ()


def test_a_caller_searches_and_reads_it(made: Path) -> None:
    with switched_on(str(made)) as handler:
        for question in draw_questions(made.parent, 5, embedding=LOCAL_SMALL):
            assert len(call(handler, {"query": question})["results"]) == 10
        found = call(handler, {"knowledge_item_id": name_item("support", 7)})
        assert (found["knowledge_base_id"], found["team_id"]) == (BASE, "support")
        assert found["content_total_chars"] > 1_000


def test_a_dataset_is_made_once(made: Path) -> None:
    before = made.stat().st_mtime_ns
    assert make_dataset(made.parent, SCOPES, LOCAL_SMALL) == made
    assert made.stat().st_mtime_ns == before


def test_the_last_item_has_what_is_left() -> None:
    assert [count_items(passages) for passages in (1, 8, 9, 2_010)] == [1, 1, 2, 252]


def test_questions_and_vectors_follow_from_a_seed(made: Path) -> None:
    folder = made.parent
    asked = draw_questions(folder, 50, seed=3, embedding=LOCAL_SMALL)
    assert asked == draw_questions(folder, 50, seed=3, embedding=LOCAL_SMALL)
    assert len(set(asked)) == 50
    made_up = draw_vectors(folder, 20, embedding=LOCAL_SMALL)
    assert made_up.shape == (20, 512)
    np.testing.assert_allclose(np.linalg.norm(made_up, axis=1), 1, rtol=1e-5)
