"""A process like the function's that answers queries, and reports its peak of memory and the time of each call.

`python -m tests.support.memory_process DATASET TEAMS QUERIES`, the last two as JSON. It imports nothing but the
function before it measures.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any


def read_peak() -> float:
    """Megabytes of this process at the most."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (found,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(found) * 1024 / 1_000_000


def make_event(teams: list[str], query: str) -> dict[str, Any]:
    """A call of a member of these teams, in the smallest form that a gateway sends."""
    message = {"name": "search_knowledge", "arguments": {"query": query}}
    claims = {"sub": "ana", "scope": "knowledge:read", "teams": teams}
    return {
        "version": "2.0",
        "rawPath": "/mcp",
        "headers": {"content-type": "application/json", "accept": "application/json"},
        "body": json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": message}),
        "isBase64Encoded": False,
        "requestContext": {"authorizer": {"jwt": {"claims": claims}}, "http": {"method": "POST", "path": "/mcp"}},
    }


def answer(path: str, teams: list[str], queries: list[str]) -> dict[str, Any]:
    """Answer each query; raises `RuntimeError` for a call that finds nothing."""
    os.environ |= {"LANCEDB_URI": path, "EMBEDDING": "local", "RUNTIME_SWITCH": "on", "AWS_LAMBDA_RUNTIME_API": "none"}
    from search_knowledge.app import handler  # noqa: PLC0415 - composed from the environment, as in Lambda

    seconds = []
    for query in queries:
        started = time.perf_counter()
        answered = handler(make_event(teams, query))
        seconds.append(time.perf_counter() - started)
        if not json.loads(answered["body"])["result"]["structuredContent"].get("results"):
            raise RuntimeError(answered["body"])
    return {"peak": read_peak(), "seconds": seconds}


def main() -> None:
    """Print the figures as JSON."""
    path, teams, queries = sys.argv[1:]
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        found = answer(path, json.loads(teams), json.loads(queries))
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
