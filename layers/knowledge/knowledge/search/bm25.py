"""BM25 scores of different scopes on one scale, and the ideal score of the query.

A BM25 score is a sum over terms of idf times a saturated frequency, and idf belongs to one table: an owner's perfect
hit among ten notes scores far below a weak one among a team's thousands. So the pooled hits are scored again with
one set of statistics. Document frequencies are counted where a pool holds every match, and otherwise estimated from
the scores themselves, which depend on them.

A hit's score is the mean of two: BM25 of its passage, and of its item as far as the pool holds it, so that an item
whose words are spread over its passages is found too. A word's terms are stems and spellings of one word, or pieces of
one run: its best counts in full, the others by half (decision 0078).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy.typing as npt

    from knowledge.search.analysis import AnalyzedQuery
    from knowledge.store.revision import Retrieved

    Integers = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

K1: Final = 1.2
B: Final = 0.75
"""BM25's constants, as Lance's full-text index has them."""

FURTHER_TERMS: Final = 0.5
"""What the other terms of a word count beside its best."""

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
    """Corpus statistics over all the caller's scopes: passages, mean length, document frequency per term.

    `mean_length` is of passages, in terms; `mean_chars` of items, in characters.
    """

    passages: int
    mean_length: float
    mean_chars: float
    document_frequencies: Mapping[str, float]

    def idf(self, term: str) -> float:
        return _idf(self.passages, self.document_frequencies.get(term, 0.0))

    def list_idf(self, terms: Sequence[str]) -> Floats:
        """The same of many terms at once."""
        found = np.array([self.document_frequencies.get(term, 0.0) for term in terms])
        return np.log1p(np.maximum(0.0, self.passages - found + 0.5) / (found + 0.5))


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


def rescore(pools: Sequence[TermCounts], query: AnalyzedQuery) -> RescoredPools:
    """Score the hits of pools for the same query again, with common statistics."""
    statistics = _merge_statistics(pools)
    scores = tuple(_score_hits(each, statistics, query) for each in pools)
    ideal = math.fsum(
        times * _word_weight(word, statistics) for word, times in zip(query.words, query.repeats, strict=True)
    )
    # A passage outside a pool hardly scores more than the lowest in it; the highest of these bounds holds for all
    # pools.
    cutoffs = (min(own) for each, own in zip(pools, scores, strict=True) if own and not each.pool.complete)
    return RescoredPools(scores, ideal, max(cutoffs, default=0.0))


def score_in_own_scope(
    counts: TermCounts, query: AnalyzedQuery, passages: Collection[tuple[str, int]]
) -> dict[tuple[str, int], float]:
    """The scores of some of a pool's hits, by the statistics of their scope alone."""
    items = {item for item, _ in passages}
    rows = [row for row, hit in enumerate(counts.pool.hits) if hit.item_id in items]
    pool = replace(counts.pool, hits=tuple(counts.pool.hits[row] for row in rows))
    part = replace(counts, pool=pool, frequencies=counts.frequencies[rows], lengths=counts.lengths[rows])
    scores = _score_hits(part, _merge_statistics([counts]), query)
    return {hit.passage: score for hit, score in zip(pool.hits, scores, strict=True) if hit.passage in passages}


def _score_hits(counts: TermCounts, statistics: _Statistics, query: AnalyzedQuery) -> tuple[float, ...]:
    """For each hit, the mean of the scores of its passage and of its item."""
    words = _WordColumns.find(counts.terms, query)
    if not counts.pool.hits or not len(words.starts):
        return (0.0,) * len(counts.pool.hits)
    idf = statistics.list_idf(counts.terms)
    passages = _score_rows(counts.frequencies, counts.lengths / statistics.mean_length, idf, words)
    numbers, frequencies, lengths = _group_by_item(counts)
    items = _score_rows(frequencies, lengths / statistics.mean_chars, idf, words)
    return tuple(((passages + items[numbers]) / 2).tolist())


def _group_by_item(counts: TermCounts) -> tuple[Integers, Integers, Integers]:
    """The number of each hit's item, what the pool holds of each item, and the lengths of their whole texts."""
    items = {item: number for number, item in enumerate(dict.fromkeys(hit.item_id for hit in counts.pool.hits))}
    numbers = np.array([items[hit.item_id] for hit in counts.pool.hits])
    frequencies = np.zeros((len(items), len(counts.terms)), np.int64)
    np.add.at(frequencies, numbers, counts.frequencies)
    lengths = np.zeros(len(items), np.int64)
    lengths[numbers] = [hit.item_chars for hit in counts.pool.hits]
    return numbers, frequencies, lengths


@dataclass(frozen=True, slots=True)
class _WordColumns:
    """The columns of a query's words, one word after the other: where each begins, and how often it counts."""

    columns: Integers
    starts: Integers
    repeats: Integers

    @classmethod
    def find(cls, terms: Sequence[str], query: AnalyzedQuery) -> _WordColumns:
        """The words of which some term is a column."""
        column_of = {term: column for column, term in enumerate(terms)}
        found = [[column_of[term] for term in word if term in column_of] for word in query.words]
        repeats = [times for times, columns in zip(query.repeats, found, strict=True) if columns]
        lengths = [len(columns) for columns in found if columns]
        columns = np.array([column for one in found for column in one], np.int64)
        return cls(columns, np.cumsum([0, *lengths], dtype=np.int64)[:-1], np.array(repeats, np.int64))


def _score_rows(frequencies: Integers, relative_lengths: Floats, idf: Floats, words: _WordColumns) -> Floats:
    # A row's score has the same bits wherever the row stands: each is added by itself, in the order of the words.
    scores = (_saturate(frequencies, relative_lengths) * idf)[:, words.columns]
    best = np.maximum.reduceat(scores, words.starts, axis=1)
    further = np.add.reduceat(scores, words.starts, axis=1) - best
    return np.asarray(((best + FURTHER_TERMS * further) * words.repeats).sum(axis=1), dtype=np.float64)


def estimate_document_frequencies(
    pool: CandidatePool, frequencies: Integers, lengths: Integers, counted: Sequence[float]
) -> list[float]:
    """Document frequencies that explain the scores of an incomplete pool; at least those counted in it.

    Each hit's score is a linear function of the terms' idf, with its saturated frequencies as coefficients. Ridge
    regression solves the pool for the idf, with the counted ones as a prior, and the inverse of `_idf` gives

        frequency = (passages + 1) * exp(-idf) - 0.5
    """
    prior = np.array([_idf(pool.passages, number) for number in counted])
    saturated = _saturate(frequencies, lengths / float(lengths.mean()))
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
    items = {(hit.scope, hit.item_id): hit.item_chars for each in pools for hit in each.pool.hits}
    mean_chars = sum(items.values()) / len(items) if items else 1.0
    return _Statistics(max(1, sum(each.pool.passages for each in pools)), mean, max(1.0, mean_chars), frequencies)


def _word_weight(word: Sequence[str], statistics: _Statistics) -> float:
    # A word's terms are its stems in several languages: those that occur in the texts count.
    known = [term for term in word if statistics.document_frequencies.get(term)]
    return max((statistics.idf(term) for term in known or word), default=0.0)


def _saturate(frequencies: Integers, relative_lengths: Floats) -> Floats:
    """BM25's term frequency: repeats count less and less, and less in a text that is longer than the mean."""
    norms = K1 * (1 - B + B * relative_lengths)
    return np.asarray(frequencies * (K1 + 1) / (frequencies + norms[:, None]), dtype=np.float64)


def _idf(passages: int, frequency: float) -> float:
    """Lucene's inverse document frequency, ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative."""
    return math.log1p(max(0.0, passages - frequency + 0.5) / (frequency + 0.5))
