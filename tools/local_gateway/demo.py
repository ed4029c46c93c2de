"""The whole way, from texts to answers: `python -m local_gateway.demo`, or `make demo`.

Publishes the sample base into a fresh dataset and asks the function's own handler with real events. Every answer is
checked; the exit code is 0 only if all are right.
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
from knowledge.results import READ_TYPE, SEARCH_TYPE
from local_gateway.events import Developer, Payload, Request, event_of
from local_gateway.front import PATH
from local_gateway.sample import DEMO_QUERIES, Base, Sample, SampleError, Say
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
    """An answer is not what it should be."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Asks the handler as an API Gateway would, and checks what comes back."""

    handle: Handle
    developer: Developer
    payload: Payload
    say: Say

    def message(self, method: str, params: Json, version: str = HANDSHAKE) -> Json:
        """The result of one JSON-RPC request in either era."""
        headers = [*_HEADERS, ("mcp-protocol-version", version)]
        if version == STATELESS:
            headers.append(("mcp-method", method))
            prefix = "io.modelcontextprotocol/"
            params = {**params, "_meta": {f"{prefix}protocolVersion": version, f"{prefix}clientCapabilities": {}}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        answer = self.handle(event_of(Request("POST", PATH, headers, body), self.developer, self.payload))
        expect("HTTP status", answer["statusCode"], 200)
        result: Json = json.loads(answer["body"])["result"]
        return result

    def call(self, kind: str, **arguments: object) -> Json:
        """The envelope of one call of the tool, which must be of this type."""
        envelope: Json = self.message("tools/call", {"name": NAME, "arguments": arguments})["structuredContent"]
        expect(f"the answer to {arguments}", envelope["type"], kind)
        return envelope


def print_now(line: str) -> None:
    """Print a line without waiting for more."""
    print(line, flush=True)


def main(arguments: Sequence[str] | None = None, say: Say = print_now) -> int:
    """Run the demonstration; the exit code."""
    parser = argparse.ArgumentParser(prog="demo", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--embedding", choices=(LOCAL, LOCAL_SMALL), default=LOCAL, help="model (%(default)s)")
    parser.add_argument("--uri", help="a new folder to publish into and keep (one that is removed)")
    options = parser.parse_args(arguments)
    if options.uri and Path(options.uri).exists():
        say(f"FAILED: {options.uri} is there already; the demonstration needs a new folder.")
        return 1
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="search-knowledge-") as folder:
        uri = options.uri or f"{folder}/dataset"
        try:
            _demonstrate(Sample(uri, options.embedding, say=lambda line: say(f"  {line}")), say)
        except (SampleError, WrongAnswerError) as error:
            say(f"\nFAILED: {error}")
            return 1
    say(f"\nAll answers right, in {time.monotonic() - started:.0f} s.")
    return 0


def expect(what: str, found: object, wanted: object) -> None:
    """Raise `WrongAnswerError` unless the two are equal."""
    if found != wanted:
        raise WrongAnswerError(f"{what} is {found!r}, expected {wanted!r}")


def _demonstrate(sample: Sample, say: Say) -> None:
    asked = json.loads((sample.examples / DEMO_QUERIES).read_text(encoding="utf-8"))
    developer = Developer(asked["caller"]["owner"], tuple(asked["caller"]["teams"]))
    say(f"Publishing the sample base ({sample.embedding} model)")
    sample.publish()
    sample.revise()
    settings = Settings(uri=sample.uri, embedding=sample.embedding, runtime_switch=ON)
    with Handler(settings, Logger(service=f"{NAME}-demo", stream=StringIO())) as handler:
        rest = Caller(handler, developer, "1.0", say)
        say(f"\nAsking as {developer.owner}, of team {', '.join(developer.teams)}, with API Gateway events")
        for caller, version in ((rest, HANDSHAKE), (Caller(handler, developer, "2.0", say), STATELESS)):
            _list(caller, version)
        for query in asked["queries"]:
            search(rest, query)
        bases = {base.base_id: base for base in sample.bases()}
        _read(rest, sample, bases["handbook"])
        _refuse(rest, sample, bases[FOREIGN[0]])


def _list(caller: Caller, version: str) -> None:
    names = [tool["name"] for tool in caller.message("tools/list", {}, version)["tools"]]
    expect("the list of tools", names, [NAME])
    caller.say(f"  tools/list  MCP {version}, payload {caller.payload}: {', '.join(names)}")


def search(caller: Caller, asked: Mapping[str, str]) -> None:
    """One query, whose first hit must be the text with the answer. Raises `WrongAnswerError`."""
    results = caller.call(SEARCH_TYPE, query=asked["query"], mode="hybrid")["results"]
    expect(f"the first hit for {asked['query']!r}", [hit["source"]["uri"] for hit in results[:1]], [asked["expect"]])
    caller.say(f"  {asked['language']}  {asked['query']}")
    caller.say(f"      {results[0]['scores']['score']:.2f} {asked['expect']}: {_short(results[0]['excerpt'])}")


def _read(caller: Caller, sample: Sample, base: Base) -> None:
    """Two windows that join, then the revision before."""
    item = sample.items(base)[REVISED]
    identity, half = item["knowledge_item_id"], item["total_chars"] // 2 + 1
    first = caller.call(READ_TYPE, knowledge_item_id=identity, limit_chars=half)
    second = caller.call(READ_TYPE, **first["continuation"], limit_chars=half)
    text = first["content"] + second["content"]
    expect("the digest of the joined windows", hashlib.sha256(text.encode()).hexdigest(), first["content_sha256"])
    expect("what follows the last window", second["continuation"], None)
    caller.say(f"  read        {REVISED}: {len(first['content'])} + {len(second['content'])} characters join exactly")
    current, earlier = sample.revisions(base, identity)
    old = caller.call(READ_TYPE, knowledge_item_id=identity, knowledge_revision_id=earlier)
    expect("the revision read", (old["knowledge_revision_id"], old["is_current"]), (earlier, False))
    expect("the current revision", first["knowledge_revision_id"], current)
    expect("the old text differing from the new", old["content_sha256"] != first["content_sha256"], wanted=True)
    caller.say(f"  history     {earlier[:11]}…, the revision before: {_short(old['content'])}")


def _refuse(caller: Caller, sample: Sample, base: Base) -> None:
    foreign = sample.items(base)[FOREIGN[1]]["knowledge_item_id"]
    error = caller.call(ERROR, knowledge_item_id=foreign)["error"]
    expect("the answer for another team's item", error["code"], "knowledge_resource_unavailable")
    caller.say(f"  refused     {FOREIGN[1]} of another team: {error['code']}")


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _WIDTH else f"{words[:_WIDTH]}…"


if __name__ == "__main__":
    sys.exit(main())
