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
class Comparable:
    """Scores of every pool's hits on one scale, and the score of a text that has each word of the query once."""

    scores: tuple[tuple[float, ...], ...]
    possible: float


@dataclass(frozen=True, slots=True)
class _Counted:
    """A hit's frequencies of the query's terms, and its length in terms."""

    frequencies: Mapping[str, int]
    length: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """Corpus statistics over all the caller's scopes: passages, mean length, document frequency per term."""

    passages: int
    mean_length: float
    frequencies: Mapping[str, float]

    def idf(self, term: str) -> float:
        """Lucene's form, never negative."""
        return _idf(self.passages, self.frequencies.get(term, 0.0))


def compare(pools: Sequence[Pool], query: Sequence[Sequence[str]]) -> Comparable:
    """Put the pools on one scale; `query` groups the terms of each word.

    With hits in one scope only they keep its own BM25, else all are scored again with common statistics.
    """
    terms = list(dict.fromkeys(term for word in query for term in word))
    counted = [[_counted(hit, frozenset(terms)) for hit in pool.hits] for pool in pools]
    statistics = _common(pools, counted, terms)
    possible = math.fsum(_word_weight(word, statistics) for word in query)
    if sum(1 for pool in pools if pool.hits) <= 1:
        return Comparable(tuple(tuple(hit.score for hit in pool.hits) for pool in pools), possible)
    return Comparable(tuple(tuple(_bm25(hit, statistics) for hit in row) for row in counted), possible)


def _counted(hit: Retrieved, terms: frozenset[str]) -> _Counted:
    words = hit.terms.split(" ")
    return _Counted(Counter(word for word in words if word in terms), len(words))


def _word_weight(word: Sequence[str], statistics: Statistics) -> float:
    # A word's terms are its stems in several languages: the one that the texts know speaks for it.
    known = [term for term in word if statistics.frequencies.get(term)]
    return max((statistics.idf(term) for term in known or word), default=0.0)


def _common(pools: Sequence[Pool], counted: Sequence[Sequence[_Counted]], terms: Sequence[str]) -> Statistics:
    frequencies: Counter[str] = Counter()
    for pool, hits in zip(pools, counted, strict=True):
        frequencies.update(_document_frequencies(pool, hits, terms))
    lengths = [hit.length for hits in counted for hit in hits]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    return Statistics(max(1, sum(pool.passages for pool in pools)), mean, frequencies)


def _document_frequencies(pool: Pool, hits: Sequence[_Counted], terms: Sequence[str]) -> dict[str, float]:
    found = {term: float(sum(1 for hit in hits if term in hit.frequencies)) for term in terms}
    if pool.complete or not hits:
        return found
    return _recovered(pool, hits, {term: count for term, count in found.items() if count})


def _recovered(pool: Pool, hits: Sequence[_Counted], found: Mapping[str, float]) -> dict[str, float]:
    """Document frequencies that explain the scores of an incomplete pool, at least those counted in it."""
    terms = list(found)
    mean = sum(hit.length for hit in hits) / len(hits)
    parts = np.array([[_saturated(hit.frequencies.get(term, 0), hit.length, mean) for term in terms] for hit in hits])
    prior = np.array([_idf(pool.passages, found[term]) for term in terms])
    weights = _ridge(parts, np.array([hit.score for hit in pool.hits]), prior)
    return {
        term: max(found[term], (pool.passages + 1) * math.exp(-max(float(weight), 0.0)) - 0.5)
        for term, weight in zip(terms, weights, strict=True)
    }


def _ridge(
    parts: npt.NDArray[np.float64], scores: npt.NDArray[np.float64], prior: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    strength = _RIDGE * len(scores)
    left = parts.T @ parts + strength * np.eye(len(prior))
    return np.asarray(np.linalg.solve(left, parts.T @ scores + strength * prior), dtype=np.float64)


def _bm25(hit: _Counted, statistics: Statistics) -> float:
    mean = statistics.mean_length
    return math.fsum(
        statistics.idf(term) * _saturated(count, hit.length, mean) for term, count in sorted(hit.frequencies.items())
    )


def _saturated(frequency: int, length: int, mean: float) -> float:
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / mean))


def _idf(passages: int, frequency: float) -> float:
    return math.log1p(max(0.0, passages - frequency + 0.5) / (frequency + 0.5))
