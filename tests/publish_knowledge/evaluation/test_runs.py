"""Measuring asks the tables once for all settings; the answers are those that each call gets by itself."""

from __future__ import annotations

import pytest

from knowledge.requests import MODES, SearchRequest
from knowledge.service import KnowledgeService
from knowledge.store.dataset import Dataset
from publish_knowledge.evaluation.runs import Corpus, Setting, search_in_settings
from tests.support.datasets import ANA, SUPPORT, Location, embedding, put

pytestmark = pytest.mark.anyio

TEXTS = {
    f"note{number}.md": f"# Note {number}\n\nThe pump and valve {number % 7} of part {number % 5}.\n"
    for number in range(60)
}
SETTINGS = [*(Setting(mode) for mode in MODES), Setting("hybrid", 0.0), Setting("hybrid", 0.8), Setting("hybrid", 1.0)]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_sweep_has_the_answers_of_single_calls(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    await put(folder, SUPPORT, "manuals", {"pump.md": "# Pump\n\nHow the pump of part 3 is primed.\n"})
    model = embedding()
    dataset = Dataset(folder.uri, model=model.model, dimensions=model.dimensions, storage_options=folder.options)
    try:
        corpus = Corpus(dataset, (ANA, SUPPORT))
        swept = await search_in_settings(corpus, "valve of part 3", SETTINGS, model.embed_query)
        service = KnowledgeService(dataset, model)
        for setting, answer in zip(SETTINGS, swept, strict=True):
            request = SearchRequest("valve of part 3", mode=setting.mode, alpha=setting.alpha)
            alone = await service.search((ANA, SUPPORT), request)
            assert answer == alone, setting.name
    finally:
        await dataset.close()
