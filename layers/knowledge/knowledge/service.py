"""The heart's front door: what the serving face and the command line call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knowledge.reading import read
from knowledge.search.search import answer, asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knowledge.embedding.providers import EmbeddingProvider
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
        """Ranked current revisions of published items in these scopes."""
        # The vector is made while tables are opened.
        with asked(request, self._embedding.embed_query) as question:
            return await self._dataset.run(scopes, lambda found: answer(found, question), searching=True)

    async def read(self, scopes: Sequence[Scope], request: ReadRequest) -> ReadAnswer:
        """One window of one revision in these scopes."""
        return await self._dataset.run(scopes, lambda found: read(found, request))
