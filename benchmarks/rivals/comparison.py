"""What a user would pick instead, on the same corpus, questions and machine: who wins, and by how much.

haiku.rag for the search; FastMCP, the SDK's own upper server and AWS Labs' handler for the protocol. Every contestant,
this project among them, is a process with a Python 3.13, and they take turns.
"""

from __future__ import annotations

import base64
import json
import statistics
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import lancedb
import numpy as np

from benchmarks.rivals.worker import ROOT, Turn, Worker
from benchmarks.speed.cold import make, plain_layer, sample_dataset
from benchmarks.support.calls import member_of
from benchmarks.support.figures import Figure, spread
from knowledge.embedding.base import Vectors
from knowledge.embedding.providers import LOCAL, provider
from knowledge.scopes import Scope
from publish_knowledge.evaluation.metrics import DEPTH, compute_metrics
from publish_knowledge.evaluation.qrels import Query, read_qrels
from tests.support.front_door import rest_event, tool_call

PART: Final = "rivals"
NEEDED: Final = (".venv-lambda/.installed", ".venv-rivals/.installed")
SCOPES: Final = (Scope("owner", "ana"), Scope("team", "support"), Scope("team", "field"))
CALLER: Final = member_of("support", "field")
QUERY_PREFIX: Final = "query: "
PASSAGE_PREFIX: Final = "passage: "

SEARCH_ROUNDS: Final = 6
"""Of all questions; the first is for warming up."""
CHUNKS_FOR_ITEMS: Final = 50
"""Chunks that haiku.rag is asked for where its quality is measured, so that ten documents are among them."""
PROTOCOL_ROUNDS: Final = 300
WARM_UP: Final = 30
PROTOCOLS: Final = ("fastmcp", "fastmcp-kept", "sdk", "sdk-kept", "awslabs")
NAMES: Final = {
    "fastmcp": "FastMCP on Mangum",
    "fastmcp-kept": "FastMCP on Mangum, kept open",
    "sdk": "the SDK's FastMCP on Mangum",
    "sdk-kept": "the SDK's FastMCP on Mangum, kept open",
    "awslabs": "AWS Labs' handler",
}


def measure(folder: Path) -> list[Figure]:
    """Search first, then the protocol; none has a target."""
    make(*NEEDED)
    kept = folder / "cold"
    uri = sample_dataset(kept)
    path = [ROOT / "functions", ROOT / "layers/knowledge", plain_layer(kept) / "python"]
    with ExitStack() as stack:
        ours = stack.enter_context(Worker(_python("lambda"), "rivals.ours", ["search", uri], path))
        haiku = stack.enter_context(_haiku(uri, kept))
        found = _search(ours, haiku)
    with ExitStack() as stack:
        ours = stack.enter_context(Worker(_python("lambda"), "rivals.ours", ["protocol"], path))
        rivals = {
            name: stack.enter_context(Worker(_python("rivals"), "rivals.protocols", [name])) for name in PROTOCOLS
        }
        return found + _protocol(ours, rivals)


def _python(environment: str) -> Path:
    return ROOT / f".venv-{environment}/bin/python"


# --- Search ---


def _search(ours: Worker, haiku: Worker) -> list[Figure]:
    queries = read_qrels(ROOT / "examples/eval").queries
    pairs = [(_ask(ours, query), _ask_haiku(haiku, query, DEPTH)) for _ in range(SEARCH_ROUNDS) for query in queries]
    warm = pairs[len(queries) :]
    times = [[one.milliseconds for one in side] for side in zip(*warm, strict=True)]
    ratio = statistics.median(times[0]) / statistics.median(times[1])
    quality = [
        statistics.fmean(
            compute_metrics(ranking, query.grades).ndcg for ranking, query in zip(side, queries, strict=True)
        )
        for side in (
            [_sources(_ask(ours, query)) for query in queries],
            [_ask_haiku(haiku, query, CHUNKS_FOR_ITEMS).answer for query in queries],
        )
    ]
    asked = f"{len(queries)} questions on the sample base"
    return [
        Figure(PART, "search / haiku.rag's", None, ratio, "×", f"ours {spread(times[0])}, theirs {spread(times[1])}"),
        Figure(PART, "nDCG@10", None, quality[0], "", asked),
        Figure(PART, "nDCG@10 of haiku.rag", None, quality[1], "", f"{asked}, the same passages and vectors"),
    ]


def _ask(ours: Worker, query: Query) -> Turn:
    return _good(ours.ask(rest_event(tool_call({"query": query.text}), authorizer=CALLER)))


def _ask_haiku(haiku: Worker, query: Query, limit: int) -> Turn:
    return _good(haiku.ask({"query": query.text, "limit": limit}))


def _good(turn: Turn) -> Turn:
    if turn.error or (isinstance(turn.answer, dict) and turn.answer["statusCode"] != 200):  # noqa: PLR2004 - HTTP's OK
        raise RuntimeError(turn.error or f"answered {turn.answer}")
    return turn


def _sources(turn: Turn) -> list[str]:
    results = json.loads(turn.answer["body"])["result"]["structuredContent"]["results"]
    return [one["source"]["uri"] for one in results]


@contextmanager
def _haiku(uri: str, kept: Path) -> Iterator[Worker]:
    """haiku.rag with a new database of our passages, its embedder a server of this process."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="haiku-", dir=kept))
        endpoint = stack.enter_context(_embedder())
        haiku = stack.enter_context(Worker(_python("rivals"), "rivals.haiku", [folder, endpoint]))
        _good(haiku.ask({"documents": _documents(uri)}))
        yield haiku


def _documents(uri: str) -> dict[str, list[dict[str, Any]]]:
    """The published passages of every document, in order, by the document's source path."""
    documents: dict[str, list[dict[str, Any]]] = {}
    connection = lancedb.connect(uri)
    for scope in SCOPES:
        rows = connection.open_table(scope.current_table).search().where("kind = 'passage'").limit(10_000).to_list()
        for row in sorted(rows, key=lambda row: (row["source_uri"], row["ordinal"])):
            headings = [row["title"], *filter(None, [row["heading"]])]
            passage = {"text": row["text"], "title": row["title"], "headings": headings}
            documents.setdefault(row["source_uri"], []).append(passage)
    return documents


# --- An OpenAI-compatible endpoint with the project's model ---


@contextmanager
def _embedder() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Embeddings)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


class _Embeddings(BaseHTTPRequestHandler):
    """`POST /v1/embeddings`; the prefixes tell questions and passages apart."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        data = [
            {"object": "embedding", "index": index, "embedding": _coded(_vector(text), asked)}
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        body = json.dumps({"object": "list", "model": asked["model"], "data": data, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the base class has it
        """Nothing."""


def _vector(text: str) -> Vectors:
    model = cache(provider)(LOCAL)
    if text.startswith(QUERY_PREFIX):
        return model.embed_query(text.removeprefix(QUERY_PREFIX))
    vectors = model.embed_passages([text.removeprefix(PASSAGE_PREFIX)])
    return np.asarray(vectors[0])


def _coded(vector: Vectors, asked: dict[str, Any]) -> str | list[float]:
    if asked.get("encoding_format") == "base64":
        return base64.b64encode(vector.astype(np.float32).tobytes()).decode()
    return [float(value) for value in vector]


# --- Protocol ---


def _protocol(ours: Worker, rivals: dict[str, Worker]) -> list[Figure]:
    events = {
        "tools/list": json.loads((ROOT / "events/tools-list-2025.json").read_text(encoding="utf-8"))["event"],
        "a trivial call": json.loads((ROOT / "events/search.json").read_text(encoding="utf-8"))["event"],
    }
    figures = []
    for name, rival in rivals.items():
        for kind, event in events.items():
            turns = [(_good(ours.ask(event)), rival.ask(event)) for _ in range(WARM_UP + PROTOCOL_ROUNDS)]
            figures.append(_compared(name, kind, turns))
    return figures


def _compared(name: str, kind: str, turns: Sequence[tuple[Turn, Turn]]) -> Figure:
    label = f"{kind} / {NAMES[name]}"
    failed = [theirs for _, theirs in turns if theirs.error or theirs.answer["statusCode"] != 200]  # noqa: PLR2004 - OK
    if failed:
        answered = 100 * (1 - len(failed) / len(turns))
        return Figure(PART, label, None, answered, "% answered", f"{failed[0].error.partition('.')[0]}, n={len(turns)}")
    ours = [one.milliseconds for one, _ in turns[WARM_UP:]]
    theirs = [other.milliseconds for _, other in turns[WARM_UP:]]
    ratio = statistics.median(ours) / statistics.median(theirs)
    return Figure(PART, label, None, ratio, "×", f"ours {spread(ours)}, theirs {spread(theirs)}")
