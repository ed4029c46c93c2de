"""What a call asks of S3: round trips that wait for each other, requests and bytes, for a caller with one scope.

The server counts and lets each request wait 20 ms. A first query is one of a service that has opened nothing yet; a
warm query or read is a random one that the process was not asked before. Then a hundred other scopes are published
beside the first, which must change nothing.
"""

from __future__ import annotations

import asyncio
import random
import statistics
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from benchmarks.support.calls import open_dataset
from benchmarks.support.figures import Figure, format_number
from benchmarks.support.synthetic import count_items, make_dataset, name_item
from benchmarks.support.texts import draw_questions
from knowledge.embedding.base import EmbeddingProvider
from knowledge.embedding.providers import LOCAL, provider
from knowledge.requests import ReadRequest, SearchRequest
from knowledge.scopes import Scope
from knowledge.service import KnowledgeService
from local_s3.counting_server import CountingServer, count_waves, serve_counted

PART: Final = "s3"
TEAM: Final = "main"
PASSAGES: Final = 10_000
LARGE: Final = 100_000
OTHERS: Final = {f"other-{number}": 1_000 for number in range(100)}
FIRSTS: Final = 9
CALLS: Final = 60
WARM_UP: Final = 5
MOST_CHANGE: Final = 1.05
_TOO_LARGE: Final = "in a scope too large to be held in memory"

Measure = Literal["waves", "requests", "bytes"]
MEASURES: Final[tuple[Measure, ...]] = ("waves", "requests", "bytes")
Call = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Target:
    """The most that a call of a kind may take: waves of the median call, requests of the worst."""

    kind: str
    measure: Measure
    most: float
    when: str = ""


TARGETS: Final = (
    Target("warm query", "waves", 3),
    Target("warm query", "requests", 20),
    Target("warm query", "requests", 8, "its index prewarmed, as it always is at this size"),
    Target("first query", "waves", 8),
    Target("first query", "requests", 60),
    Target("warm read", "waves", 2),
    Target("warm read", "requests", 6),
)


@dataclass(frozen=True, slots=True)
class CallCost:
    """Waves, requests and bytes of one call."""

    waves: int
    requests: int
    bytes: int


Costs = dict[str, list[CallCost]]
"""Costs of calls by kind."""


@dataclass(frozen=True, slots=True)
class Client:
    """Queries and reads one scope of a dataset, with each question and each item once."""

    store: CountingServer
    bucket: str
    model: EmbeddingProvider
    questions: Sequence[str]
    items: Sequence[str]

    async def measure_calls(self) -> Costs:
        """Measure calls of all kinds."""
        first = [await self._measure_first(question) for question in self.questions[:FIRSTS]]
        questions = iter(self.questions[FIRSTS:])
        reads = iter(self.items)
        async with self._open_service() as service:
            await self._measure_each(lambda: _ask(service, next(questions)), WARM_UP)
            queries = await self._measure_each(lambda: _ask(service, next(questions)), CALLS)
        # A process that only reads has nothing in its caches from searches.
        async with self._open_service() as service:
            await self._measure_each(lambda: _read(service, next(reads)), WARM_UP)
            read = await self._measure_each(lambda: _read(service, next(reads)), CALLS)
        return {"first query": first, "warm query": queries, "warm read": read}

    async def _measure_first(self, question: str) -> CallCost:
        async with self._open_service() as service:
            return await self._measure(lambda: _ask(service, question))

    async def _measure_each(self, call: Call, times: int) -> list[CallCost]:
        return [await self._measure(call) for _ in range(times)]

    async def _measure(self, call: Call) -> CallCost:
        await asyncio.to_thread(self.store.take_requests)
        await call()
        made = await asyncio.to_thread(self.store.take_requests)
        return CallCost(count_waves(made), len(made), sum(one.sent for one in made))

    @asynccontextmanager
    async def _open_service(self) -> AsyncIterator[KnowledgeService]:
        async with open_dataset(f"s3://{self.bucket}", self.model, self.store.options) as dataset:
            yield KnowledgeService(dataset, self.model)


async def _ask(service: KnowledgeService, question: str) -> None:
    found = await service.search([Scope("team", TEAM)], SearchRequest(question))
    if not found.hits:
        raise RuntimeError(f"nothing was found for {question!r}")


async def _read(service: KnowledgeService, item_id: str) -> None:
    await service.read([Scope("team", TEAM)], ReadRequest(item_id))


def measure(folder: Path) -> list[Figure]:
    """Measure one scope alone, beside others, and a large one."""
    alone = _measure_scopes(folder, {TEAM: PASSAGES})
    crowded = _measure_scopes(folder, {TEAM: PASSAGES, **OTHERS})
    large = _measure_scopes(folder, {TEAM: LARGE})
    return [
        *(_make_figure(target, alone[target.kind]) for target in TARGETS),
        *(_report(kind, "bytes", costs, PASSAGES) for kind, costs in alone.items()),
        _compare_crowded(alone, crowded),
        *(_report(kind, measure, costs, LARGE, _TOO_LARGE) for kind, costs in large.items() for measure in MEASURES),
    ]


def _measure_scopes(folder: Path, scopes: dict[str, int]) -> Costs:
    path = make_dataset(folder, scopes)
    questions = draw_questions(folder, FIRSTS + WARM_UP + CALLS)
    items = [name_item(TEAM, one) for one in range(count_items(scopes[TEAM]))]
    random.Random(1).shuffle(items)
    model = provider(LOCAL)
    model.embed_query("warm")
    with serve_counted(path.parent) as store:
        return asyncio.run(Client(store, path.name, model, questions, items).measure_calls())


def _make_figure(target: Target, costs: Sequence[CallCost]) -> Figure:
    values = _read_values(costs, target.measure)
    value = statistics.median(values) if target.measure == "waves" else max(values)
    name = _name_figure(target.kind, target.measure, target.when)
    return Figure(PART, name, target.most, value, "", _describe(values, PASSAGES))


def _report(kind: str, measure: Measure, costs: Sequence[CallCost], passages: int, when: str = "") -> Figure:
    scale, unit = (1000, "kB") if measure == "bytes" else (1, "")
    values = [value / scale for value in _read_values(costs, measure)]
    return Figure(
        PART, _name_figure(kind, measure, when), None, statistics.median(values), unit, _describe(values, passages)
    )


def _name_figure(kind: str, measure: Measure, when: str) -> str:
    return ", ".join(filter(None, (kind, measure, when)))


def _compare_crowded(alone: Costs, crowded: Costs) -> Figure:
    changes = {
        f"{kind}, {measure}": _divide(_compute_median(crowded[kind], measure), _compute_median(alone[kind], measure))
        for kind in alone
        for measure in MEASURES
    }
    most = max(changes, key=lambda name: changes[name])
    detail = f"most of nine medians: {most}; {len(OTHERS)} scopes of {format_number(max(OTHERS.values()))} passages"
    return Figure(PART, "any of these beside 100 other scopes", MOST_CHANGE, changes[most], "×", detail)


def _divide(value: float, base: float) -> float:
    if not base:
        return 1.0 if not value else float("inf")
    return value / base


def _compute_median(costs: Sequence[CallCost], measure: Measure) -> float:
    return statistics.median(_read_values(costs, measure))


def _read_values(costs: Sequence[CallCost], measure: Measure) -> list[int]:
    return [getattr(cost, measure) for cost in costs]


def _describe(values: Sequence[float], passages: int) -> str:
    middle, least, most = map(format_number, (statistics.median(values), min(values), max(values)))
    return f"median {middle} ({least}…{most}, n={len(values)}), {format_number(passages)} passages"
