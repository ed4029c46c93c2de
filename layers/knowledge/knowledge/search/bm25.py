"""BM25 scores of different scopes on one scale, and the ideal score of the query.

A BM25 score is a sum over terms of idf times a saturated frequency, and idf belongs to one table: an owner's perfect
hit among ten notes scores far below a weak one among a team's thousands. So the pooled hits are scored again with
one set of statistics. Document frequencies are counted where a pool holds every match, and otherwise estimated from
the scores themselves, which depend on them.
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

    from knowledge.store.revision import Retrieved

K1: Final = 1.2
B: Final = 0.75
"""BM25's constants, as Lance's full-text index has them."""

_RIDGE: Final = 0.002
"""Weight of the counted idf in the estimate: terms that always co-occur cannot be distinguished by scores."""


@dataclass(frozen=True, slots=True)
class CandidatePool:
    """What one scope's lexical side returned of its `passages`; `complete` when there are no further matches."""

    hits: tuple[Retrieved, ...]
    passages: int
    complete: bool


@dataclass(frozen=True, slots=True)
class HitCounts:
    """A hit's frequencies of the query's terms, and its length in terms."""

    frequencies: Mapping[str, int]
    length: int


@dataclass(frozen=True, slots=True)
class TermCounts:
    """A pool, the counts of each of its hits, and how many of its scope's passages hold each term."""

    pool: CandidatePool
    hits: tuple[HitCounts, ...]
    document_frequencies: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RescoredPools:
    """Scores of every pool's hits on one scale, in the pools' order."""

    scores: tuple[tuple[float, ...], ...]
    ideal_score: float
    """The score of a text that has each word of the query once."""
    cutoff_score: float
    """The highest score possible for a passage that no pool holds; 0 where the pools are complete."""


@dataclass(frozen=True, slots=True)
class _Statistics:
    """Corpus statistics over all the caller's scopes: passages, mean length, document frequency per term."""

    passages: int
    mean_length: float
    document_frequencies: Mapping[str, float]

    def idf(self, term: str) -> float:
        return _idf(self.passages, self.document_frequencies.get(term, 0.0))


def count_terms(pool: CandidatePool, terms: Sequence[str]) -> TermCounts:
    """Count a query's distinct terms in a pool."""
    wanted = frozenset(terms)
    hits = tuple(_count_in(hit, wanted) for hit in pool.hits)
    return TermCounts(pool, hits, _document_frequencies(pool, hits, terms))


def rescore(pools: Sequence[TermCounts], words: Sequence[Sequence[str]]) -> RescoredPools:
    """Bring the scores of pools for the same query to one scale; `words` has the terms of each of its words.

    Hits of a single scope keep its BM25 scores; otherwise all are scored again with common statistics.
    """
    statistics = _merge_statistics(pools)
    ideal = math.fsum(_word_weight(word, statistics) for word in words)
    if sum(1 for each in pools if each.hits) <= 1:
        scores = tuple(tuple(hit.score for hit in each.pool.hits) for each in pools)
    else:
        scores = tuple(tuple(_bm25(hit, statistics) for hit in each.hits) for each in pools)
    # A passage outside a pool hardly scores more than the lowest in it; the highest of these bounds holds for all
    # pools.
    cutoffs = (min(own) for each, own in zip(pools, scores, strict=True) if own and not each.pool.complete)
    return RescoredPools(scores, ideal, max(cutoffs, default=0.0))


def estimate_document_frequencies(
    pool: CandidatePool, hits: Sequence[HitCounts], counted: Mapping[str, float]
) -> dict[str, float]:
    """Document frequencies that explain the scores of an incomplete pool; at least those counted in it.

    Each hit's score is a linear function of the terms' idf, with its saturated frequencies as coefficients. Ridge
    regression solves the pool for the idf, with the counted ones as a prior, and the inverse of `_idf` gives

        frequency = (passages + 1) * exp(-idf) - 0.5
    """
    terms = list(counted)
    lengths = np.array([hit.length for hit in hits])
    frequencies = np.array([[hit.frequencies.get(term, 0) for term in terms] for hit in hits])
    saturated = frequencies * (K1 + 1) / (frequencies + (K1 * (1 - B + B * lengths / lengths.mean()))[:, None])
    prior = np.array([_idf(pool.passages, counted[term]) for term in terms])
    idf = _solve_ridge(saturated, np.array([hit.score for hit in pool.hits]), prior)
    return {
        term: max(counted[term], (pool.passages + 1) * math.exp(-max(float(weight), 0.0)) - 0.5)
        for term, weight in zip(terms, idf, strict=True)
    }


def _count_in(hit: Retrieved, wanted: frozenset[str]) -> HitCounts:
    # Set intersection and `list.count` run in C; a loop over the words would be the slowest part of a search.
    words = hit.terms.split(" ")
    return HitCounts({term: words.count(term) for term in wanted.intersection(words)}, len(words))


def _document_frequencies(pool: CandidatePool, hits: Sequence[HitCounts], terms: Sequence[str]) -> dict[str, float]:
    holding = Counter(term for hit in hits for term in hit.frequencies)
    counted = {term: float(holding[term]) for term in terms}
    if pool.complete or not hits:
        return counted
    return estimate_document_frequencies(pool, hits, {term: number for term, number in counted.items() if number})


def _solve_ridge(
    features: npt.NDArray[np.float64], targets: npt.NDArray[np.float64], prior: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Least squares with a penalty on the distance from `prior`, by the normal equations: (XᵀX + λI) w = Xᵀy + λp."""
    strength = _RIDGE * len(targets)
    left = features.T @ features + strength * np.eye(len(prior))
    return np.asarray(np.linalg.solve(left, features.T @ targets + strength * prior), dtype=np.float64)


def _merge_statistics(pools: Sequence[TermCounts]) -> _Statistics:
    frequencies: Counter[str] = Counter()
    for each in pools:
        frequencies.update(each.document_frequencies)
    lengths = [hit.length for each in pools for hit in each.hits]
    # The mean of the hits replaces that of all passages, whose lengths would have to be read.
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    return _Statistics(max(1, sum(each.pool.passages for each in pools)), mean, frequencies)


def _word_weight(word: Sequence[str], statistics: _Statistics) -> float:
    # A word's terms are its stems in several languages: those that occur in the texts count.
    known = [term for term in word if statistics.document_frequencies.get(term)]
    return max((statistics.idf(term) for term in known or word), default=0.0)


def _bm25(hit: HitCounts, statistics: _Statistics) -> float:
    # Terms in one order, so that equal hits get the same bits; sets of strings have another order in each process.
    mean = statistics.mean_length
    return math.fsum(
        statistics.idf(term) * _saturate(number, hit.length, mean) for term, number in sorted(hit.frequencies.items())
    )


def _saturate(frequency: int, length: int, mean: float) -> float:
    """BM25's term frequency: repeats count less and less, and less in a long passage."""
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / mean))


def _idf(passages: int, frequency: float) -> float:
    """Lucene's inverse document frequency, ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative."""
    return math.log1p(max(0.0, passages - frequency + 0.5) / (frequency + 0.5))
