"""The function's memory stays below its setting whatever scopes look like, in a process of its own with the model."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from knowledge.embedding.providers import LOCAL, provider
from knowledge.scopes import Scope
from tests.support.campaign import choose_trials
from tests.support.large_scopes import ScopeShape, draw_chinese, draw_latin, write_dataset

MOST_MEGABYTES = 1_200
MOST_SECONDS = 1.0
CALLS = 12

SHAPES = {
    "49 scopes of 20,000 rows": (choose_trials(2, 49), ScopeShape(choose_trials(400, 2_000), 8, 500, draw_latin)),
    "four scopes of 18,800 Chinese passages": (
        choose_trials(2, 4),
        ScopeShape(choose_trials(40, 200), 94, 500, draw_chinese, "zh", choose_trials(6, 200)),
    ),
    "one scope of 5,000 items of 1 MB": (1, ScopeShape(choose_trials(20, 5_000), 500, 2_000, draw_latin)),
}
"""How many scopes, and what each is like: excerpts in ordinary runs."""


@pytest.mark.parametrize("name", SHAPES)
def test_memory_and_time_are_bounded_whatever_scopes_look_like(tmp_path: Path, name: str) -> None:
    count, shape = SHAPES[name]
    teams = [f"team{number}" for number in range(count)]
    write_dataset(tmp_path / "data", provider(LOCAL), {Scope("team", team): shape for team in teams})
    drawn = random.Random(0)
    queries = [shape.draw(drawn, 30).strip() for _ in range(CALLS)]
    command = [sys.executable, "-m", "tests.support.memory_process", str(tmp_path / "data")]
    done = subprocess.run(
        [*command, json.dumps(teams), json.dumps(queries)], check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout)
    assert found["peak"] < MOST_MEGABYTES, found
    # The best of the warm calls: other processes of the machine may slow down any of them.
    assert min(found["seconds"][1:]) < MOST_SECONDS, found
