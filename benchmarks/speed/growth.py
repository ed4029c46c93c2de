"""Growth of a scope: the median of a warm query, and the recall of the vector index.

One scope of each size, on a local disk, queried through the service: everything but the protocol. The median includes
the embedding of the query, whose part is shown beside it.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from benchmarks.support.calls import open_dataset
from benchmarks.support.figures import Figure, format_number, format_spread
from benchmarks.support.synthetic import make_dataset
from benchmarks.support.texts import draw_questions, draw_vectors
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
"""Passages that the tool requests from the index; the first ten of them count."""

Passage = tuple[str, int]


@dataclass(frozen=True, slots=True)
class SizeResult:
    """Results of one size: milliseconds of queries by mode, those of the model alone, and the recall at ten."""

    passages: int
    times: dict[Mode, list[float]]
    embedding: list[float]
    recall: float


def measure(folder: Path) -> list[Figure]:
    """Measure all sizes."""
    model = provider(LOCAL)
    model.embed_query("warm")
    questions = draw_questions(folder, WARM_UP + QUERIES)
    near = draw_vectors(folder, PROBES, seed=2)
    grown = [
        asyncio.run(_measure_size(make_dataset(folder, {SCOPE.id: size}), size, model, questions, near))
        for size in SIZES
    ]
    return [_compare_sizes(grown), *(_report_recall(one) for one in grown), *(_report_time(one) for one in grown)]


async def _measure_size(
    path: Path, size: int, model: EmbeddingProvider, questions: Sequence[str], near: Vectors
) -> SizeResult:
    async with open_dataset(str(path), model) as dataset:
        service = KnowledgeService(dataset, model)
        times = {mode: await _time_queries(service, mode, questions) for mode in MODES}
        found = await _find_nearest(dataset, near)
    exact = await _find_exactly(path, near)
    recall = statistics.mean(len(one & other) / DEPTH for one, other in zip(found, exact, strict=True))
    return SizeResult(size, times, [_time_embedding(model, question) for question in questions], recall)


async def _time_queries(service: KnowledgeService, mode: Mode, questions: Sequence[str]) -> list[float]:
    times = [await _time_query(service, SearchRequest(question, mode=mode)) for question in questions]
    return times[WARM_UP:]


async def _time_query(service: KnowledgeService, request: SearchRequest) -> float:
    started = time.perf_counter()
    await service.search([SCOPE], request)
    return 1000 * (time.perf_counter() - started)


def _time_embedding(model: EmbeddingProvider, question: str) -> float:
    started = time.perf_counter()
    model.embed_query(question)
    return 1000 * (time.perf_counter() - started)


async def _find_nearest(dataset: Dataset, near: Vectors) -> list[set[Passage]]:
    snapshot = await dataset.snapshot(SCOPE)
    if snapshot is None:
        raise RuntimeError(f"There is no {SCOPE.name} in the dataset.")
    hits = [await snapshot.search_semantic(vector, "", (), POOL) for vector in near]
    return [{hit.passage for hit in each[:DEPTH]} for each in hits]


async def _find_exactly(path: Path, near: Vectors) -> list[set[Passage]]:
    """Find the ten nearest of each vector by comparing it with every stored one."""
    table = await (await connect(str(path), {})).open_table(SCOPE.current_table)
    best: list[list[tuple[float, Passage]]] = [[] for _ in near]
    rows = table.query().where("kind = 'passage'").select(["item_id", "start", "vector"])
    async for batch in await rows.to_batches():
        for position, found in enumerate(_find_nearest_in_batch(batch, near)):
            best[position] = sorted(best[position] + found, reverse=True)[:DEPTH]
    return [{passage for _, passage in each} for each in best]


def _find_nearest_in_batch(batch: pa.RecordBatch, near: Vectors) -> list[list[tuple[float, Passage]]]:
    column = batch.column("vector")
    stored = column.flatten().to_numpy(zero_copy_only=False).astype(np.float32).reshape(len(column), -1)
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    cosines = near @ stored.T
    items, starts = batch.column("item_id"), batch.column("start")
    first = np.argsort(-cosines, axis=1)[:, :DEPTH]
    return [
        [(float(cosines[row, at]), (items[at].as_py(), starts[at].as_py())) for at in positions.tolist()]
        for row, positions in enumerate(first)
    ]


def _compare_sizes(grown: Sequence[SizeResult]) -> Figure:
    medians = {one.passages: statistics.median(one.times["hybrid"]) for one in grown}
    largest = max(medians)
    name = f"warm query at {format_number(largest)} passages against {format_number(BASE_SIZE)}"
    detail = ", ".join(f"{format_number(size)}: {format_number(median)} ms" for size, median in medians.items())
    return Figure(PART, name, MOST_SLOWER, medians[largest] / medians[BASE_SIZE], "×", detail)


def _report_recall(one: SizeResult) -> Figure:
    name = f"vector recall at {DEPTH}, {format_number(one.passages)} passages"
    return Figure(PART, name, LEAST_RECALL, one.recall, "", f"{PROBES} vectors, against all", at_most=False)


def _report_time(one: SizeResult) -> Figure:
    parts = ", ".join(f"{mode} alone {format_number(statistics.median(one.times[mode]))} ms" for mode in MODES[1:])
    model = f"the model's part {format_number(statistics.median(one.embedding))} ms"
    detail = f"{format_spread(one.times['hybrid'])}; {parts}, {model}"
    name = f"warm query, {format_number(one.passages)} passages"
    return Figure(PART, name, None, statistics.median(one.times["hybrid"]), "ms", detail)
