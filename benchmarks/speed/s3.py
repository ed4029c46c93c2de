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

from benchmarks.support.figures import Figure, number
from benchmarks.support.synthetic import dataset, item, item_count
from benchmarks.support.texts import questions
from knowledge.embedding.base import EmbeddingProvider
from knowledge.embedding.providers import LOCAL, provider
from knowledge.requests import ReadRequest, SearchRequest
from knowledge.scopes import Scope
from knowledge.service import KnowledgeService
from knowledge.store.dataset import Dataset
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
    """The most that a call of a kind may take. Waves are those of the median call, requests those of the worst."""

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
class Cost:
    """What one call took."""

    waves: int
    requests: int
    bytes: int


Costs = dict[str, list[Cost]]
"""Costs of the calls of each kind."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks one scope of one dataset; each question and each item once."""

    store: CountingServer
    bucket: str
    model: EmbeddingProvider
    questions: Sequence[str]
    items: Sequence[str]

    async def costs(self) -> Costs:
        """All kinds of calls."""
        first = [await self._first(question) for question in self.questions[:FIRSTS]]
        asked = iter(self.questions[FIRSTS:])
        reads = iter(self.items)
        async with self._service() as service:
            await self._each(lambda: _ask(service, next(asked)), WARM_UP)
            queries = await self._each(lambda: _ask(service, next(asked)), CALLS)
        # A process that only ever reads has nothing in memory that a search has left there.
        async with self._service() as service:
            await self._each(lambda: _read(service, next(reads)), WARM_UP)
            read = await self._each(lambda: _read(service, next(reads)), CALLS)
        return {"first query": first, "warm query": queries, "warm read": read}

    async def _first(self, question: str) -> Cost:
        async with self._service() as service:
            return await self._cost(lambda: _ask(service, question))

    async def _each(self, call: Call, times: int) -> list[Cost]:
        return [await self._cost(call) for _ in range(times)]

    async def _cost(self, call: Call) -> Cost:
        await asyncio.to_thread(self.store.take_requests)
        await call()
        made = await asyncio.to_thread(self.store.take_requests)
        return Cost(count_waves(made), len(made), sum(one.sent for one in made))

    @asynccontextmanager
    async def _service(self) -> AsyncIterator[KnowledgeService]:
        model = self.model
        opened = Dataset(
            f"s3://{self.bucket}",
            model=model.model,
            dimensions=model.dimensions,
            storage_options=self.store.options,
        )
        yield KnowledgeService(opened, model)
        await opened.close()


async def _ask(service: KnowledgeService, question: str) -> None:
    found = await service.search([Scope("team", TEAM)], SearchRequest(question))
    if not found.hits:
        raise RuntimeError(f"Nothing was found for {question!r}.")


async def _read(service: KnowledgeService, item_id: str) -> None:
    await service.read([Scope("team", TEAM)], ReadRequest(item_id))


def measure(folder: Path) -> list[Figure]:
    """The figures of this part."""
    alone = _costs(folder, {TEAM: PASSAGES})
    crowded = _costs(folder, {TEAM: PASSAGES, **OTHERS})
    large = _costs(folder, {TEAM: LARGE})
    return [
        *(_figure(target, alone[target.kind]) for target in TARGETS),
        *(_reported(kind, "bytes", costs, PASSAGES) for kind, costs in alone.items()),
        _change(alone, crowded),
        *(_reported(kind, measure, costs, LARGE, _TOO_LARGE) for kind, costs in large.items() for measure in MEASURES),
    ]


def _costs(folder: Path, scopes: dict[str, int]) -> Costs:
    path = dataset(folder, scopes)
    asked = questions(folder, FIRSTS + WARM_UP + CALLS)
    items = [item(TEAM, one) for one in range(item_count(scopes[TEAM]))]
    random.Random(1).shuffle(items)
    model = provider(LOCAL)
    model.embed_query("warm")
    with serve_counted(path.parent) as store:
        return asyncio.run(Asker(store, path.name, model, asked, items).costs())


def _figure(target: Target, costs: Sequence[Cost]) -> Figure:
    values = _values(costs, target.measure)
    value = statistics.median(values) if target.measure == "waves" else max(values)
    name = _name(target.kind, target.measure, target.when)
    return Figure(PART, name, target.most, value, "", _detail(values, PASSAGES))


def _reported(kind: str, measure: Measure, costs: Sequence[Cost], passages: int, when: str = "") -> Figure:
    scale, unit = (1000, "kB") if measure == "bytes" else (1, "")
    values = [value / scale for value in _values(costs, measure)]
    return Figure(PART, _name(kind, measure, when), None, statistics.median(values), unit, _detail(values, passages))


def _name(kind: str, measure: Measure, when: str) -> str:
    return ", ".join(filter(None, (kind, measure, when)))


def _change(alone: Costs, crowded: Costs) -> Figure:
    changes = {
        f"{kind}, {measure}": _ratio(_middle(crowded[kind], measure), _middle(alone[kind], measure))
        for kind in alone
        for measure in MEASURES
    }
    most = max(changes, key=lambda name: changes[name])
    detail = f"most of nine medians: {most}; {len(OTHERS)} scopes of {number(max(OTHERS.values()))} passages"
    return Figure(PART, "any of these beside 100 other scopes", MOST_CHANGE, changes[most], "×", detail)


def _ratio(value: float, base: float) -> float:
    if not base:
        return 1.0 if not value else float("inf")
    return value / base


def _middle(costs: Sequence[Cost], measure: Measure) -> float:
    return statistics.median(_values(costs, measure))


def _values(costs: Sequence[Cost], measure: Measure) -> list[int]:
    return [getattr(cost, measure) for cost in costs]


def _detail(values: Sequence[float], passages: int) -> str:
    middle = number(statistics.median(values))
    return (
        f"median {middle} ({number(min(values))}…{number(max(values))}, n={len(values)}), {number(passages)} passages"
    )
