"""What the tool adds to a warm call: the whole handler against what it cannot do without.

A query is held against its two LanceDB queries and the embedding of its question, a read against fetching one row by
its indexed address, `tools/list` against the SDK's session manager alone. Both sides take turns in one process over
the same data, each turn with a question or an item of its own.
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

from benchmarks.speed.baseline import BareManager, BareTable
from benchmarks.support.calls import member_of, require_answer
from benchmarks.support.figures import Figure, spread
from benchmarks.support.synthetic import dataset, item, item_count
from benchmarks.support.texts import questions, vectors
from knowledge.embedding.base import EmbeddingProvider, Vectors
from knowledge.embedding.providers import LOCAL, provider
from knowledge.search.analysis import analyze_query
from knowledge.store.schema import current_address
from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from tests.support.front_door import Context, logger, request, rest_event, stateless, tool_call

PART: Final = "warm"
PASSAGES: Final = 10_000
TEAM: Final = "main"
ROUNDS: Final = 300
WARM_UP: Final = 30
TURNS: Final = WARM_UP + ROUNDS

_HEADERS: Final = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
_CALLER: Final = member_of(TEAM)

Turn = Callable[[], float]
"""Does one thing and returns the seconds that it took."""
Turns = tuple[Turn, Turn]
"""The tool's, and the bare side's."""


@dataclass(frozen=True, slots=True)
class Race:
    """Two sides of one comparison, and how many times the bare one the tool may take."""

    name: str
    most: float | None
    turns: Iterator[Turns]

    def figure(self) -> Figure:
        """Let them take turns."""
        ours, bare = [], []
        for number in range(TURNS):
            tool, alone = next(self.turns)
            # Neither side is always the one that finds the processor's caches as the other left them.
            times = [tool(), alone()] if number % 2 else [alone(), tool()][::-1]
            if number >= WARM_UP:
                ours.append(1000 * times[0])
                bare.append(1000 * times[1])
        ratio = statistics.median(ours) / statistics.median(bare)
        return Figure(PART, self.name, self.most, ratio, "×", f"tool {spread(ours)}, bare {spread(bare)}")


@dataclass(slots=True)
class GivenVector:
    """A provider that is given the next vector, so that the model costs nothing."""

    inner: EmbeddingProvider
    vector: Vectors

    @property
    def model(self) -> str:
        """The dataset's."""
        return self.inner.model

    @property
    def dimensions(self) -> int:
        """The dataset's."""
        return self.inner.dimensions

    def embed_query(self, text: str) -> Vectors:
        """The vector that was given."""
        del text
        return self.vector

    def tell(self, vector: Vectors) -> None:
        """Set the next one."""
        self.vector = vector

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Nothing is published here."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Sides:
    """The tool and the bare libraries over one dataset, the latter on an event loop of their own."""

    handler: Handler
    model: EmbeddingProvider
    runner: asyncio.Runner
    table: BareTable

    def queries(self, asked: Sequence[str], tell: Callable[[Vectors], None], known: Vectors) -> Iterator[Turns]:
        """Each time two questions that nobody asked before, one for each side."""
        for ours, theirs, vector in zip(asked[::2], asked[1::2], known, strict=True):
            tell(vector)
            terms = " ".join(analyze_query(theirs).terms)
            yield self._call({"query": ours}), self._bare(partial(self._searched, terms, theirs))

    def reads(self, seed: int = 0) -> Iterator[Turns]:
        """Each time two items, one for each side."""
        drawn, count = random.Random(seed), item_count(PASSAGES)
        while True:
            ours, theirs = (item(TEAM, drawn.randrange(count)) for _ in range(2))
            row = partial(self.table.row, current_address(theirs, 0))
            yield self._call({"knowledge_item_id": ours}), self._bare(row)

    def lists(self, manager: BareManager, *, new_era: bool) -> Iterator[Turns]:
        """The same request again and again; it has no arguments."""
        message, headers = request("tools/list"), dict[str, str]()
        if new_era:
            message, headers = stateless(message)
        event = rest_event(message, headers=headers, authorizer=_CALLER)
        body = event["body"].encode()
        pairs = [(name.lower().encode(), value.encode()) for name, value in (_HEADERS | headers).items()]
        while True:
            yield self._event(event), self._bare(lambda: manager.answer(body, pairs))

    async def _searched(self, terms: str, text: str) -> None:
        await self.table.search(terms, asyncio.to_thread(self.model.embed_query, text))

    def _call(self, arguments: Mapping[str, object]) -> Turn:
        return self._event(rest_event(tool_call(arguments), authorizer=_CALLER))

    def _event(self, event: Mapping[str, object]) -> Turn:
        def turn() -> float:
            started = time.perf_counter()
            answer = self.handler(event, Context())
            taken = time.perf_counter() - started
            require_answer(answer)
            return taken

        return turn

    def _bare(self, work: Callable[[], Awaitable[object]]) -> Turn:
        async def timed() -> float:
            started = time.perf_counter()
            await work()
            return time.perf_counter() - started

        return lambda: self.runner.run(timed())


def measure(folder: Path) -> list[Figure]:
    """Overheads of a query, a read and `tools/list`."""
    path, model = dataset(folder, {TEAM: PASSAGES}), provider(LOCAL)
    asked, known = questions(folder, 4 * TURNS), vectors(folder, TURNS)
    given = GivenVector(model, known[0])
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        stack.enter_context(redirect_stdout(io.StringIO()))
        table, manager = runner.run(BareTable.opened(path, TEAM)), BareManager()
        runner.run(manager.start())
        whole, fast = (Sides(stack.enter_context(_handler(path, each)), each, runner, table) for each in (model, given))
        races = [
            Race("query", 1.25, whole.queries(asked[: 2 * TURNS], lambda _vector: None, known)),
            Race("query, vector given", None, fast.queries(asked[2 * TURNS :], given.tell, known)),
            Race("addressed read", 1.5, whole.reads()),
            Race("tools/list", 1.5, whole.lists(manager, new_era=True)),
            Race("tools/list, handshake era", 1.5, whole.lists(manager, new_era=False)),
        ]
        # As the function does once it is loaded.
        gc.collect()
        gc.freeze()
        return [race.figure() for race in races]


def _handler(path: Path, model: EmbeddingProvider) -> Handler:
    """The whole handler, with its log and its metrics, which go nowhere."""
    return Handler(Settings(uri=str(path), runtime_switch="on", metrics_namespace=PART), logger(), model)
