"""Memory of the function's process over a large scope: its peak, and its growth over thousands of calls."""

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
from benchmarks.support.figures import Figure, format_number
from benchmarks.support.synthetic import count_items, make_dataset, name_item
from benchmarks.support.texts import draw_questions
from knowledge.requests import MODES
from search_knowledge.startup import LAMBDA_MARK
from tests.support.calls import request, rest_event, tool_call

PART: Final = "memory"
PASSAGES: Final = 100_000
TEAM: Final = "main"
WARM_UP: Final = 2_000
"""Different calls, each made once before counting starts, so that the bounded caches are full."""
CALLS: Final = 10_000
"""Calls that count, drawn from those: memory that grows with them is no cache."""

MOST: Final = 1_000.0
MOST_GROWTH: Final = 20.0
"""Megabytes: the noise of the memory allocator. A leak of a few kilobytes a call would be more."""

_CALLER: Final = member_of(TEAM)
_SHARES: Final = {"search": 10, "read": 45, "refused": 25, "list": 20}
"""Percent of the calls by kind; fewer searches than in practice, because they take most of the time."""
_ROOT: Final = Path(__file__).resolve().parents[2]


def measure(folder: Path) -> list[Figure]:
    """Measure peak and growth of a process that answers mixed calls."""
    path = make_dataset(folder, {TEAM: PASSAGES})
    with tempfile.TemporaryDirectory() as made:
        events, figures = Path(made) / "events", Path(made) / "figures"
        with events.open("w", encoding="utf-8") as lines:
            lines.writelines(f"{json.dumps(event)}\n" for event in _make_events(folder))
        _run(path, events, figures)
        found = json.loads(figures.read_text(encoding="utf-8"))
    return _make_figures(found)


def _make_figures(found: dict[str, Any]) -> list[Figure]:
    warm = found["resident"][WARM_UP // EVERY :]
    tenth = len(warm) // 10
    first, last = statistics.median(warm[:tenth]), statistics.median(warm[-tenth:])
    kinds = ", ".join(f"{format_number(count)} {kind}" for kind, count in sorted(found["kinds"].items()))
    loaded = (
        f"{PASSAGES:,} passages; {format_number(found['loaded'])} MB when loaded, {format_number(last)} MB at the end"
    )
    return [
        Figure(PART, "peak of the process", MOST, found["peak"], "MB", loaded),
        Figure(PART, f"growth over {CALLS:,} calls", MOST_GROWTH, last - first, "MB", kinds),
    ]


def _run(path: Path, events: Path, figures: Path) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
        # The variable makes the process load as in Lambda; its value is not read.
        LAMBDA_MARK: "none",
        "LANCEDB_URI": str(path),
        "RUNTIME_SWITCH": "on",
        "POWERTOOLS_METRICS_NAMESPACE": PART,
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "benchmarks.speed.function", str(events), str(figures)]
    subprocess.run(command, cwd=_ROOT, env=environment, check=True)  # noqa: S603 - our own module


def _make_events(folder: Path) -> list[dict[str, Any]]:
    """Return calls of all kinds in a random order."""
    drawn, questions = random.Random(5), iter(draw_questions(folder, WARM_UP, seed=5))
    kinds = drawn.choices(list(_SHARES), list(_SHARES.values()), k=WARM_UP)
    different = [_make_event(kind, drawn, questions) for kind in kinds]
    return [*different, *drawn.choices(different, k=CALLS)]


def _make_event(kind: str, drawn: random.Random, questions: Iterator[str]) -> dict[str, Any]:
    message = request("tools/list") if kind == "list" else tool_call(_make_arguments(kind, drawn, questions))
    return rest_event(message, authorizer=_CALLER)


def _make_arguments(kind: str, drawn: random.Random, questions: Iterator[str]) -> dict[str, object]:
    known = name_item(TEAM, drawn.randrange(count_items(PASSAGES)))
    if kind == "search":
        return {"query": next(questions), "mode": drawn.choice(MODES), "max_results": drawn.choice([5, 10, 50])}
    if kind == "read":
        return {"knowledge_item_id": known, "offset": drawn.choice([0, 1_000])}
    wrong: list[dict[str, object]] = [
        {"knowledge_item_id": f"ki_{drawn.randrange(10**9)}"},
        {"knowledge_item_id": known, "knowledge_base_id": "another"},
        {"query": ""},
        {"query": next(questions), "knowledge_base_id": "another"},
        {"query": "x", "surprise": 1},
    ]
    return drawn.choice(wrong)
