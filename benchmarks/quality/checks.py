"""The quality targets over the collections, each check with the figures that decide it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from benchmarks.quality.test_collections import Baseline

DEFAULT: Final = "hybrid 0.5"

MEAN_GAIN: Final = 0.015
"""By how much the default has to be better than the recorded one, on average."""

WORST_LOSS: Final = 0.005
"""What any one collection may lose: less than the half-width of its interval."""

BELOW_A_SIDE: Final = 0.01
"""By how much the fusion may be worse than the better side alone."""

BELOW_SEMANTIC: Final = 0.03
"""The same where questions and texts share no language, so that lexical matches mislead."""

STRONG_WORDS: Final = ("faquad", "jsquad")
"""Collections in which the lexical side is better by far."""

_ROUNDING: Final = 0.0005
"""Recorded figures have three digits."""


@dataclass(frozen=True, slots=True)
class CollectionRow:
    """One collection: nDCG@10 by setting, now and as recorded."""

    baseline: Baseline
    now: Mapping[str, float]

    @property
    def name(self) -> str:
        """The collection's name."""
        return self.baseline.name

    @property
    def gain(self) -> float:
        """Gain of the default over the recorded figure."""
        return self.now[DEFAULT] - self.baseline.figures[DEFAULT]

    @property
    def over_better_side(self) -> float:
        """Gain of the fusion over the better side alone, now."""
        return _compute_gain_over_better_side(self.now)

    @property
    def was_met_before(self) -> bool:
        """Whether the recorded fusion is not worse than the better side alone."""
        return _compute_gain_over_better_side(self.baseline.figures) >= -BELOW_A_SIDE - _ROUNDING

    @property
    def over_semantic(self) -> float:
        """Gain of the fusion over the semantic side alone, now."""
        return self.now[DEFAULT] - self.now["semantic"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a promise holds, and the figures behind it."""

    promise: str
    holds: bool
    figures: str

    @property
    def line(self) -> str:
        """The verdict as a line of text."""
        return f"{'holds' if self.holds else 'FALLS SHORT':<11}  {self.promise}: {self.figures}"


def check_collections(rows: Sequence[CollectionRow]) -> list[Verdict]:
    """Run every check for which there are collections."""
    found = [_check_mean_gain(rows), _check_worst_loss(rows)]
    mono = [row for row in rows if row.baseline.monolingual and row.was_met_before]
    cross = [row for row in rows if not row.baseline.monolingual]
    strong = [row for row in rows if row.name in STRONG_WORDS]
    if mono:
        promise = f"monolingual, the default at most {BELOW_A_SIDE} below the better side alone"
        found.append(_check_minimum(promise, mono, lambda row: row.over_better_side, -BELOW_A_SIDE))
    if cross:
        promise = f"across languages, the default at most {BELOW_SEMANTIC} below the semantic side alone"
        found.append(_check_minimum(promise, cross, lambda row: row.over_semantic, -BELOW_SEMANTIC))
    if strong:
        promise = "where words are strong evidence, nothing lost"
        found.append(_check_minimum(promise, strong, lambda row: row.gain, -WORST_LOSS))
    return found


def compute_means(rows: Iterable[CollectionRow]) -> tuple[float, float]:
    """Return the mean of the default over the collections, now and as recorded."""
    counted = list(rows)
    return fmean(row.now[DEFAULT] for row in counted), fmean(row.baseline.figures[DEFAULT] for row in counted)


def _check_mean_gain(rows: Sequence[CollectionRow]) -> Verdict:
    now, before = compute_means(rows)
    promise = f"mean of the default over {len(rows)} collections at least {MEAN_GAIN} above the recorded one"
    return Verdict(promise, now - before >= MEAN_GAIN, f"{now:.4f} against {before:.4f}, {now - before:+.4f}")


def _check_worst_loss(rows: Sequence[CollectionRow]) -> Verdict:
    promise = f"no collection more than {WORST_LOSS} below the recorded one"
    return _check_minimum(promise, rows, lambda row: row.gain, -WORST_LOSS - _ROUNDING)


def _check_minimum(
    promise: str, rows: Sequence[CollectionRow], figure: Callable[[CollectionRow], float], bound: float
) -> Verdict:
    short = [row for row in rows if figure(row) < bound]
    shown = short or [min(rows, key=figure)]
    figures = ", ".join(f"{row.name} {figure(row):+.4f}" for row in shown)
    return Verdict(promise, not short, figures if short else f"least is {figures}")


def _compute_gain_over_better_side(figures: Mapping[str, float]) -> float:
    return figures[DEFAULT] - max(figures["lexical"], figures["semantic"])
