"""Publish and query test collections in a dataset made for one run; vectors are kept between runs."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from knowledge.embedding.base import EmbeddingProvider, Vectors
from knowledge.embedding.providers import provider
from knowledge.scopes import Scope
from knowledge.store.dataset import Dataset
from publish_knowledge.embedding.cache import VectorCache
from publish_knowledge.embedding.embedder import Embedder
from publish_knowledge.embedding.fast_e5.provider import select_passage_provider
from publish_knowledge.evaluation.runs import Corpus, Evaluation, JudgedQuery, Setting, evaluate
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.publishing.publish import publish
from publish_knowledge.sources.documents import Document
from publish_knowledge.store.database import Store

_EVERY: Final = 256
"""Texts or questions between two lines of progress."""
_STEP: Final = 16
"""Texts embedded at a time."""


@dataclass(frozen=True, slots=True)
class CollectionsDataset:
    """The dataset of one run, its model, and the folder with the vectors of earlier runs."""

    uri: str
    model: EmbeddingProvider
    cache: Path

    async def publish(self, scope: Scope, base_id: str, documents: Sequence[Document]) -> None:
        """Publish as the command does; raises `RuntimeError` if a document is not created."""
        log(f"{base_id}: publishing {len(documents)} documents")
        embedder = Embedder(
            select_passage_provider(self.model), self._cache(), partial(log_progress, f"{base_id}: embedded")
        )
        async with Store(self.uri, self.model.model, self.model.dimensions) as store:
            report = await publish(store, PublishOptions(scope, base_id), documents, embedder=embedder)
        if report.count("created") != len(documents):
            raise RuntimeError(f"{base_id}: {len(documents)} documents, but {report.count('created')} items created.")

    async def evaluate(
        self, scope: Scope, base_id: str, questions: Sequence[JudgedQuery], settings: Sequence[Setting]
    ) -> Evaluation:
        """Run the questions of one base."""
        dataset = self.dataset()
        try:
            corpus = Corpus(dataset, (scope,), base_id)
            report = partial(log_progress, f"{base_id}: asked")
            return await evaluate(corpus, questions, settings, self.embed_query, report)
        finally:
            await dataset.close()

    @property
    def compared(self) -> str:
        """URI for baseline tables, which are removed with the dataset."""
        return f"{self.uri}/compared"

    def dataset(self) -> Dataset:
        """Open the dataset for reading."""
        return Dataset(self.uri, model=self.model.model, dimensions=self.model.dimensions)

    def embed_query(self, text: str) -> Vectors:
        """Return a question's vector, computed once for all runs."""
        cache = self._cache("/query")
        known = cache.get([text]).get(text)
        if known is None:
            known = self.model.embed_query(text)
            cache.put({text: known})
        return known

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages that publishing would store."""
        return Embedder(select_passage_provider(self.model), self._cache()).embed(texts)

    def _cache(self, kind: str = "") -> VectorCache:
        return VectorCache(self.cache, self.model.model + kind, self.model.dimensions)


@contextmanager
def collections_dataset(folder: Path, embedding: str) -> Iterator[CollectionsDataset]:
    """Yield a new dataset, which is removed afterwards, so that nothing published by other code counts."""
    folder.mkdir(parents=True, exist_ok=True)
    made = tempfile.mkdtemp(prefix="dataset-", dir=folder)
    try:
        yield CollectionsDataset(made, provider(embedding), folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def log(text: str) -> None:
    """Print progress on standard error."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def log_progress(what: str, done: int, total: int) -> None:
    """Print progress at every few hundred."""
    if done and (done == total or done % _EVERY < _STEP):
        log(f"{what} {done} of {total}")
