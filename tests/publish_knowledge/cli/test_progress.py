"""The progress bar: one for all stages, whose total does not grow."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.progress import Progress

from publish_knowledge.cli.progress import ProgressBar, RateColumn

PUBLISH = [("publish", 0, 3), ("embed", 0, 40), ("load", 0, 0), ("embed", 16, 40), ("publish", 2, 3), ("embed", 40, 40)]


@pytest.fixture
def bars() -> Progress:
    return Progress(console=Console(file=io.StringIO()))


def show(bars: Progress, stages: list[tuple[str, int, int]]) -> list[tuple[str, float, float | None]]:
    bar = ProgressBar(bars)
    shown = []
    for stage in stages:
        bar.update(*stage)
        [task] = bars.tasks
        shown.append((task.description, task.completed, task.total))
    return shown


def test_passages_are_shown_while_there_are_any_to_embed(bars: Progress) -> None:
    assert show(bars, [*PUBLISH, ("publish", 3, 3), ("optimize", 0, 1), ("optimize", 1, 1)]) == [
        ("publishing files", 0, 3),
        ("embedding passages", 0, 40),
        ("loading the model", 0, 40),
        ("embedding passages", 16, 40),
        ("embedding passages", 16, 40),
        ("embedding passages", 40, 40),
        ("embedding passages", 40, 40),
        ("optimizing", 40, 40),
        ("optimizing", 40, 40),
    ]


def test_files_are_shown_where_nothing_is_to_be_embedded(bars: Progress) -> None:
    stages = [("publish", 0, 3), ("embed", 0, 0), ("publish", 3, 3)]
    assert [shown[1:] for shown in show(bars, stages)] == [(0, 3), (0, 3), (3, 3)]


def test_other_stages_are_shown_by_their_name(bars: Progress) -> None:
    assert show(bars, [("ask", 2, 5)]) == [("ask", 2, 5)]


def test_a_rate_is_shown_once_it_is_known() -> None:
    now = [0.0]
    bars = Progress(console=Console(file=io.StringIO()), get_time=lambda: now[0])
    bar = ProgressBar(bars)
    bar.update("embed", 0, 40)
    assert RateColumn().render(bars.tasks[0]).plain == ""
    for done in (16, 32):
        now[0] += 4
        bar.update("embed", done, 40)
    assert RateColumn().render(bars.tasks[0]).plain == "4.0/s"
