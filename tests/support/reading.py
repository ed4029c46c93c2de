"""Read back what tests published: through the core library's service, on snapshots of tables, and by table handles."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import pytest

from knowledge.errors import ResourceUnavailableError
from knowledge.requests import MAX_RESULTS, Mode, ReadRequest, SearchRequest
from knowledge.results import ReadAnswer, SearchAnswer
from knowledge.scopes import Scope
from knowledge.service import KnowledgeService
from knowledge.store.dataset import Dataset
from knowledge.store.snapshot import Snapshot, TableSnapshot
from knowledge.store.table_handles import TableHandles
from tests.support.datasets import Location, embedding

T = TypeVar("T")

WHOLE_TEXT: Final = 10_000_000
"""A limit of characters that no text of the tests reaches."""


def read_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load no scope into memory, as if all were large."""
    monkeypatch.setattr("knowledge.store.scope_cache.SMALL_SCOPE_ROWS", 0)


@asynccontextmanager
async def open_dataset(where: Location) -> AsyncIterator[Dataset]:
    """A dataset with nothing cached yet."""
    model = embedding()
    dataset = Dataset(where.uri, model=model.model, dimensions=model.dimensions, storage_options=where.options)
    try:
        yield dataset
    finally:
        await dataset.close()


@asynccontextmanager
async def open_service(where: Location) -> AsyncIterator[KnowledgeService]:
    """A service with nothing cached yet."""
    async with open_dataset(where) as dataset:
        yield KnowledgeService(dataset, embedding())


async def run_on_snapshots(
    where: Location, scopes: Sequence[Scope], work: Callable[[list[Snapshot]], Awaitable[T]]
) -> T:
    """Do work on a snapshot of each scope that has tables, as a search does."""
    async with open_dataset(where) as dataset:
        return await dataset.run(scopes, work, searching=True)


def open_handles(where: Location) -> TableHandles:
    """Table handles of a dataset that was made with the tests' model."""
    model = embedding()
    return TableHandles(where.uri, model.model, model.dimensions, where.options)


async def open_snapshot(handles: TableHandles, scope: Scope) -> TableSnapshot:
    """A snapshot of a scope's tables."""
    table = await handles.open_current(scope, searching=False)
    assert table is not None
    return TableSnapshot(scope, table, handles)


async def read_revision(
    service: KnowledgeService, scope: Scope, item_id: str, revision_id: str = ""
) -> ReadAnswer | None:
    """The whole of a revision, or `None` where it is not to be read."""
    try:
        return await service.read([scope], ReadRequest(item_id, revision_id, limit=WHOLE_TEXT))
    except ResourceUnavailableError:
        return None


async def read_text(where: Location, scope: Scope, item_id: str, revision_id: str = "") -> str | None:
    """The text that a reader gets, or `None`."""
    async with open_service(where) as service:
        answer = await read_revision(service, scope, item_id, revision_id)
        return answer.content if answer else None


async def read_windows(
    service: KnowledgeService, scopes: Sequence[Scope], item_id: str, limit: int, revision_id: str = ""
) -> str:
    """The text of an item, window by window, by following the continuation."""
    parts: list[str] = []
    request = ReadRequest(item_id, revision_id, limit=limit)
    while True:
        answer = await service.read(scopes, request)
        parts.append(answer.content)
        following = answer.as_dict()["continuation"]
        if following is None:
            return "".join(parts)
        request = ReadRequest(
            following["knowledge_item_id"], following["knowledge_revision_id"], offset=following["offset"], limit=limit
        )


async def search_scope(where: Location, scope: Scope, query: str, mode: Mode = "hybrid") -> SearchAnswer:
    """All that a search of one scope finds."""
    async with open_service(where) as service:
        return await service.search([scope], SearchRequest(query, max_results=MAX_RESULTS, mode=mode))


async def find_items(where: Location, scope: Scope, query: str) -> list[tuple[str, str]]:
    """Item and revision ids of all that a search finds, best first."""
    answer = await search_scope(where, scope, query)
    return [(hit.revision.item_id, hit.revision.revision_id) for hit in answer.hits]


def list_paths(answer: SearchAnswer) -> list[str]:
    """Source paths of the hits, in order."""
    return [hit.revision.source_uri for hit in answer.hits]


def summarize(answer: ReadAnswer) -> tuple[str, bool]:
    """Content, and whether it is the current revision's."""
    return answer.content, answer.is_current
