"""Reading back what tests published, through the core library's service or on its snapshots."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from knowledge.requests import ReadRequest
from knowledge.results import ReadAnswer, SearchAnswer
from knowledge.scopes import Scope
from knowledge.service import KnowledgeService
from knowledge.store.dataset import Dataset
from knowledge.store.snapshot import Snapshot
from tests.support.datasets import Location, embedding

T = TypeVar("T")


@asynccontextmanager
async def service(where: Location) -> AsyncIterator[KnowledgeService]:
    """A service with nothing cached yet."""
    model = embedding()
    dataset = Dataset(where.uri, model=model.model, dimensions=model.dimensions, storage_options=where.options)
    yield KnowledgeService(dataset, model)
    await dataset.close()


async def on_snapshots(where: Location, scopes: Sequence[Scope], work: Callable[[list[Snapshot]], Awaitable[T]]) -> T:
    """Do work on a snapshot of each scope that has tables, as a search does."""
    model = embedding()
    dataset = Dataset(where.uri, model=model.model, dimensions=model.dimensions, storage_options=where.options)
    try:
        return await dataset.run(scopes, work, searching=True)
    finally:
        await dataset.close()


async def read_whole(
    reader: KnowledgeService, scopes: Sequence[Scope], item_id: str, limit: int, revision_id: str = ""
) -> str:
    """The whole text of an item, window by window, by following the continuation."""
    parts: list[str] = []
    request = ReadRequest(item_id, revision_id, limit=limit)
    while True:
        answer = await reader.read(scopes, request)
        parts.append(answer.content)
        following = answer.as_dict()["continuation"]
        if following is None:
            return "".join(parts)
        request = ReadRequest(
            following["knowledge_item_id"], following["knowledge_revision_id"], offset=following["offset"], limit=limit
        )


def paths(answer: SearchAnswer) -> list[str]:
    """Source paths of the hits, in order."""
    return [hit.revision.source_uri for hit in answer.hits]


def summarize(answer: ReadAnswer) -> tuple[str, bool]:
    """Content, and whether it is the current revision's."""
    return answer.content, answer.is_current
