"""The service over one dataset: what the server and the command line call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knowledge.reading import read
from knowledge.requests import SEMANTIC_MODES
from knowledge.search.retrieval import start_embedding
from knowledge.search.search import search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knowledge.embedding.base import EmbeddingProvider
    from knowledge.requests import ReadRequest, SearchRequest
    from knowledge.results import ReadAnswer, SearchAnswer
    from knowledge.scopes import Scope
    from knowledge.store.dataset import Dataset


class KnowledgeService:
    """Search and read over one dataset. Foreseen failures are `KnowledgeError`s; the deadline is the caller's."""

    def __init__(self, dataset: Dataset, embedding: EmbeddingProvider) -> None:
        self._dataset = dataset
        self._embedding = embedding

    async def search(self, scopes: Sequence[Scope], request: SearchRequest) -> SearchAnswer:
        """Search the current revisions of published items in these scopes."""
        # Started before the tables are opened, so that both run in parallel.
        vector = start_embedding(request.query, self._embedding.embed_query) if request.mode in SEMANTIC_MODES else None
        try:
            return await self._dataset.run(scopes, lambda found: search(found, request, vector), searching=True)
        finally:
            if vector is not None:
                vector.cancel()

    async def read(self, scopes: Sequence[Scope], request: ReadRequest) -> ReadAnswer:
        """Read one window of one revision in these scopes."""
        return await self._dataset.run(scopes, lambda found: read(found, request))
