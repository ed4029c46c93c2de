"""What a million calls cost: measured requests, milliseconds and log bytes, times AWS's list prices.

`make cost` measures, keeps the figures in `benchmarks/cost.json` and writes the tables of `docs/cost.md` from them.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from knowledge.embedding import LOCAL, provider
from publish_knowledge.documents import Document, item_source
from publish_knowledge.embedder import Embedder
from publish_knowledge.publish import publish
from publish_knowledge.store import Store
from search_knowledge.app import Handler, build_handler
from search_knowledge.settings import Settings
from tests.support.datasets import ANA, Location, item
from tests.support.front_door import Context, logger, request, rest_event, tool_call
from tests.support.s3 import S3Server
from tests.support.template import raw_template

ROOT: Final = Path(__file__).resolve().parent.parent
FIGURES: Final = ROOT / "benchmarks/cost.json"
PAGE: Final = ROOT / "docs/cost.md"
MARKS: Final = ("<!-- measured -->", "<!-- end -->")

ROUNDS: Final = 5
PAUSE_SECONDS: Final = 3.1
"""Longer than a handle lives, so that every call looks at its tables anew: the dear case, of little traffic."""
WAIT_SECONDS: Final = 0.02
"""What S3 takes for the first byte; the server on this machine would answer at once."""
DOCUMENTS: Final = 12
WORDS: Final = 200
NAMESPACE: Final = "cost"

# --- List prices in dollars, us-east-1, without free allowances; see the pages that `docs/cost.md` names. ---
LAMBDA_REQUEST: Final = 0.20e-6
LAMBDA_GB_SECOND: Final = 0.0000133334  # arm64
GATEWAY_REQUEST: Final = 3.50e-6  # REST
S3_GET: Final = 0.40e-6
S3_LIST: Final = 5.00e-6
LOG_GB: Final = 0.50
SNAPSHOT_GB_SECOND: Final = 0.0000015046
SNAPSHOT_RESTORE_GB: Final = 0.0001397998

# --- Assumptions. ---
REQUESTS_PER_CALL: Final = 3
"""Requests of a client for each call of the tool: its share of a handshake and of listings, and the call itself."""
AUTHORIZER_SHARE: Final = 0.2
"""Requests for which the authorizer runs; its answer is kept for a minute."""
AUTHORIZER_GB_SECONDS: Final = 0.5 * 0.02
PLATFORM_LOG_BYTES: Final = 700
"""Lambda's own lines about each request."""
SECONDS_PER_MONTH: Final = 30 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Kind:
    """Means of one kind of request. `log_bytes` are those of the function's own lines, metrics included."""

    name: str
    milliseconds: float
    gets: float
    lists: float
    log_bytes: float


class SlowLine:
    """A relay before a server that lets every request wait as the network and S3 would."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._port))
                for source, target, wait in ((client, server, WAIT_SECONDS), (server, client, 0.0)):
                    threading.Thread(target=_relay, args=(source, target, wait), daemon=True).start()


def _relay(source: socket.socket, target: socket.socket, wait: float) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            time.sleep(wait)
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextmanager
def bench() -> Iterator[tuple[S3Server, Location, Handler, io.StringIO]]:
    """A published base on an S3 server, and the function with its metrics on, behind a slow line."""
    server = S3Server()
    server.start()
    line = SlowLine(server.get_host_and_port()[1])
    where = server.bucket()
    asyncio.run(_publish(where))
    options = {**where.options, "endpoint": f"http://127.0.0.1:{line.port}"}
    settings = Settings(where.uri, LOCAL, "on", storage_options=options, metrics_namespace=NAMESPACE)
    log = io.StringIO()
    try:
        with build_handler(settings, logger(log)) as handler:
            handler.prepare()
            yield server, where, handler, log
    finally:
        line.close()
        server.stop()


async def _publish(where: Location) -> None:
    model = provider(LOCAL)
    texts = [
        f"# Pump {number}\n\n" + " ".join(f"valve{(number * word) % 97} opens" for word in range(WORDS))
        for number in range(DOCUMENTS)
    ]
    documents = [
        Document(f"{number}.md", text, f"Pump {number}", "en", "markdown", item_source(f"{number}.md", None))
        for number, text in enumerate(texts)
    ]
    async with Store(where.uri, model.model, model.dimensions, where.options) as store:
        await publish(store, ANA, "notes", documents, embedder=Embedder(model))


def measure() -> list[Kind]:
    """Warm calls of each kind, each after a pause."""
    asked: dict[str, dict[str, Any]] = {
        "search, hybrid": tool_call({"query": "which valve opens pump 7"}),
        "search, lexical": tool_call({"query": "which valve opens pump 7", "mode": "lexical"}),
        "read": tool_call({"knowledge_item_id": item(ANA, "notes", "7.md")}),
        "handshake or listing": request("tools/list"),
    }
    with bench() as (server, _where, handler, log):
        return [_measured(name, message, server, handler, log) for name, message in asked.items()]


def _measured(name: str, message: dict[str, Any], server: S3Server, handler: Handler, log: io.StringIO) -> Kind:
    event, samples = rest_event(message), []
    for number in range(ROUNDS + 1):
        time.sleep(PAUSE_SECONDS)
        before, printed = len(log.getvalue()), io.StringIO()
        with server.recorded() as requests, contextlib.redirect_stdout(printed):
            started = time.perf_counter()
            answer = handler(event, Context())
            milliseconds = 1000 * (time.perf_counter() - started)
        if answer["statusCode"] != HTTPStatus.OK or '"isError":true' in answer["body"]:
            raise RuntimeError(f"{name} failed: {answer['body']}")
        if number:  # the first one met a cold function
            lists = sum("list-type" in one.query for one in requests)
            size = len(log.getvalue()) - before + len(printed.getvalue())
            samples.append((milliseconds, len(requests) - lists, lists, size))
    columns = [round(statistics.fmean(column), 1) for column in zip(*samples, strict=True)]
    return Kind(name, *columns)


def dollars_per_million(kind: Kind, memory_gb: float) -> dict[str, float]:
    """The parts of a million such requests' price, gateway and authorizer included."""
    seconds = kind.milliseconds / 1000
    authorizer = AUTHORIZER_SHARE * (LAMBDA_REQUEST + AUTHORIZER_GB_SECONDS * LAMBDA_GB_SECOND)
    parts = {
        "API Gateway": GATEWAY_REQUEST,
        "Lambda": LAMBDA_REQUEST + seconds * memory_gb * LAMBDA_GB_SECOND + authorizer,
        "S3": kind.gets * S3_GET + kind.lists * S3_LIST,
        "CloudWatch logs": (kind.log_bytes + PLATFORM_LOG_BYTES) / 1e9 * LOG_GB,
    }
    return {name: 1e6 * value for name, value in parts.items()}


def tables(kinds: list[Kind], memory_mb: int) -> str:
    """The Markdown of both tables and what lies around them."""
    memory_gb = memory_mb / 1024
    prices = {kind.name: dollars_per_million(kind, memory_gb) for kind in kinds}
    parts = list(next(iter(prices.values())))
    overhead = (REQUESTS_PER_CALL - 1) * sum(prices["handshake or listing"].values())
    lines = ["| one request | ms | S3 GET | S3 LIST | log bytes |", "|---|---|---|---|---|"]
    lines += [
        f"| {one.name} | {one.milliseconds:.0f} | {one.gets:.1f} | {one.lists:.1f} | {one.log_bytes:.0f} |"
        for one in kinds
    ]
    head = " | ".join(parts)
    lines += [
        "",
        f"| a million of | {head} | with {REQUESTS_PER_CALL} requests a call |",
        "|---" * (len(parts) + 2) + "|",
    ]
    for name, price in prices.items():
        total = "" if name == "handshake or listing" else f"${sum(price.values()) + overhead:.2f}"
        lines.append(f"| {name} | " + " | ".join(f"${price[part]:.2f}" for part in parts) + f" | {total} |")
    month = SNAPSHOT_GB_SECOND * memory_gb * SECONDS_PER_MONTH
    restore = 1e6 * SNAPSHOT_RESTORE_GB * memory_gb
    lines += ["", f"Memory: {memory_mb} MB. Its snapshot costs ${month:.2f} a month while it is kept, and a million"]
    lines += [f"restores ${restore:.2f}."]
    return "\n".join(lines)


def page(text: str, kinds: list[Kind], memory_mb: int) -> str:
    """The document with its measured part written anew."""
    before, _, rest = text.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    return f"{before}{MARKS[0]}\n{tables(kinds, memory_mb)}\n{MARKS[1]}{after}"


def memory_of_template() -> int:
    """Megabytes of the function as it is deployed unless told."""
    return int(raw_template()["Parameters"]["MemorySize"]["Default"])


def kept() -> list[Kind]:
    """The figures of the last measuring."""
    return [Kind(**one) for one in json.loads(FIGURES.read_text(encoding="utf-8"))]


def main() -> None:
    """Measure, keep the figures, write the page."""
    FIGURES.write_text(json.dumps([asdict(kind) for kind in measure()], indent=2) + "\n", encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), kept(), memory_of_template()), encoding="utf-8")
    print(tables(kept(), memory_of_template()))


if __name__ == "__main__":
    main()
