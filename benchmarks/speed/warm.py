"""Overhead of a warm call: the whole handler against the libraries that it cannot do without.

A query is compared with its two LanceDB queries and the embedding of its question, a read with fetching one row by its
indexed address, `tools/list` with the SDK's session manager alone. Tool and baseline take turns in one process over the
same data, each turn with a question or an item of its own.
"""

from __future__ import annotations

import asyncio
import gc
import io
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.speed.baseline import BaselineSessionManager, BaselineTable
from benchmarks.support.calls import member_of, require_answer
from benchmarks.support.figures import Figure, format_spread
from benchmarks.support.synthetic import count_items, make_dataset, name_item
from benchmarks.support.texts import draw_questions, draw_vectors
from knowledge.embedding.base import EmbeddingProvider, Vectors
from knowledge.embedding.providers import LOCAL, provider
from knowledge.search.analysis import analyze_query
from knowledge.store.schema import current_address
from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from tests.support.calls import Context, logger, request, rest_event, stateless, tool_call

PART: Final = "warm"
PASSAGES: Final = 10_000
TEAM: Final = "main"
ROUNDS: Final = 300
WARM_UP: Final = 30
TURNS: Final = WARM_UP + ROUNDS

_HEADERS: Final = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
_CALLER: Final = member_of(TEAM)

Turn = Callable[[], float]
"""Runs one operation and returns the seconds that it took."""
Turns = tuple[Turn, Turn]
"""The tool's, and the baseline's."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison: pairs of turns, and how many times the baseline's median the tool may take."""

    name: str
    most: float | None
    turns: Iterator[Turns]

    def measure(self) -> Figure:
        """Run all turns and compare the medians."""
        ours, baseline = [], []
        for number in range(TURNS):
            tool, alone = next(self.turns)
            # They alternate in being first, so that the state of the processor's caches favours neither.
            times = [tool(), alone()] if number % 2 else [alone(), tool()][::-1]
            if number >= WARM_UP:
                ours.append(1000 * times[0])
                baseline.append(1000 * times[1])
        ratio = statistics.median(ours) / statistics.median(baseline)
        return Figure(
            PART, self.name, self.most, ratio, "×", f"tool {format_spread(ours)}, baseline {format_spread(baseline)}"
        )


@dataclass(slots=True)
class GivenVector:
    """A provider that returns the vector it was given, so that the model costs nothing."""

    inner: EmbeddingProvider
    vector: Vectors

    @property
    def model(self) -> str:
        """The model of the dataset."""
        return self.inner.model

    @property
    def dimensions(self) -> int:
        """The dimensions of the dataset."""
        return self.inner.dimensions

    def embed_query(self, text: str) -> Vectors:
        """Return the vector that was set last."""
        del text
        return self.vector

    def set_vector(self, vector: Vectors) -> None:
        """Set what `embed_query` returns."""
        self.vector = vector

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Not needed: nothing is published here."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Sides:
    """The tool and the baseline over one dataset, the latter on an event loop of its own."""

    handler: Handler
    model: EmbeddingProvider
    runner: asyncio.Runner
    table: BaselineTable

    def pair_queries(
        self, questions: Sequence[str], set_vector: Callable[[Vectors], None], known: Vectors
    ) -> Iterator[Turns]:
        """Yield turns with two new questions, one for each side."""
        for ours, theirs, vector in zip(questions[::2], questions[1::2], known, strict=True):
            set_vector(vector)
            terms = " ".join(analyze_query(theirs).terms)
            yield self._time_call({"query": ours}), self._time_baseline(partial(self._search, terms, theirs))

    def pair_reads(self, seed: int = 0) -> Iterator[Turns]:
        """Yield turns with two items, one for each side."""
        drawn, count = random.Random(seed), count_items(PASSAGES)
        while True:
            ours, theirs = (name_item(TEAM, drawn.randrange(count)) for _ in range(2))
            row = partial(self.table.read_row, current_address(theirs, 0))
            yield self._time_call({"knowledge_item_id": ours}), self._time_baseline(row)

    def pair_lists(self, manager: BaselineSessionManager, *, new_era: bool) -> Iterator[Turns]:
        """Yield turns with the same request, which has no arguments."""
        message, headers = request("tools/list"), dict[str, str]()
        if new_era:
            message, headers = stateless(message)
        event = rest_event(message, headers=headers, authorizer=_CALLER)
        body = event["body"].encode()
        pairs = [(name.lower().encode(), value.encode()) for name, value in (_HEADERS | headers).items()]
        while True:
            yield self._time_event(event), self._time_baseline(lambda: manager.answer(body, pairs))

    async def _search(self, terms: str, text: str) -> None:
        await self.table.search(terms, asyncio.to_thread(self.model.embed_query, text))

    def _time_call(self, arguments: Mapping[str, object]) -> Turn:
        return self._time_event(rest_event(tool_call(arguments), authorizer=_CALLER))

    def _time_event(self, event: Mapping[str, object]) -> Turn:
        def turn() -> float:
            started = time.perf_counter()
            answer = self.handler(event, Context())
            taken = time.perf_counter() - started
            require_answer(answer)
            return taken

        return turn

    def _time_baseline(self, work: Callable[[], Awaitable[object]]) -> Turn:
        async def time_once() -> float:
            started = time.perf_counter()
            await work()
            return time.perf_counter() - started

        return lambda: self.runner.run(time_once())


def measure(folder: Path) -> list[Figure]:
    """Measure the overhead of a query, a read and `tools/list`."""
    path, model = make_dataset(folder, {TEAM: PASSAGES}), provider(LOCAL)
    questions, known = draw_questions(folder, 4 * TURNS), draw_vectors(folder, TURNS)
    given = GivenVector(model, known[0])
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        stack.enter_context(redirect_stdout(io.StringIO()))
        table, manager = runner.run(BaselineTable.open(path, TEAM)), BaselineSessionManager()
        runner.run(manager.start())
        whole, fast = (
            Sides(stack.enter_context(_make_handler(path, each)), each, runner, table) for each in (model, given)
        )
        comparisons = [
            Comparison("query", 1.25, whole.pair_queries(questions[: 2 * TURNS], lambda _vector: None, known)),
            Comparison("query, vector given", None, fast.pair_queries(questions[2 * TURNS :], given.set_vector, known)),
            Comparison("addressed read", 1.5, whole.pair_reads()),
            Comparison("tools/list", 1.5, whole.pair_lists(manager, new_era=True)),
            Comparison("tools/list, handshake era", 1.5, whole.pair_lists(manager, new_era=False)),
        ]
        # As the function does after loading.
        gc.collect()
        gc.freeze()
        return [one.measure() for one in comparisons]


def _make_handler(path: Path, model: EmbeddingProvider) -> Handler:
    """Return the whole handler; its log and its metrics are written but not kept."""
    return Handler(Settings(uri=str(path), runtime_switch="on", metrics_namespace=PART), logger(), model)
