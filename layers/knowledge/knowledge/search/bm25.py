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
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from knowledge.search.analysis import AnalyzedQuery
    from knowledge.store.revision import Retrieved

    Integers = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

K1: Final = 1.2
B: Final = 0.75
"""BM25's constants, as Lance's full-text index has them."""

_RIDGE: Final = 0.002
"""Weight of the counted idf in the estimate: terms that always co-occur cannot be distinguished by scores."""


_MAX_RIDGE_OPERATIONS: Final = 1 << 27
"""Limits the hits that the estimate uses to this over the square of the number of terms, about 20 ms: 1,310 hits for
320 terms, and all hits for the terms of most queries."""


@dataclass(frozen=True, slots=True)
class CandidatePool:
    """What one scope's lexical side returned of its `passages`; `complete` when there are no further matches."""

    hits: tuple[Retrieved, ...]
    passages: int
    complete: bool


@dataclass(frozen=True, slots=True)
class TermCounts:
    """A pool, the counts in its hits, and how many of its scope's passages hold each term.

    `frequencies` has a row for each hit and a column for each of the query's `terms`; `lengths` are the hits' in terms.
    """

    pool: CandidatePool
    terms: tuple[str, ...]
    frequencies: Integers
    lengths: Integers
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
    frequencies, lengths = _count_in([hit.terms for hit in pool.hits], terms)
    return TermCounts(
        pool, tuple(terms), frequencies, lengths, _document_frequencies(pool, frequencies, lengths, terms)
    )


def align_terms(counts: TermCounts, own: AnalyzedQuery, reference: AnalyzedQuery) -> TermCounts:
    """The same counts under the terms that another analysis of the query has for the same words.

    Where two versions of the analyzer spell a word differently, its passages must count together in the statistics of
    all scopes; otherwise the word would seem rarer than it is, and rarest in the smallest scope.
    """
    names = _rename_terms(own, reference)
    if not names:
        return counts
    named = [names.get(term, term) for term in counts.terms]
    terms = tuple(dict.fromkeys(named))
    columns = np.array([[own_name == term for term in terms] for own_name in named], dtype=np.int64)
    documents: dict[str, float] = {}
    for term, number in counts.document_frequencies.items():
        # A passage may hold several spellings: their sum may exceed the passages, the most frequent one's does not.
        name = names.get(term, term)
        documents[name] = max(number, documents.get(name, 0.0))
    return TermCounts(counts.pool, terms, counts.frequencies @ columns, counts.lengths, documents)


def _rename_terms(own: AnalyzedQuery, reference: AnalyzedQuery) -> dict[str, str]:
    if own.words == reference.words:
        return {}
    known = dict(zip(reference.sources, reference.words, strict=True))
    names: dict[str, str] = {}
    for source, word in zip(own.sources, own.words, strict=True):
        others = [term for term in known.get(source, ()) if term not in word]
        names.update({term: others[0] for term in word if others and term not in known[source]})
    return names


def rescore(pools: Sequence[TermCounts], words: Sequence[Sequence[str]]) -> RescoredPools:
    """Bring the scores of pools for the same query to one scale; `words` has the terms of each of its words.

    Hits of a single scope keep its BM25 scores; otherwise all are scored again with common statistics.
    """
    statistics = _merge_statistics(pools)
    ideal = math.fsum(_word_weight(word, statistics) for word in words)
    if sum(1 for each in pools if each.pool.hits) <= 1:
        scores = tuple(tuple(hit.score for hit in each.pool.hits) for each in pools)
    else:
        weights = {term: statistics.idf(term) for term in statistics.document_frequencies}
        scores = tuple(_score_again(each, weights, statistics.mean_length) for each in pools)
    # A passage outside a pool hardly scores more than the lowest in it; the highest of these bounds holds for all
    # pools.
    cutoffs = (min(own) for each, own in zip(pools, scores, strict=True) if own and not each.pool.complete)
    return RescoredPools(scores, ideal, max(cutoffs, default=0.0))


def estimate_document_frequencies(
    pool: CandidatePool, frequencies: Integers, lengths: Integers, counted: Sequence[float]
) -> list[float]:
    """Document frequencies that explain the scores of an incomplete pool; at least those counted in it.

    Each hit's score is a linear function of the terms' idf, with its saturated frequencies as coefficients. Ridge
    regression solves the pool for the idf, with the counted ones as a prior, and the inverse of `_idf` gives

        frequency = (passages + 1) * exp(-idf) - 0.5
    """
    prior = np.array([_idf(pool.passages, number) for number in counted])
    saturated = _saturate(frequencies, lengths, float(lengths.mean()))
    used = max(1, _MAX_RIDGE_OPERATIONS // len(prior) ** 2) if len(prior) else 0
    scores = np.array([hit.score for hit in pool.hits])
    idf = _solve_ridge(saturated[:used], scores[:used], prior)
    return [
        max(number, (pool.passages + 1) * math.exp(-max(weight, 0.0)) - 0.5)
        for number, weight in zip(counted, idf.tolist(), strict=True)
    ]


def _count_in(texts: Sequence[str], terms: Sequence[str]) -> tuple[Integers, Integers]:
    """How often each of the terms occurs in each text of terms, and how many terms each text has.

    Arrow splits and looks up all at once: in Python, the hits of 50 scopes would take most of a call's time.
    """
    split = pc.split_pattern(pa.array(texts, pa.string()), " ")
    columns = pc.index_in(split.values, value_set=pa.array(terms, pa.string())).fill_null(-1).to_numpy()
    ends = split.offsets.to_numpy().astype(np.int64)
    found = np.flatnonzero(columns >= 0)
    cells = (np.searchsorted(ends, found, side="right") - 1) * len(terms) + columns[found]
    counts = np.bincount(cells, minlength=len(texts) * len(terms))
    return counts.reshape(len(texts), len(terms)).astype(np.int64), np.diff(ends)


def _document_frequencies(
    pool: CandidatePool, frequencies: Integers, lengths: Integers, terms: Sequence[str]
) -> dict[str, float]:
    holding = np.count_nonzero(frequencies, axis=0)
    counted = dict(zip(terms, map(float, holding.tolist()), strict=True))
    if pool.complete or not pool.hits:
        return counted
    occurring = np.flatnonzero(holding)
    some = [terms[column] for column in occurring.tolist()]
    numbers = [counted[term] for term in some]
    estimated = estimate_document_frequencies(pool, frequencies[:, occurring], lengths, numbers)
    return dict(zip(some, estimated, strict=True))


def _solve_ridge(features: Floats, targets: Floats, prior: Floats) -> Floats:
    """Least squares with a penalty on the distance from `prior`, by the normal equations: (XᵀX + λI) w = Xᵀy + λp.

    With more terms than hits by the equal w = p + Xᵀ (XXᵀ + λI)⁻¹ (y - Xp), whose cost grows with the terms and not
    with their cube.
    """
    hits, terms = features.shape
    strength = _RIDGE * hits
    if terms > hits:
        left = features @ features.T + strength * np.eye(hits)
        return np.asarray(prior + features.T @ np.linalg.solve(left, targets - features @ prior), dtype=np.float64)
    left = features.T @ features + strength * np.eye(terms)
    return np.asarray(np.linalg.solve(left, features.T @ targets + strength * prior), dtype=np.float64)


def _merge_statistics(pools: Sequence[TermCounts]) -> _Statistics:
    frequencies: Counter[str] = Counter()
    for each in pools:
        frequencies.update(each.document_frequencies)
    # The mean of the hits replaces that of all passages, whose lengths would have to be read.
    hits = sum(len(each.lengths) for each in pools)
    mean = sum(int(each.lengths.sum()) for each in pools) / hits if hits else 1.0
    return _Statistics(max(1, sum(each.pool.passages for each in pools)), mean, frequencies)


def _word_weight(word: Sequence[str], statistics: _Statistics) -> float:
    # A word's terms are its stems in several languages: those that occur in the texts count.
    known = [term for term in word if statistics.document_frequencies.get(term)]
    return max((statistics.idf(term) for term in known or word), default=0.0)


def _score_again(counts: TermCounts, weights: Mapping[str, float], mean: float) -> tuple[float, ...]:
    idf = np.array([weights.get(term, 0.0) for term in counts.terms])
    # Summed exactly, so that equal hits get the same bits whatever the order of the terms.
    return tuple(math.fsum(row.tolist()) for row in idf * _saturate(counts.frequencies, counts.lengths, mean))


def _saturate(frequencies: Integers, lengths: Integers, mean: float) -> Floats:
    """BM25's term frequency: repeats count less and less, and less in a long passage."""
    norms = K1 * (1 - B + B * lengths / mean)
    return np.asarray(frequencies * (K1 + 1) / (frequencies + norms[:, None]), dtype=np.float64)


def _idf(passages: int, frequency: float) -> float:
    """Lucene's inverse document frequency, ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative."""
    return math.log1p(max(0.0, passages - frequency + 0.5) / (frequency + 0.5))
