"""Compare with alternatives on the same corpus, questions and machine.

haiku.rag for the search; FastMCP, the SDK's high-level server and AWS Labs' handler for the protocol. Each of them, and
this project, is a worker process with Python 3.13, and they take turns.
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

from benchmarks.rivals.worker import ROOT, Reply, Worker
from benchmarks.speed.cold import ensure_plain_layer, ensure_sample_dataset, make
from benchmarks.support.calls import member_of
from benchmarks.support.figures import Figure, format_spread
from knowledge.embedding.base import EmbeddingProvider, Vectors
from knowledge.embedding.providers import LOCAL, provider
from knowledge.scopes import Scope
from publish_knowledge.evaluation.metrics import DEPTH, compute_metrics
from publish_knowledge.evaluation.qrels import Query, read_qrels
from tests.support.calls import rest_event, tool_call

PART: Final = "rivals"
NEEDED: Final = (".venv-lambda/.installed", ".venv-rivals/.installed")
SCOPES: Final = (Scope("owner", "ana"), Scope("team", "support"), Scope("team", "field"))
CALLER: Final = member_of("support", "field")
QUERY_PREFIX: Final = "query: "
PASSAGE_PREFIX: Final = "passage: "

SEARCH_ROUNDS: Final = 6
"""Rounds of all questions; the first warms up."""
CHUNKS_FOR_ITEMS: Final = 50
"""Chunks requested of haiku.rag where its quality is measured, so that ten documents are among them."""
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
    """Measure the search and then the protocol; none has a target."""
    make(*NEEDED)
    kept = folder / "cold"
    uri = ensure_sample_dataset(kept)
    path = [ROOT / "functions", ROOT / "layers/knowledge", ensure_plain_layer(kept) / "python"]
    with ExitStack() as stack:
        ours = stack.enter_context(Worker(_find_python("lambda"), "rivals.ours", ["search", uri], path))
        haiku = stack.enter_context(_start_haiku(uri, kept))
        found = _measure_search(ours, haiku)
    with ExitStack() as stack:
        ours = stack.enter_context(Worker(_find_python("lambda"), "rivals.ours", ["protocol"], path))
        rivals = {
            name: stack.enter_context(Worker(_find_python("rivals"), "rivals.protocols", [name])) for name in PROTOCOLS
        }
        return found + _measure_protocol(ours, rivals)


def _find_python(environment: str) -> Path:
    return ROOT / f".venv-{environment}/bin/python"


# --- Search ---


def _measure_search(ours: Worker, haiku: Worker) -> list[Figure]:
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
            [_list_sources(_ask(ours, query)) for query in queries],
            [_ask_haiku(haiku, query, CHUNKS_FOR_ITEMS).answer for query in queries],
        )
    ]
    detail = f"{len(queries)} questions on the sample base"
    return [
        Figure(
            PART,
            "search / haiku.rag's",
            None,
            ratio,
            "×",
            f"ours {format_spread(times[0])}, theirs {format_spread(times[1])}",
        ),
        Figure(PART, "nDCG@10", None, quality[0], "", detail),
        Figure(PART, "nDCG@10 of haiku.rag", None, quality[1], "", f"{detail}, the same passages and vectors"),
    ]


def _ask(ours: Worker, query: Query) -> Reply:
    return require_success(ours.ask(rest_event(tool_call({"query": query.text}), authorizer=CALLER)))


def _ask_haiku(haiku: Worker, query: Query, limit: int) -> Reply:
    return require_success(haiku.ask({"query": query.text, "limit": limit}))


def require_success(reply: Reply) -> Reply:
    """Return the reply unless it is an error; raises `RuntimeError`."""
    if reply.error or (isinstance(reply.answer, dict) and reply.answer["statusCode"] != 200):  # noqa: PLR2004 - HTTP's OK
        raise RuntimeError(reply.error or f"answered {reply.answer}")
    return reply


def _list_sources(reply: Reply) -> list[str]:
    results = json.loads(reply.answer["body"])["result"]["structuredContent"]["results"]
    return [one["source"]["uri"] for one in results]


@contextmanager
def _start_haiku(uri: str, kept: Path) -> Iterator[Worker]:
    """Start haiku.rag with a new database of our passages; it embeds through a server of this process."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="haiku-", dir=kept))
        endpoint = stack.enter_context(_serve_embeddings())
        haiku = stack.enter_context(Worker(_find_python("rivals"), "rivals.haiku", [folder, endpoint]))
        require_success(haiku.ask({"documents": _read_documents(uri)}))
        yield haiku


def _read_documents(uri: str) -> dict[str, list[dict[str, Any]]]:
    """Read the published passages of every document, in order, by the document's source path."""
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
def _serve_embeddings() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Embeddings)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


class _Embeddings(BaseHTTPRequestHandler):
    """`POST /v1/embeddings`; prefixes distinguish questions from passages."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
        data = [
            {"object": "embedding", "index": index, "embedding": _encode_vector(_embed(text), request)}
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        body = json.dumps({"object": "list", "model": request["model"], "data": data, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the base class has it
        """Print nothing."""


def _embed(text: str) -> Vectors:
    if text.startswith(QUERY_PREFIX):
        return _load_model().embed_query(text.removeprefix(QUERY_PREFIX))
    vectors = _load_model().embed_passages([text.removeprefix(PASSAGE_PREFIX)])
    return np.asarray(vectors[0])


@cache
def _load_model() -> EmbeddingProvider:
    return provider(LOCAL)


def _encode_vector(vector: Vectors, request: dict[str, Any]) -> str | list[float]:
    if request.get("encoding_format") == "base64":
        return base64.b64encode(vector.astype(np.float32).tobytes()).decode()
    return [float(value) for value in vector]


# --- Protocol ---


def _measure_protocol(ours: Worker, rivals: dict[str, Worker]) -> list[Figure]:
    events = {
        "tools/list": json.loads((ROOT / "events/tools-list-2025.json").read_text(encoding="utf-8"))["event"],
        "a trivial call": json.loads((ROOT / "events/search.json").read_text(encoding="utf-8"))["event"],
    }
    figures = []
    for name, rival in rivals.items():
        for kind, event in events.items():
            turns = [(require_success(ours.ask(event)), rival.ask(event)) for _ in range(WARM_UP + PROTOCOL_ROUNDS)]
            figures.append(_compare_protocol(name, kind, turns))
    return figures


def _compare_protocol(name: str, kind: str, turns: Sequence[tuple[Reply, Reply]]) -> Figure:
    label = f"{kind} / {NAMES[name]}"
    failed = [theirs for _, theirs in turns if theirs.error or theirs.answer["statusCode"] != 200]  # noqa: PLR2004 - OK
    if failed:
        answered = 100 * (1 - len(failed) / len(turns))
        return Figure(PART, label, None, answered, "% answered", f"{failed[0].error.partition('.')[0]}, n={len(turns)}")
    ours = [one.milliseconds for one, _ in turns[WARM_UP:]]
    theirs = [other.milliseconds for _, other in turns[WARM_UP:]]
    ratio = statistics.median(ours) / statistics.median(theirs)
    return Figure(PART, label, None, ratio, "×", f"ours {format_spread(ours)}, theirs {format_spread(theirs)}")
