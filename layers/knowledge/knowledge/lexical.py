"""Making BM25 scores of different scopes comparable, and saying how much the query could have scored.

A BM25 score is a sum over terms of idf times a saturated frequency, and idf belongs to one table: an owner's perfect
hit among ten notes scores far below a weak one among a team's thousands. So the pooled hits are scored again with
one set of statistics. Document frequencies are counted where a pool holds every match, and otherwise recovered
from the scores themselves, which carry them.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from knowledge.records import Retrieved

K1: Final = 1.2
B: Final = 0.75
"""BM25's constants, as Lance's full-text index has them."""

_RIDGE: Final = 0.002
"""Pull of a recovered idf towards the counted one: terms that always come together cannot be told apart by scores."""


@dataclass(frozen=True, slots=True)
class Pool:
    """What one scope's lexical side returned; `complete` when there are no further matches."""

    hits: tuple[Retrieved, ...]
    passages: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Statistics:
    """Corpus statistics over all the caller's scopes: passages, mean length, document frequency per term."""

    passages: int
    mean_length: float
    frequencies: Mapping[str, float]

    def idf(self, term: str) -> float:
        """Lucene's form, never negative."""
        return _idf(self.passages, self.frequencies.get(term, 0.0))


def comparable_scores(pools: Sequence[Pool], query: Sequence[Sequence[str]]) -> list[list[float]]:
    """One score per hit. With hits in one scope only, its own BM25; else all scored with common statistics."""
    if sum(1 for pool in pools if pool.hits) <= 1:
        return [[hit.score for hit in pool.hits] for pool in pools]
    terms = _flat(query)
    statistics = common_statistics(pools, terms)
    return [[_bm25(Counter(hit.terms.split()), terms, statistics) for hit in pool.hits] for pool in pools]


def possible_score(pools: Sequence[Pool], query: Sequence[Sequence[str]]) -> float:
    """Score of a text of mean length that has each word of the query once; `query` groups the terms of each word."""
    statistics = common_statistics(pools, _flat(query))
    return math.fsum(_word_weight(word, statistics) for word in query)


def _word_weight(word: Sequence[str], statistics: Statistics) -> float:
    # A word's terms are its stems in several languages: the one that the texts know speaks for it.
    known = [term for term in word if statistics.frequencies.get(term)]
    return max((statistics.idf(term) for term in known or word), default=0.0)


def common_statistics(pools: Sequence[Pool], terms: Sequence[str]) -> Statistics:
    """Sum the statistics of all scopes."""
    frequencies: Counter[str] = Counter()
    for pool in pools:
        frequencies.update(_pool_frequencies(pool, terms))
    lengths = [len(hit.terms.split()) for pool in pools for hit in pool.hits]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    return Statistics(max(1, sum(pool.passages for pool in pools)), max(mean, 1.0), frequencies)


def _flat(query: Sequence[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(term for word in query for term in word))


def _pool_frequencies(pool: Pool, terms: Sequence[str]) -> dict[str, float]:
    counts = [Counter(hit.terms.split()) for hit in pool.hits]
    counted = {term: float(sum(1 for count in counts if term in count)) for term in terms}
    if pool.complete or not counts:
        return counted
    return _recovered(pool, counts, {term: found for term, found in counted.items() if found})


def _recovered(pool: Pool, counts: Sequence[Counter[str]], counted: Mapping[str, float]) -> dict[str, float]:
    """Document frequencies that explain the scores of an incomplete pool, at least those counted in it."""
    terms = list(counted)
    mean = max(1.0, sum(count.total() for count in counts) / len(counts))
    parts = np.array([[_saturated(count[term], count.total(), mean) for term in terms] for count in counts])
    prior = np.array([_idf(pool.passages, counted[term]) for term in terms])
    scores = np.array([hit.score for hit in pool.hits])
    weights = _ridge(parts, scores, prior)
    return {
        term: max(counted[term], (pool.passages + 1) * math.exp(-max(float(weight), 0.0)) - 0.5)
        for term, weight in zip(terms, weights, strict=True)
    }


def _ridge(
    parts: npt.NDArray[np.float64], scores: npt.NDArray[np.float64], prior: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    strength = _RIDGE * len(scores)
    left = parts.T @ parts + strength * np.eye(len(prior))
    return np.asarray(np.linalg.solve(left, parts.T @ scores + strength * prior), dtype=np.float64)


def _bm25(count: Counter[str], terms: Sequence[str], statistics: Statistics) -> float:
    length = count.total()
    parts = (statistics.idf(term) * _saturated(count[term], length, statistics.mean_length) for term in terms)
    return math.fsum(parts)


def _saturated(frequency: int, length: int, mean: float) -> float:
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / mean))


def _idf(passages: int, frequency: float) -> float:
    return math.log1p(max(0.0, passages - frequency + 0.5) / (frequency + 0.5))
