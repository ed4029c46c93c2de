"""What a growing scope costs: a warm query's median, and how much of the exact answer the vector index finds.

One scope of each size, on a local disk, asked by the service itself: the whole of a query but its protocol. The model's
part is in the median, and shown apart beside it.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from benchmarks.support.figures import Figure, number, spread
from benchmarks.support.synthetic import dataset
from benchmarks.support.texts import questions, vectors
from knowledge.embedding.base import EmbeddingProvider, Vectors
from knowledge.embedding.providers import LOCAL, provider
from knowledge.requests import Mode, SearchRequest
from knowledge.scopes import Scope
from knowledge.service import KnowledgeService
from knowledge.store.dataset import Dataset
from knowledge.store.lance import connect

PART: Final = "growth"
SCOPE: Final = Scope("team", "main")
SIZES: Final = (1_000, 10_000, 100_000, 1_000_000)
BASE_SIZE: Final = 10_000
MOST_SLOWER: Final = 4.0
LEAST_RECALL: Final = 0.95

QUERIES: Final = 60
WARM_UP: Final = 15
MODES: Final[tuple[Mode, ...]] = ("hybrid", "lexical", "semantic")
PROBES: Final = 50
DEPTH: Final = 10
POOL: Final = 128
"""Passages that the tool asks of the index; the first ten of them count."""

Passage = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Grown:
    """One size: milliseconds of queries in each mode, the model's part, and the share of the exact ten found."""

    passages: int
    times: dict[Mode, list[float]]
    embedding: list[float]
    recall: float


def measure(folder: Path) -> list[Figure]:
    """The figures of this part."""
    model = provider(LOCAL)
    model.embed_query("warm")
    asked = questions(folder, WARM_UP + QUERIES)
    near = vectors(folder, PROBES, seed=2)
    grown = [asyncio.run(_grown(dataset(folder, {SCOPE.id: size}), size, model, asked, near)) for size in SIZES]
    return [_slower(grown), *(_recall(one) for one in grown), *(_time(one) for one in grown)]


async def _grown(path: Path, size: int, model: EmbeddingProvider, asked: Sequence[str], near: Vectors) -> Grown:
    async with _opened(path, model) as opened:
        service = KnowledgeService(opened, model)
        times = {mode: await _times(service, mode, asked) for mode in MODES}
        found = await _found(opened, near)
    exact = await _exact(path, near)
    recall = statistics.mean(len(one & other) / DEPTH for one, other in zip(found, exact, strict=True))
    return Grown(size, times, [_embedding(model, question) for question in asked], recall)


async def _times(service: KnowledgeService, mode: Mode, asked: Sequence[str]) -> list[float]:
    times = [await _timed(service, SearchRequest(question, mode=mode)) for question in asked]
    return times[WARM_UP:]


async def _timed(service: KnowledgeService, request: SearchRequest) -> float:
    started = time.perf_counter()
    await service.search([SCOPE], request)
    return 1000 * (time.perf_counter() - started)


def _embedding(model: EmbeddingProvider, question: str) -> float:
    started = time.perf_counter()
    model.embed_query(question)
    return 1000 * (time.perf_counter() - started)


async def _found(opened: Dataset, near: Vectors) -> list[set[Passage]]:
    snapshot = await opened.snapshot(SCOPE)
    if snapshot is None:
        raise RuntimeError(f"There is no {SCOPE.name} in the dataset.")
    hits = [await snapshot.search_semantic(vector, "", (), POOL) for vector in near]
    return [{hit.passage for hit in each[:DEPTH]} for each in hits]


async def _exact(path: Path, near: Vectors) -> list[set[Passage]]:
    """The ten nearest by comparing with every vector there is."""
    table = await (await connect(str(path), {})).open_table(SCOPE.current_table)
    best: list[list[tuple[float, Passage]]] = [[] for _ in near]
    rows = table.query().where("kind = 'passage'").select(["item_id", "start", "vector"])
    async for batch in await rows.to_batches():
        for position, found in enumerate(_nearest(batch, near)):
            best[position] = sorted(best[position] + found, reverse=True)[:DEPTH]
    return [{passage for _, passage in each} for each in best]


def _nearest(batch: pa.RecordBatch, near: Vectors) -> list[list[tuple[float, Passage]]]:
    column = batch.column("vector")
    stored = column.flatten().to_numpy(zero_copy_only=False).astype(np.float32).reshape(len(column), -1)
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    likeness = near @ stored.T
    items, starts = batch.column("item_id"), batch.column("start")
    first = np.argsort(-likeness, axis=1)[:, :DEPTH]
    return [
        [(float(likeness[row, at]), (items[at].as_py(), starts[at].as_py())) for at in places.tolist()]
        for row, places in enumerate(first)
    ]


@asynccontextmanager
async def _opened(path: Path, model: EmbeddingProvider) -> AsyncIterator[Dataset]:
    opened = Dataset(str(path), model=model.model, dimensions=model.dimensions)
    yield opened
    await opened.close()


def _slower(grown: Sequence[Grown]) -> Figure:
    medians = {one.passages: statistics.median(one.times["hybrid"]) for one in grown}
    largest = max(medians)
    name = f"warm query at {number(largest)} passages against {number(BASE_SIZE)}"
    detail = ", ".join(f"{number(size)}: {number(median)} ms" for size, median in medians.items())
    return Figure(PART, name, MOST_SLOWER, medians[largest] / medians[BASE_SIZE], "×", detail)


def _recall(one: Grown) -> Figure:
    name = f"vector recall at {DEPTH}, {number(one.passages)} passages"
    return Figure(PART, name, LEAST_RECALL, one.recall, "", f"{PROBES} vectors, against all", at_most=False)


def _time(one: Grown) -> Figure:
    parts = ", ".join(f"{mode} alone {number(statistics.median(one.times[mode]))} ms" for mode in MODES[1:])
    detail = f"{spread(one.times['hybrid'])}; {parts}, the model's part {number(statistics.median(one.embedding))} ms"
    name = f"warm query, {number(one.passages)} passages"
    return Figure(PART, name, None, statistics.median(one.times["hybrid"]), "ms", detail)
