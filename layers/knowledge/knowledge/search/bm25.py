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

    from knowledge.store.revision import Retrieved

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
class HitCounts:
    """A hit's frequencies of the query's terms, and its length in terms."""

    frequencies: Mapping[str, int]
    length: int


@dataclass(frozen=True, slots=True)
class Counted:
    """A pool, what was counted in each of its hits, and how many of its scope's passages hold each term."""

    pool: Pool
    hits: tuple[HitCounts, ...]
    documents: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Comparable:
    """Scores of every pool's hits on one scale, in the pools' order."""

    scores: tuple[tuple[float, ...], ...]
    possible: float
    """The score of a text that has each word of the query once."""
    floor: float
    """What further passages may score that no pool holds; 0 where the pools are complete."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Corpus statistics over all the caller's scopes: passages, mean length, document frequency per term."""

    passages: int
    mean_length: float
    frequencies: Mapping[str, float]

    def idf(self, term: str) -> float:
        """Lucene's form, never negative."""
        return _idf(self.passages, self.frequencies.get(term, 0.0))


def count(pool: Pool, query: Sequence[Sequence[str]]) -> Counted:
    """Count the query's terms in a pool; `query` groups the terms of each word."""
    terms = list(dict.fromkeys(term for word in query for term in word))
    asked = frozenset(terms)
    hits = tuple(_counts(hit, asked) for hit in pool.hits)
    return Counted(pool, hits, _document_frequencies(pool, hits, terms))


def compare(pools: Sequence[Counted], query: Sequence[Sequence[str]]) -> Comparable:
    """Put pools in which the same query was counted on one scale.

    With hits in one scope only they keep its own BM25, else all are scored again with common statistics.
    """
    statistics = _common(pools)
    possible = math.fsum(_word_weight(word, statistics) for word in query)
    if sum(1 for each in pools if each.hits) <= 1:
        scores = tuple(tuple(hit.score for hit in each.pool.hits) for each in pools)
    else:
        scores = tuple(tuple(_bm25(hit, statistics) for hit in each.hits) for each in pools)
    floors = (min(own) for each, own in zip(pools, scores, strict=True) if own and not each.pool.complete)
    return Comparable(scores, possible, max(floors, default=0.0))


def _counts(hit: Retrieved, asked: frozenset[str]) -> HitCounts:
    words = hit.terms.split(" ")
    return HitCounts({term: words.count(term) for term in asked.intersection(words)}, len(words))


def _word_weight(word: Sequence[str], statistics: Statistics) -> float:
    # A word's terms are its stems in several languages: the one that the texts know speaks for it.
    known = [term for term in word if statistics.frequencies.get(term)]
    return max((statistics.idf(term) for term in known or word), default=0.0)


def _common(pools: Sequence[Counted]) -> Statistics:
    frequencies: Counter[str] = Counter()
    for each in pools:
        frequencies.update(each.documents)
    lengths = [hit.length for each in pools for hit in each.hits]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    return Statistics(max(1, sum(each.pool.passages for each in pools)), mean, frequencies)


def _document_frequencies(pool: Pool, hits: Sequence[HitCounts], terms: Sequence[str]) -> dict[str, float]:
    holding = Counter(term for hit in hits for term in hit.frequencies)
    found = {term: float(holding[term]) for term in terms}
    if pool.complete or not hits:
        return found
    return _recovered(pool, hits, {term: number for term, number in found.items() if number})


def _recovered(pool: Pool, hits: Sequence[HitCounts], found: Mapping[str, float]) -> dict[str, float]:
    """Document frequencies that explain the scores of an incomplete pool, at least those counted in it."""
    terms = list(found)
    lengths = np.array([hit.length for hit in hits])
    counts = np.array([[hit.frequencies.get(term, 0) for term in terms] for hit in hits])
    parts = counts * (K1 + 1) / (counts + (K1 * (1 - B + B * lengths / lengths.mean()))[:, None])
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


def _bm25(hit: HitCounts, statistics: Statistics) -> float:
    mean = statistics.mean_length
    return math.fsum(
        statistics.idf(term) * _saturated(number, hit.length, mean) for term, number in sorted(hit.frequencies.items())
    )


def _saturated(frequency: int, length: int, mean: float) -> float:
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / mean))


def _idf(passages: int, frequency: float) -> float:
    return math.log1p(max(0.0, passages - frequency + 0.5) / (frequency + 0.5))
