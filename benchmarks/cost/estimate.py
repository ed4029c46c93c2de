"""Estimate the cost of a million calls: measured requests, milliseconds and log bytes, times list prices.

`make cost` measures, keeps the figures in `cost.json` and writes the tables of `docs/cost.md`; with `--kept` it only
writes them. Prices and assumptions in `cost.json` are for the operator to change. As a part of `make bench` it measures
and reports, and changes no file.
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

from benchmarks.cost import prices
from benchmarks.cost.prices import FIRST, LISTING, READ, SEARCH, Kind, PriceBook
from benchmarks.speed import cold
from benchmarks.support.calls import member_of, require_answer
from benchmarks.support.figures import Figure
from benchmarks.support.synthetic import make_dataset, name_item
from benchmarks.support.texts import draw_questions
from knowledge.embedding.base import EmbeddingProvider
from knowledge.embedding.providers import LOCAL, provider
from local_s3.counting_server import CountingServer, serve_counted
from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from tests.support.calls import Context, logger, request, rest_event, tool_call
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
"""Longer than a handle is valid, so that every call checks its tables again: the expensive case, of little traffic."""
_CALLER: Final = member_of(TEAM)


@dataclass(frozen=True, slots=True)
class CostBench:
    """The function over a scope of one size on a counting S3 server, and the questions for it."""

    store: CountingServer
    bucket: str
    passages: int
    model: EmbeddingProvider
    questions: Iterator[str]

    def measure_kinds(self) -> list[Kind]:
        """Measure first searches of new functions, and later searches and reads of one of them."""
        firsts = []
        for _ in range(FIRSTS):
            with self._open_function() as (handler, log):
                firsts.append(self._sample(handler, log, self._make_search()))
        with self._open_function() as (handler, log):
            self._sample(handler, log, self._make_search())
            searches = [self._sample_later(handler, log, self._make_search()) for _ in range(ROUNDS)]
            reads = [self._sample_later(handler, log, self._make_read(number)) for number in range(ROUNDS)]
        named = {FIRST: firsts, SEARCH: searches, READ: reads}
        return [_average(name, self.passages, samples) for name, samples in named.items()]

    def measure_listing(self) -> Kind:
        """Measure a request that needs no data."""
        with self._open_function() as (handler, log):
            samples = [self._sample(handler, log, request("tools/list")) for _ in range(ROUNDS + 1)]
        return _average(LISTING, 0, samples[1:])

    @contextlib.contextmanager
    def _open_function(self) -> Iterator[tuple[Handler, io.StringIO]]:
        log = io.StringIO()
        options, uri = self.store.options, f"s3://{self.bucket}"
        settings = Settings(uri, LOCAL, "on", storage_options=options, metrics_namespace=PART)
        with Handler(settings, logger(log), self.model) as handler:
            handler.prepare()
            yield handler, log

    def _make_search(self) -> dict[str, Any]:
        return tool_call({"query": next(self.questions)})

    def _make_read(self, number: int) -> dict[str, Any]:
        return tool_call({"knowledge_item_id": name_item(TEAM, number)})

    def _sample_later(self, handler: Handler, log: io.StringIO, message: dict[str, Any]) -> tuple[float, ...]:
        time.sleep(PAUSE_SECONDS)
        return self._sample(handler, log, message)

    def _sample(self, handler: Handler, log: io.StringIO, message: dict[str, Any]) -> tuple[float, ...]:
        """Return milliseconds, GETs, LISTs and log bytes of one call."""
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


def _average(name: str, passages: int, samples: Sequence[tuple[float, ...]]) -> Kind:
    return Kind(name, passages, *(round(statistics.fmean(column), 1) for column in zip(*samples, strict=True)))


def measure_costs(folder: Path) -> dict[str, Any]:
    """Measure all kinds of calls at all sizes, in the form of `cost.json`."""
    model = provider(LOCAL)
    model.embed_query("warm")
    kinds: list[Kind] = []
    for size in SIZES:
        path = make_dataset(folder, {TEAM: size})
        with serve_counted(path.parent) as store:
            bench = CostBench(store, path.name, size, model, iter(draw_questions(folder, FIRSTS + ROUNDS + 1)))
            kinds += [*(() if kinds else (bench.measure_listing(),)), *bench.measure_kinds()]
    return {"start_milliseconds": round(cold.measure_start(folder)), "kinds": [asdict(kind) for kind in kinds]}


def measure(folder: Path) -> list[Figure]:
    """Report dollars per million calls at each size, warm and cold; none has a target."""
    book = prices.parse_price_book({**read_figures(), "measured": measure_costs(folder)})
    memory_gb = read_memory_megabytes() / 1024
    return [figure for size in SIZES for figure in _make_figures(book, size, memory_gb)]


def _make_figures(book: PriceBook, size: int, memory_gb: float) -> Iterator[Figure]:
    where = f"{size:,} passages, list prices as of {book.as_of}"
    dollars_of = {
        "a million warm searches": sum(prices.price_warm(book, SEARCH, size, memory_gb).values()),
        "a million warm reads": sum(prices.price_warm(book, READ, size, memory_gb).values()),
        "a million cold searches": sum(prices.price_cold(book, size, memory_gb, snapshot=True).values()),
        "a million searches, as assumed": prices.price_mixed(book, size, memory_gb),
    }
    return (Figure(PART, name, None, dollars, "dollars", where) for name, dollars in dollars_of.items())


def read_memory_megabytes() -> int:
    """Read the default memory of the deployed function from the template."""
    return int(raw_template()["Parameters"]["MemorySize"]["Default"])


def read_figures() -> dict[str, Any]:
    """Read `cost.json`."""
    found: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Measure unless `--kept` is given, keep the figures, write the page."""
    parser = argparse.ArgumentParser(prog="cost", description="Compute what a million calls cost.")
    parser.add_argument("--kept", action="store_true", help="write the page from the last figures")
    if not parser.parse_args().kept:
        found = {**read_figures(), "measured": measure_costs(FOLDER)}
        FIGURES.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    book = prices.parse_price_book(read_figures())
    PAGE.write_text(
        prices.update_page(PAGE.read_text(encoding="utf-8"), book, read_memory_megabytes(), MARKS), encoding="utf-8"
    )
    print(prices.format_tables(book, read_memory_megabytes()))


if __name__ == "__main__":
    main()
