"""How good a ranked answer is, and how far a mean over questions may be trusted. Pure: values in, values out.

A ranking lists item ids, best first, each once; judgments map an item's id to its grade, 0 for one that does not help.
The measures are those of trec_eval, cut at ten items.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final

import numpy as np
import numpy.typing as npt

DEPTH: Final = 10
"""Items that are looked at: what a caller gets who does not ask for more."""

NORMAL_95: Final = 1.96
"""Standard errors on either side of a mean that hold the true one in 95 of 100 cases."""

CHANCE: Final = 0.05
"""How often chance alone may pass for an improvement."""

_SHUFFLES: Final = 10_000
"""Random assignments behind a probability; its own error is then about 0.002."""

_AT_ONCE: Final = 500
"""Of these, so that memory stays small with any number of questions."""

_ROUNDING: Final = 1e-9
"""Equal means may differ by this much when they are summed in another order."""

_SEED: Final = 7
"""The same figures give the same advice."""


@dataclass(frozen=True, slots=True)
class Measures:
    """One answer against its judgments; each 0..1."""

    ndcg: float
    recall: float
    mrr: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `count` questions; the true one lies within `half_width` of it in 95 of 100 cases."""

    mean: float
    half_width: float | None
    count: int


@dataclass(frozen=True, slots=True)
class Improvement:
    """The best of several alphas, and how often chance alone would make one of them look that much better."""

    alpha: float
    gain: Estimate
    probability: float

    @property
    def significant(self) -> bool:
        """Whether chance is a poor explanation."""
        return self.probability <= CHANCE


def measured(ranking: Sequence[str], grades: Mapping[str, int]) -> Measures:
    """All measures of one answer; at least one grade must be above 0."""
    gains = [max(0, grades.get(item, 0)) for item in ranking[:DEPTH]]
    relevant = sum(1 for grade in grades.values() if grade > 0)
    first = next((place for place, gain in enumerate(gains, start=1) if gain), None)
    return Measures(
        ndcg=_discounted(gains) / _discounted(sorted(grades.values(), reverse=True)[:DEPTH]),
        recall=sum(1 for gain in gains if gain) / relevant,
        mrr=1 / first if first else 0.0,
    )


def estimated(values: Sequence[float]) -> Estimate:
    """Mean of one value per question; there is no half-width for a single question."""
    count = len(values)
    half_width = NORMAL_95 * stdev(values) / math.sqrt(count) if count > 1 else None
    return Estimate(fmean(values), half_width, count)


def difference(values: Sequence[float], reference: Sequence[float]) -> Estimate:
    """Mean of `values` less that of `reference`, question by question: what makes a question hard cancels out."""
    return estimated([value - other for value, other in zip(values, reference, strict=True)])


def best_improvement(reference: Sequence[float], alternatives: Mapping[float, Sequence[float]]) -> Improvement | None:
    """The alpha whose values have the highest mean, if it is above the reference's; else `None`.

    The probability is that of a randomisation test: if an alpha changed nothing, each question's difference could as
    well have the other sign. Taking the best of all alphas each time allows for having chosen the best.
    """
    if not alternatives:
        return None
    alphas = list(alternatives)
    gains = np.array([alternatives[alpha] for alpha in alphas]) - np.array(reference)
    means = gains.mean(axis=1)
    best = int(means.argmax())
    if means[best] <= _ROUNDING:
        return None
    return Improvement(alphas[best], estimated(gains[best].tolist()), _probability(gains, float(means[best])))


def _probability(gains: npt.NDArray[np.float64], reached: float) -> float:
    """Share of random signs, drawn for each question, under which any row's mean gets as high."""
    chance = np.random.default_rng(_SEED)
    questions = gains.shape[1]
    hits = 0
    for _ in range(_SHUFFLES // _AT_ONCE):
        signs = chance.choice((-1.0, 1.0), (_AT_ONCE, questions))
        hits += int(((signs @ gains.T).max(axis=1) / questions >= reached - _ROUNDING).sum())
    return (hits + 1) / (_SHUFFLES + 1)


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))
