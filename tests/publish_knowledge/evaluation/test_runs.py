"""Evaluation retrieves once for all settings; the answers are those that each call gets by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from knowledge.embedding.base import Vectors
from knowledge.errors import ResourceUnavailableError, StorageUnavailableError
from knowledge.requests import MODES, SearchRequest
from knowledge.service import KnowledgeService
from knowledge.store.dataset import Dataset
from publish_knowledge.evaluation.metrics import compute_metrics, estimate_difference
from publish_knowledge.evaluation.runs import (
    CONCURRENT_QUERIES,
    DEFAULT,
    Corpus,
    JudgedQuery,
    Setting,
    evaluate,
    ranked_items,
    search_in_settings,
)
from tests.support.datasets import ANA, SUPPORT, Location, embedding, item, put

pytestmark = pytest.mark.anyio

TEXTS = {
    f"note{number}.md": f"# Note {number}\n\nThe pump and valve {number % 7} of part {number % 5}.\n"
    for number in range(60)
}
SETTINGS = [*(Setting(mode) for mode in MODES), Setting("hybrid", 0.0), Setting("hybrid", 0.8), Setting("hybrid", 1.0)]
LEXICAL = Setting("lexical")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def corpus_of(folder: Location, base_id: str = "") -> AsyncIterator[Corpus]:
    """Sixty notes of an owner and one manual of a team."""
    await put(folder, ANA, "notes", TEXTS)
    await put(folder, SUPPORT, "manuals", {"pump.md": "# Pump\n\nHow the pump of part 3 is primed.\n"})
    model = embedding()
    dataset = Dataset(folder.uri, model=model.model, dimensions=model.dimensions, storage_options=folder.options)
    try:
        yield Corpus(dataset, (ANA, SUPPORT), base_id)
    finally:
        await dataset.close()


@pytest.mark.parametrize("base_id", ["", "notes"])
@pytest.mark.parametrize("text", ["valve of part 3", "zebra", "🦓 !?"])
async def test_a_sweep_has_the_answers_of_single_calls(folder: Location, base_id: str, text: str) -> None:
    async with corpus_of(folder, base_id) as corpus:
        swept = await search_in_settings(corpus, text, SETTINGS, embedding().embed_query)
        service = KnowledgeService(corpus.dataset, embedding())
        for setting, answer in zip(SETTINGS, swept, strict=True):
            request = SearchRequest(text, base_id, mode=setting.mode, alpha=setting.alpha)
            assert answer == await service.search((ANA, SUPPORT), request), setting.name


async def test_every_query_is_measured_in_every_setting_and_embedded_once(folder: Location) -> None:
    queries = [
        JudgedQuery(str(number), f"valve {number} of part 3", {item(ANA, "notes", f"note{number}.md"): 1})
        for number in range(CONCURRENT_QUERIES + 2)
    ]
    embedded, progress = [], []

    def embed(text: str) -> Vectors:
        embedded.append(text)
        return embedding().embed_query(text)

    async with corpus_of(folder) as corpus:
        found = await evaluate(
            corpus, queries, [DEFAULT, LEXICAL, DEFAULT], embed, lambda done, total: progress.append((done, total))
        )
        service = KnowledgeService(corpus.dataset, embedding())
        answers = [await service.search(corpus.scopes, SearchRequest(query.text)) for query in queries]
    assert sorted(embedded) == sorted(query.text for query in queries)
    assert progress == [(CONCURRENT_QUERIES, CONCURRENT_QUERIES + 2), (CONCURRENT_QUERIES + 2, CONCURRENT_QUERIES + 2)]
    assert list(found.by_setting) == [DEFAULT, LEXICAL]
    expected = [compute_metrics(ranked_items(one), query.grades) for one, query in zip(answers, queries, strict=True)]
    assert found.by_setting[DEFAULT] == expected
    assert found.values(DEFAULT, "mrr") == [one.mrr for one in expected]
    assert found.estimate(DEFAULT, "recall").count == len(queries)
    assert found.compare(LEXICAL, DEFAULT) == estimate_difference(found.values(LEXICAL), found.values(DEFAULT))


async def test_an_evaluation_fails_as_a_search_does(folder: Location) -> None:
    def refuse(_text: str) -> Vectors:
        raise OSError("no answer")

    query = JudgedQuery("1", "valve", {"ki": 1})
    async with corpus_of(folder, "missing") as corpus:
        with pytest.raises(ResourceUnavailableError):
            await evaluate(corpus, [query], [DEFAULT], embedding().embed_query)
        with pytest.raises(StorageUnavailableError):
            await evaluate(Corpus(corpus.dataset, corpus.scopes), [query], [DEFAULT], refuse)


def test_a_setting_is_named_by_its_mode_and_hybrid_by_its_alpha_too() -> None:
    assert [setting.name for setting in SETTINGS] == [
        "hybrid 0.5",
        "lexical",
        "semantic",
        "rrf",
        "hybrid 0",
        "hybrid 0.8",
        "hybrid 1",
    ]
