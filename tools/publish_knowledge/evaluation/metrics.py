"""Retrieval metrics of a ranking, and confidence in their means over queries. Pure: values in, values out.

A ranking lists item ids, best first, each once; grades map an item's id to its relevance, 0 for an irrelevant one. The
metrics are those of trec_eval, cut at ten items.
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
"""The cut-off of all metrics: as many results as a caller gets by default."""

NORMAL_95: Final = 1.96
"""Standard errors on either side of a mean that make a 95 % interval."""

SIGNIFICANCE: Final = 0.05
"""The largest probability of chance at which an improvement counts as significant."""

_SHUFFLES: Final = 10_000
"""Random sign assignments of one test; the probability's own error is then about 0.002."""

_SHUFFLES_AT_ONCE: Final = 500
"""Assignments drawn at once, so that memory stays small with any number of queries."""

_ROUNDING: Final = 1e-9
"""Equal means may differ by this much when summed in another order."""

_SEED: Final = 7
"""Fixed, so that the same figures give the same advice."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """One ranking against its grades; each 0..1."""

    ndcg: float
    recall: float
    mrr: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `count` queries, with half of its 95 % interval."""

    mean: float
    half_width: float | None
    count: int


@dataclass(frozen=True, slots=True)
class Improvement:
    """The best of several alphas; `probability` is that of chance alone making the best look this much better."""

    alpha: float
    gain: Estimate
    probability: float

    @property
    def significant(self) -> bool:
        """Whether chance is an unlikely explanation."""
        return self.probability <= SIGNIFICANCE


def compute_metrics(ranking: Sequence[str], grades: Mapping[str, int]) -> Metrics:
    """All metrics of one ranking; at least one grade must be above 0."""
    gains = [max(0, grades.get(item, 0)) for item in ranking[:DEPTH]]
    relevant = sum(1 for grade in grades.values() if grade > 0)
    first = next((rank for rank, gain in enumerate(gains, start=1) if gain), None)
    return Metrics(
        ndcg=_discount_gains(gains) / _discount_gains(sorted(grades.values(), reverse=True)[:DEPTH]),
        recall=sum(1 for gain in gains if gain) / relevant,
        mrr=1 / first if first else 0.0,
    )


def estimate_mean(values: Sequence[float]) -> Estimate:
    """Mean of one value per query; a single query has no half-width."""
    count = len(values)
    half_width = NORMAL_95 * stdev(values) / math.sqrt(count) if count > 1 else None
    return Estimate(fmean(values), half_width, count)


def estimate_difference(values: Sequence[float], reference: Sequence[float]) -> Estimate:
    """Mean of the paired differences, query by query: how hard a query is cancels out."""
    return estimate_mean([value - other for value, other in zip(values, reference, strict=True)])


def find_improvement(reference: Sequence[float], alternatives: Mapping[float, Sequence[float]]) -> Improvement | None:
    """The alpha whose values have the highest mean, if it is above the reference's; else `None`.

    The probability comes from a randomisation test: if an alpha changed nothing, the sign of each query's difference
    would be random. Taking the best of all alphas each time corrects for having chosen the best.
    """
    if not alternatives:
        return None
    alphas = list(alternatives)
    gains = np.array([alternatives[alpha] for alpha in alphas]) - np.array(reference)
    means = gains.mean(axis=1)
    best = int(means.argmax())
    if means[best] <= _ROUNDING:
        return None
    return Improvement(
        alphas[best], estimate_mean(gains[best].tolist()), _estimate_probability(gains, float(means[best]))
    )


def _estimate_probability(gains: npt.NDArray[np.float64], reached: float) -> float:
    """Share of random signs, drawn for each query, under which the mean of any row gets as high."""
    random = np.random.default_rng(_SEED)
    queries = gains.shape[1]
    hits = 0
    for _ in range(_SHUFFLES // _SHUFFLES_AT_ONCE):
        signs = random.choice((-1.0, 1.0), (_SHUFFLES_AT_ONCE, queries))
        hits += int(((signs @ gains.T).max(axis=1) / queries >= reached - _ROUNDING).sum())
    return (hits + 1) / (_SHUFFLES + 1)


def _discount_gains(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
