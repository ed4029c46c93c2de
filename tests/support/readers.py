"""What a reader sees of a dataset, through the core library's own service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from knowledge.errors import ResourceUnavailableError
from knowledge.requests import MAX_RESULTS, Mode, ReadRequest, SearchRequest
from knowledge.results import ReadAnswer, SearchAnswer
from knowledge.scopes import Scope
from knowledge.service import KnowledgeService
from knowledge.store.dataset import Dataset
from tests.support.datasets import Location, embedding

WHOLE = 10_000_000


@asynccontextmanager
async def reading(where: Location) -> AsyncIterator[KnowledgeService]:
    """A service on a dataset, opened again."""
    model = embedding()
    dataset = Dataset(where.uri, model=model.model, dimensions=model.dimensions, storage_options=where.options)
    try:
        yield KnowledgeService(dataset, model)
    finally:
        await dataset.close()


async def answer_of(service: KnowledgeService, scope: Scope, item_id: str, revision_id: str = "") -> ReadAnswer | None:
    """The whole of a revision, or `None` where it is not to be read."""
    try:
        return await service.read([scope], ReadRequest(item_id, revision_id, limit=WHOLE))
    except ResourceUnavailableError:
        return None


async def text_of(where: Location, scope: Scope, item_id: str, revision_id: str = "") -> str | None:
    """The text that a reader gets, or `None`."""
    async with reading(where) as service:
        answer = await answer_of(service, scope, item_id, revision_id)
        return answer.content if answer else None


async def search(where: Location, scope: Scope, query: str, mode: Mode = "hybrid") -> SearchAnswer:
    """A search of one scope."""
    async with reading(where) as service:
        return await service.search([scope], SearchRequest(query, max_results=MAX_RESULTS, mode=mode))


async def find_items(where: Location, scope: Scope, query: str) -> list[tuple[str, str]]:
    """Item and revision ids of all that a search finds, best first."""
    answer = await search(where, scope, query)
    return [(hit.revision.item_id, hit.revision.revision_id) for hit in answer.hits]
