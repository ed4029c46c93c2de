"""The service: the query is embedded beside the opening of tables, and only where a side needs it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import pytest

from knowledge.embedding.base import Vectors
from knowledge.errors import StorageUnavailableError
from knowledge.requests import MODES, SEMANTIC_MODES, Mode, ReadRequest, SearchRequest
from knowledge.scopes import Scope
from knowledge.service import KnowledgeService
from knowledge.store.dataset import Dataset
from knowledge.store.snapshot import Snapshot
from tests.support.datasets import ANA, Location, embedding, item, put
from tests.support.reading import list_paths

pytestmark = pytest.mark.anyio

T = TypeVar("T")

TEXTS = {"router.md": "Reset the router.\n", "invoice.md": "Invoices are sent monthly.\n"}


class Watched:
    """The tests' provider, with something to do before each query."""

    def __init__(self, before: Callable[[], object] = lambda: None) -> None:
        self.queries: list[str] = []
        self._before = before
        self.model = embedding().model
        self.dimensions = embedding().dimensions

    def embed_query(self, text: str) -> Vectors:
        self._before()
        self.queries.append(text)
        return embedding().embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return embedding().embed_passages(texts)


class SignalingDataset(Dataset):
    """A dataset that says when its tables are about to be opened."""

    def __init__(self, where: Location, opening: threading.Event) -> None:
        model = embedding()
        super().__init__(where.uri, model=model.model, dimensions=model.dimensions, storage_options=where.options)
        self._opening = opening

    async def run(
        self, scopes: Sequence[Scope], work: Callable[[list[Snapshot]], Awaitable[T]], *, searching: bool = False
    ) -> T:
        self._opening.set()
        return await super().run(scopes, work, searching=searching)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("mode", MODES)
async def test_a_query_is_embedded_once_where_its_mode_has_a_semantic_side(folder: Location, mode: Mode) -> None:
    await put(folder, ANA, "notes", TEXTS)
    provider = Watched()
    service = KnowledgeService(SignalingDataset(folder, threading.Event()), provider)
    answer = await service.search([ANA], SearchRequest("router", mode=mode))
    assert list_paths(answer)[0] == "router.md"
    assert provider.queries == (["router"] if mode in SEMANTIC_MODES else [])


async def test_the_query_is_embedded_while_the_tables_are_opened(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    opening = threading.Event()

    def wait() -> None:
        assert opening.wait(10), "the tables were not opened while the query was embedded"

    service = KnowledgeService(SignalingDataset(folder, opening), Watched(wait))
    assert len((await service.search([ANA], SearchRequest("router"))).hits) == 2


async def test_a_search_that_fails_does_not_wait_for_its_embedding(folder: Location) -> None:
    go_on = threading.Event()
    service = KnowledgeService(SignalingDataset(folder, threading.Event()), Watched(lambda: go_on.wait(10)))
    try:
        # Nothing is published: there is no dataset at all.
        with pytest.raises(StorageUnavailableError):
            await asyncio.wait_for(service.search([ANA], SearchRequest("router")), 5)
    finally:
        go_on.set()


async def test_a_cancelled_search_ends_at_once(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    go_on, running = threading.Event(), asyncio.all_tasks()
    service = KnowledgeService(SignalingDataset(folder, threading.Event()), Watched(lambda: go_on.wait(10)))
    try:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(service.search([ANA], SearchRequest("router")), 0.5)
        assert asyncio.all_tasks() == running
    finally:
        go_on.set()


async def test_a_read_embeds_nothing(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    provider = Watched()
    service = KnowledgeService(SignalingDataset(folder, threading.Event()), provider)
    answer = await service.read([ANA], ReadRequest(item(ANA, "notes", "router.md")))
    assert (answer.content, provider.queries) == (TEXTS["router.md"], [])
