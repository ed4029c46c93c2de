"""What the function's process holds with a large scope, at its peak and after thousands of calls of every kind."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.speed.function import EVERY
from benchmarks.support.calls import member_of
from benchmarks.support.figures import Figure, number
from benchmarks.support.synthetic import dataset, item, item_count
from benchmarks.support.texts import questions
from knowledge.requests import MODES
from search_knowledge.startup import LAMBDA_MARK
from tests.support.front_door import request, rest_event, tool_call

PART: Final = "memory"
PASSAGES: Final = 100_000
TEAM: Final = "main"
WARM_UP: Final = 2_000
"""Different calls, each made once before it counts: the bounded caches then hold what they will be asked for."""
CALLS: Final = 10_000
"""Calls that count, drawn from those: what grows with them is no cache."""

MOST: Final = 1_000.0
MOST_GROWTH: Final = 20.0
"""Megabytes: what a memory allocator's own moods come to. A leak of a few kilobytes a call would show as more."""

_CALLER: Final = member_of(TEAM)
_SHARES: Final = {"search": 10, "read": 45, "refused": 25, "list": 20}
"""How many of a hundred calls are of which kind; fewer searches than in life, because they take the time."""
_ROOT: Final = Path(__file__).resolve().parents[2]


def measure(folder: Path) -> list[Figure]:
    """Peak and growth of a process that answers mixed calls."""
    path = dataset(folder, {TEAM: PASSAGES})
    with tempfile.TemporaryDirectory() as made:
        events, figures = Path(made) / "events", Path(made) / "figures"
        with events.open("w", encoding="utf-8") as lines:
            lines.writelines(f"{json.dumps(event)}\n" for event in _events(folder))
        _run(path, events, figures)
        found = json.loads(figures.read_text(encoding="utf-8"))
    return _figures(found)


def _figures(found: dict[str, Any]) -> list[Figure]:
    warm = found["held"][WARM_UP // EVERY :]
    tenth = len(warm) // 10
    first, last = statistics.median(warm[:tenth]), statistics.median(warm[-tenth:])
    kinds = ", ".join(f"{number(count)} {kind}" for kind, count in sorted(found["kinds"].items()))
    loaded = f"{PASSAGES:,} passages; {number(found['loaded'])} MB when loaded, {number(last)} MB at the end"
    return [
        Figure(PART, "peak of the process", MOST, found["peak"], "MB", loaded),
        Figure(PART, f"growth over {CALLS:,} calls", MOST_GROWTH, last - first, "MB", kinds),
    ]


def _run(path: Path, events: Path, figures: Path) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
        # Its mere presence makes the process load as it does in Lambda.
        LAMBDA_MARK: "none",
        "LANCEDB_URI": str(path),
        "RUNTIME_SWITCH": "on",
        "POWERTOOLS_METRICS_NAMESPACE": PART,
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "benchmarks.speed.function", str(events), str(figures)]
    subprocess.run(command, cwd=_ROOT, env=environment, check=True)  # noqa: S603 - our own module


def _events(folder: Path) -> list[dict[str, Any]]:
    """Calls of all kinds in a random order."""
    drawn, asked = random.Random(5), iter(questions(folder, WARM_UP, seed=5))
    kinds = drawn.choices(list(_SHARES), list(_SHARES.values()), k=WARM_UP)
    different = [_event(kind, drawn, asked) for kind in kinds]
    return [*different, *drawn.choices(different, k=CALLS)]


def _event(kind: str, drawn: random.Random, asked: Iterator[str]) -> dict[str, Any]:
    message = request("tools/list") if kind == "list" else tool_call(_arguments(kind, drawn, asked))
    return rest_event(message, authorizer=_CALLER)


def _arguments(kind: str, drawn: random.Random, asked: Iterator[str]) -> dict[str, object]:
    known = item(TEAM, drawn.randrange(item_count(PASSAGES)))
    if kind == "search":
        return {"query": next(asked), "mode": drawn.choice(MODES), "max_results": drawn.choice([5, 10, 50])}
    if kind == "read":
        return {"knowledge_item_id": known, "offset": drawn.choice([0, 1_000])}
    wrong: list[dict[str, object]] = [
        {"knowledge_item_id": f"ki_{drawn.randrange(10**9)}"},
        {"knowledge_item_id": known, "knowledge_base_id": "another"},
        {"query": ""},
        {"query": next(asked), "knowledge_base_id": "another"},
        {"query": "x", "surprise": 1},
    ]
    return drawn.choice(wrong)
