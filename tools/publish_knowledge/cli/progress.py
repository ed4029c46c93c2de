"""The progress bar of a command: one for all its stages, on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

STAGES: Final = {
    "load": "loading the model",
    "embed": "embedding passages",
    "publish": "publishing files",
    "optimize": "optimizing",
}
"""What the bar says for a stage; others are shown by their own name."""

UNMEASURED: Final = frozenset({"load", "optimize"})
"""Stages of which nothing is known but that they last."""


@contextmanager
def show_progress() -> Iterator[ProgressBar]:
    """Show a bar while the block runs, and remove it at its end."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), RateColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield ProgressBar(bars)


class RateColumn(ProgressColumn):
    """How many are done in a second; nothing until that is known."""

    def render(self, task: Task) -> Text:
        """The rate of the last half minute."""
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


class ProgressBar:
    """One bar for all stages: passages while there are any to embed, otherwise files."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._bar = bars.add_task("starting", total=None)
        self._embeds = False

    def update(self, stage: str, done: int, total: int) -> None:
        """Show a stage; those without a measure of their own leave the bar where it is."""
        name = STAGES.get(stage, stage)
        if stage in UNMEASURED or (self._embeds and stage != "embed"):
            # Files are committed while later passages wait for the model: these tell how long it takes.
            self._bars.update(self._bar, description=name if stage in UNMEASURED else None)
            return
        if stage == "embed" and total == 0:
            return
        self._embeds = stage == "embed"
        self._bars.update(self._bar, description=name, completed=done, total=total)
