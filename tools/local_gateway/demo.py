"""Publish texts and query them, end to end: `python -m local_gateway.demo`, or `make demo`.

It publishes the sample base into a new dataset and sends the function's handler real events. Every answer is checked;
the exit code is 0 only if all are right.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Final

from aws_lambda_powertools import Logger

from knowledge.embedding.providers import LOCAL, LOCAL_SMALL
from knowledge.errors import ERROR
from knowledge.labels import make_lines_visible
from knowledge.results import READ_TYPE, SEARCH_TYPE
from local_gateway.events import Developer, Payload, Request, build_event
from local_gateway.front import PATH
from local_gateway.sample import DEMO_QUERIES, Base, Report, Sample, SampleError
from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from search_knowledge.switch import ON
from search_knowledge.tool_definition import NAME

STATELESS: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"
FOREIGN: Final = ("manuals", "manuals/filter-change-f2.md")
REVISED: Final = "handbook/opening-hours.md"

_HEADERS: Final = (("content-type", "application/json"), ("accept", "application/json"))
_WIDTH: Final = 64

Json = dict[str, Any]
Handle = Callable[[object], Mapping[str, Any]]


class WrongAnswerError(AssertionError):
    """An answer is not the expected one."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Sends the handler events as API Gateway does, and checks the answers."""

    handle: Handle
    developer: Developer
    payload: Payload
    report: Report

    def send(self, method: str, params: Json, version: str = HANDSHAKE) -> Json:
        """Return the result of one JSON-RPC request in either protocol era; raises `WrongAnswerError`."""
        headers = [*_HEADERS, ("mcp-protocol-version", version)]
        if version == STATELESS:
            headers.append(("mcp-method", method))
            prefix = "io.modelcontextprotocol/"
            params = {**params, "_meta": {f"{prefix}protocolVersion": version, f"{prefix}clientCapabilities": {}}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        answer = self.handle(build_event(Request("POST", PATH, headers, body), self.developer, self.payload))
        require_equal("HTTP status", answer["statusCode"], 200)
        result: Json = json.loads(answer["body"])["result"]
        return result

    def call(self, kind: str, **arguments: object) -> Json:
        """Return the envelope of one call of the tool, which must be of this type; raises `WrongAnswerError`."""
        envelope: Json = self.send("tools/call", {"name": NAME, "arguments": arguments})["structuredContent"]
        require_equal(f"the answer to {arguments}", envelope["type"], kind)
        return envelope


def print_line(line: str) -> None:
    """Print a line at once, even where standard output is a pipe, its control characters as escapes."""
    print(make_lines_visible(line), flush=True)


def main(arguments: Sequence[str] | None = None, report: Report = print_line) -> int:
    """Run the demonstration and return the exit code."""
    parser = argparse.ArgumentParser(prog="demo", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--embedding", choices=(LOCAL, LOCAL_SMALL), default=LOCAL, help="model (%(default)s)")
    parser.add_argument("--uri", help="a new folder to publish into and keep (one that is removed)")
    options = parser.parse_args(arguments)
    if options.uri and Path(options.uri).exists():
        report(f"FAILED: {options.uri} is there already; the demonstration needs a new folder.")
        return 1
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="search-knowledge-") as folder:
        uri = options.uri or f"{folder}/dataset"
        try:
            _run_steps(Sample(uri, options.embedding, report=lambda line: report(f"  {line}")), report)
        except (SampleError, WrongAnswerError) as error:
            report(f"\nFAILED: {error}")
            return 1
    report(f"\nAll answers right, in {time.monotonic() - started:.0f} s.")
    return 0


def require_equal(what: str, found: object, wanted: object) -> None:
    """Raise `WrongAnswerError` unless the two are equal."""
    if found != wanted:
        raise WrongAnswerError(f"{what} is {found!r}, expected {wanted!r}")


def _run_steps(sample: Sample, report: Report) -> None:
    asked = json.loads((sample.examples / DEMO_QUERIES).read_text(encoding="utf-8"))
    developer = Developer(asked["caller"]["owner"], tuple(asked["caller"]["teams"]))
    report(f"Publishing the sample base ({sample.embedding} model)")
    sample.publish()
    sample.revise()
    settings = Settings(uri=sample.uri, embedding=sample.embedding, runtime_switch=ON)
    with Handler(settings, Logger(service=f"{NAME}-demo", stream=StringIO())) as handler:
        rest = Caller(handler, developer, "1.0", report)
        report(f"\nAsking as {developer.owner}, of team {', '.join(developer.teams)}, with API Gateway events")
        for caller, version in ((rest, HANDSHAKE), (Caller(handler, developer, "2.0", report), STATELESS)):
            _check_listing(caller, version)
        for query in asked["queries"]:
            check_search(rest, query)
        bases = {base.base_id: base for base in sample.read_bases()}
        _check_read(rest, sample, bases["handbook"])
        _check_refusal(rest, sample, bases[FOREIGN[0]])


def _check_listing(caller: Caller, version: str) -> None:
    names = [tool["name"] for tool in caller.send("tools/list", {}, version)["tools"]]
    require_equal("the list of tools", names, [NAME])
    caller.report(f"  tools/list  MCP {version}, payload {caller.payload}: {', '.join(names)}")


def check_search(caller: Caller, asked: Mapping[str, str]) -> None:
    """Search once; the first hit must be the text with the answer. Raises `WrongAnswerError`."""
    results = caller.call(SEARCH_TYPE, query=asked["query"], mode="hybrid")["results"]
    require_equal(
        f"the first hit for {asked['query']!r}", [hit["source"]["uri"] for hit in results[:1]], [asked["expect"]]
    )
    caller.report(f"  {asked['language']}  {asked['query']}")
    caller.report(f"      {results[0]['scores']['score']:.2f} {asked['expect']}: {_shorten(results[0]['excerpt'])}")


def _check_read(caller: Caller, sample: Sample, base: Base) -> None:
    """Read two windows, which must join, and then the previous revision."""
    item = sample.list_items(base)[REVISED]
    identity, half = item["knowledge_item_id"], item["total_chars"] // 2 + 1
    first = caller.call(READ_TYPE, knowledge_item_id=identity, limit_chars=half)
    second = caller.call(READ_TYPE, **first["continuation"], limit_chars=half)
    text = first["content"] + second["content"]
    require_equal(
        "the digest of the joined windows", hashlib.sha256(text.encode()).hexdigest(), first["content_sha256"]
    )
    require_equal("what follows the last window", second["continuation"], None)
    caller.report(
        f"  read        {REVISED}: {len(first['content'])} + {len(second['content'])} characters join exactly"
    )
    current, earlier = sample.list_revisions(base, identity)
    old = caller.call(READ_TYPE, knowledge_item_id=identity, knowledge_revision_id=earlier)
    require_equal("the revision read", (old["knowledge_revision_id"], old["is_current"]), (earlier, False))
    require_equal("the current revision", first["knowledge_revision_id"], current)
    require_equal("the old text differing from the new", old["content_sha256"] != first["content_sha256"], wanted=True)
    caller.report(f"  history     {earlier[:11]}…, the revision before: {_shorten(old['content'])}")


def _check_refusal(caller: Caller, sample: Sample, base: Base) -> None:
    foreign = sample.list_items(base)[FOREIGN[1]]["knowledge_item_id"]
    error = caller.call(ERROR, knowledge_item_id=foreign)["error"]
    require_equal("the answer for another team's item", error["code"], "knowledge_resource_unavailable")
    caller.report(f"  refused     {FOREIGN[1]} of another team: {error['code']}")


def _shorten(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _WIDTH else f"{words[:_WIDTH]}…"


if __name__ == "__main__":
    sys.exit(main())
