"""What a million calls cost: measured requests, milliseconds and log bytes, times list prices.

`make cost` measures, keeps the figures in `cost.json` beside the prices and assumptions, which are for the
operator to change, and writes the tables of `docs/cost.md`; with `--kept` it only writes them. As a part of
`make bench` it measures and reports, and changes no file.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.cost.prices import FIRST, LISTING, READ, SEARCH, Book, Kind, book_from, mixed, page, tables
from benchmarks.cost.prices import cold as cold_price
from benchmarks.cost.prices import warm as warm_price
from benchmarks.speed import cold
from benchmarks.support.calls import member_of, require_answer
from benchmarks.support.figures import Figure
from benchmarks.support.synthetic import dataset, item
from benchmarks.support.texts import questions
from knowledge.embedding.base import EmbeddingProvider
from knowledge.embedding.providers import LOCAL, provider
from local_s3.counting_server import CountingServer, serve_counted
from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from tests.support.front_door import Context, logger, request, rest_event, tool_call
from tests.support.template import raw_template

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / ".data/bench"
FIGURES: Final = ROOT / "benchmarks/cost/cost.json"
PAGE: Final = ROOT / "docs/cost.md"
MARKS: Final = ("<!-- measured -->", "<!-- end -->")

PART: Final = "cost"
TEAM: Final = "main"
SIZES: Final = (1_000, 10_000, 100_000)
ROUNDS: Final = 4
FIRSTS: Final = 3
PAUSE_SECONDS: Final = 3.1
"""Longer than a handle lives, so that every call looks at its tables again: the expensive case, of little traffic."""
_CALLER: Final = member_of(TEAM)


@dataclass(frozen=True, slots=True)
class Bench:
    """The function over a scope of one size on a counting S3 server, and what is asked of it."""

    store: CountingServer
    bucket: str
    passages: int
    model: EmbeddingProvider
    asked: Iterator[str]

    def kinds(self) -> list[Kind]:
        """First searches of new functions, and then searches and reads of one of them."""
        firsts = []
        for _ in range(FIRSTS):
            with self._function() as (handler, log):
                firsts.append(self._sample(handler, log, self._search()))
        with self._function() as (handler, log):
            self._sample(handler, log, self._search())
            searches = [self._later(handler, log, self._search()) for _ in range(ROUNDS)]
            reads = [self._later(handler, log, self._read(number)) for number in range(ROUNDS)]
        named = {FIRST: firsts, SEARCH: searches, READ: reads}
        return [_kind(name, self.passages, samples) for name, samples in named.items()]

    def listing(self) -> Kind:
        """A request that needs no data."""
        with self._function() as (handler, log):
            samples = [self._sample(handler, log, request("tools/list")) for _ in range(ROUNDS + 1)]
        return _kind(LISTING, 0, samples[1:])

    @contextlib.contextmanager
    def _function(self) -> Iterator[tuple[Handler, io.StringIO]]:
        log = io.StringIO()
        options, uri = self.store.options, f"s3://{self.bucket}"
        settings = Settings(uri, LOCAL, "on", storage_options=options, metrics_namespace=PART)
        with Handler(settings, logger(log), self.model) as handler:
            handler.prepare()
            yield handler, log

    def _search(self) -> dict[str, Any]:
        return tool_call({"query": next(self.asked)})

    def _read(self, number: int) -> dict[str, Any]:
        return tool_call({"knowledge_item_id": item(TEAM, number)})

    def _later(self, handler: Handler, log: io.StringIO, message: dict[str, Any]) -> tuple[float, ...]:
        time.sleep(PAUSE_SECONDS)
        return self._sample(handler, log, message)

    def _sample(self, handler: Handler, log: io.StringIO, message: dict[str, Any]) -> tuple[float, ...]:
        """Milliseconds, GETs, LISTs and log bytes of one call."""
        event, printed, before = rest_event(message, authorizer=_CALLER), io.StringIO(), len(log.getvalue())
        self.store.take_requests()
        with contextlib.redirect_stdout(printed):
            started = time.perf_counter()
            answer = handler(event, Context())
            milliseconds = 1000 * (time.perf_counter() - started)
        require_answer(answer)
        requests = self.store.take_requests()
        lists = sum(one.kind == "LIST" for one in requests)
        return milliseconds, len(requests) - lists, lists, len(log.getvalue()) - before + len(printed.getvalue())


def _kind(name: str, passages: int, samples: Sequence[tuple[float, ...]]) -> Kind:
    return Kind(name, passages, *(round(statistics.fmean(column), 1) for column in zip(*samples, strict=True)))


def measured(folder: Path) -> dict[str, Any]:
    """All that is measured, as `cost.json` keeps it."""
    model = provider(LOCAL)
    model.embed_query("warm")
    kinds: list[Kind] = []
    for size in SIZES:
        path = dataset(folder, {TEAM: size})
        with serve_counted(path.parent) as store:
            bench = Bench(store, path.name, size, model, iter(questions(folder, FIRSTS + ROUNDS + 1)))
            kinds += [*(() if kinds else (bench.listing(),)), *bench.kinds()]
    return {"start_milliseconds": round(cold.start_of_ours(folder)), "kinds": [asdict(kind) for kind in kinds]}


def measure(folder: Path) -> list[Figure]:
    """Dollars per million calls at each size, warm and cold; none has a target."""
    book = book_from({**kept(), "measured": measured(folder)})
    memory_gb = memory_of_template() / 1024
    return [figure for size in SIZES for figure in _figures(book, size, memory_gb)]


def _figures(book: Book, size: int, memory_gb: float) -> Iterator[Figure]:
    where = f"{size:,} passages, list prices as of {book.as_of}"
    prices = {
        "a million warm searches": sum(warm_price(book, SEARCH, size, memory_gb).values()),
        "a million warm reads": sum(warm_price(book, READ, size, memory_gb).values()),
        "a million cold searches": sum(cold_price(book, size, memory_gb, snapshot=True).values()),
        "a million searches, as assumed": mixed(book, size, memory_gb),
    }
    return (Figure(PART, name, None, dollars, "dollars", where) for name, dollars in prices.items())


def memory_of_template() -> int:
    """Megabytes of the function as it is deployed by default."""
    return int(raw_template()["Parameters"]["MemorySize"]["Default"])


def kept() -> dict[str, Any]:
    """What `cost.json` holds."""
    found: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Measure unless asked not to, keep the figures, write the page."""
    parser = argparse.ArgumentParser(prog="cost", description="Compute what a million calls cost.")
    parser.add_argument("--kept", action="store_true", help="write the page from the figures of the last time")
    if not parser.parse_args().kept:
        found = {**kept(), "measured": measured(FOLDER)}
        FIGURES.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    book = book_from(kept())
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), book, memory_of_template(), MARKS), encoding="utf-8")
    print(tables(book, memory_of_template()))


if __name__ == "__main__":
    main()
