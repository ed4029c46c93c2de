"""Fusion, the second step of a search: from the candidates of both sides to ranked items. Values in, values out.

A passage has a raw score from each side that found it. Lexical scores must be comparable across scopes, which raw BM25
is not (see `bm25.py`). An item is represented by its best passage, and ranks count items.

The order is total: score, then item id. A passage that is at least as good as another on both sides never ranks below
it, because every step is monotone in each side and equal scores share a rank.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from knowledge.requests import LEXICAL_MODES, SEMANTIC_MODES
from knowledge.results import SCORE_DECIMALS
from knowledge.search.bm25 import align_terms, rescore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from knowledge.requests import Mode
    from knowledge.search.retrieval import ScopeCandidates

PassageScores = dict[tuple[str, int], float]
"""One side's raw scores by passage: item id and start."""
ItemScores = list[tuple[str, float]]
"""Items and raw scores of the passages that one side found."""
Scored = list[tuple[float, "Candidate"]]
"""Candidates with their fused scores."""

RRF_K: Final = 60
"""The usual constant of reciprocal rank fusion; results hardly depend on it between 20 and 100."""

_RRF_MAXIMUM: Final = 2 / (RRF_K + 1)
"""The score of an item that is first on both sides."""

_DEVIATIONS: Final = 4.5
"""A pool's best is usually at most so many standard deviations above its lowest; one further above counts more."""


_LEAD_WEIGHT: Final = 4.0
"""How much heavier the lexical side becomes if all words find one item alone (decision 0079)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage with its raw scores; `None` where a side did not find it or was not asked."""

    item_id: str
    start: int
    lexical: float | None = None
    semantic: float | None = None

    @property
    def passage(self) -> tuple[str, int]:
        """Key by which both sides name the same passage."""
        return (self.item_id, self.start)


@dataclass(frozen=True, slots=True)
class LexicalBounds:
    """The score of a text with every word of the query, and what passages outside an incomplete pool may score."""

    ideal_score: float = 0.0
    cutoff_score: float = 0.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """An item's best passage with its fused score (0..1) and the item's rank on each side."""

    candidate: Candidate
    score: float
    lexical_rank: int | None
    semantic_rank: int | None


@dataclass(frozen=True, slots=True)
class _Side:
    """One side's normalized scores (0 to about 1) and ranks of items, by raw score."""

    normalized: Mapping[float, float]
    ranks: Mapping[float, int]

    def weighted_scores(self, weight: float) -> dict[float | None, float]:
        """Shares in the fused score by raw score; none for a passage that the side did not find."""
        return {None: 0.0, **{raw: weight * value for raw, value in self.normalized.items()}}

    def reciprocal_ranks(self) -> dict[float | None, float]:
        """The same for reciprocal rank fusion."""
        return {None: 0.0, **{raw: 1 / (RRF_K + rank) for raw, rank in self.ranks.items()}}

    @property
    def maximum(self) -> float:
        """What no normalized score exceeds, at least 1."""
        return max(1.0, *self.normalized.values()) if self.normalized else 1.0

    def rank_of(self, raw: float | None) -> int | None:
        return None if raw is None else self.ranks[raw]


def fuse(candidates: Sequence[ScopeCandidates], mode: Mode, alpha: float) -> list[Ranked]:
    """Rank what both sides of all scopes found; a side that the mode does not use is ignored."""
    if not candidates:
        return []
    # Scopes may be asked in the terms of different analyzers: scores are computed in those of the newest.
    query = max(candidates, key=lambda scope: scope.snapshot.analyzer_versions).query
    pools = [align_terms(scope.lexical, scope.query, query) for scope in candidates]
    rescored = rescore(pools, query)
    lexical = {
        hit.passage: score
        for pool, scores in zip(pools, rescored.scores, strict=True)
        for hit, score in zip(pool.pool.hits, scores, strict=True)
    }
    semantic = {hit.passage: hit.score for scope in candidates for hit in scope.semantic}
    return rank(lexical, semantic, mode, alpha, LexicalBounds(rescored.ideal_score, rescored.cutoff_score))


def rank(
    lexical: PassageScores, semantic: PassageScores, mode: Mode, alpha: float, bounds: LexicalBounds
) -> list[Ranked]:
    """Items in order of their fused score; `alpha` is the lexical weight of hybrid."""
    words = lexical if mode in LEXICAL_MODES else {}
    meaning = semantic if mode in SEMANTIC_MODES else {}
    pool = [Candidate(*key, words.get(key), meaning.get(key)) for key in sorted(words.keys() | meaning.keys())]
    left, right = _lexical_side(_by_item(words), bounds), _semantic_side(_by_item(meaning))
    best = _best_of_each_item(_score(pool, mode, alpha, left, right))
    return [Ranked(one, score, left.rank_of(one.lexical), right.rank_of(one.semantic)) for score, one in best]


def _by_item(scores: PassageScores) -> ItemScores:
    return [(item_id, score) for (item_id, _), score in scores.items()]


def _score(pool: Sequence[Candidate], mode: Mode, alpha: float, lexical: _Side, semantic: _Side) -> Scored:
    """Reciprocal rank fusion, or the weighted sum of normalized scores, each as a share of its maximum."""
    if mode == "rrf":
        words, meaning, maximum = lexical.reciprocal_ranks(), semantic.reciprocal_ranks(), _RRF_MAXIMUM
    else:
        weight = {"lexical": 1.0, "semantic": 0.0}.get(mode, alpha)
        words, meaning = lexical.weighted_scores(weight), semantic.weighted_scores(1 - weight)
        maximum = weight * lexical.maximum + (1 - weight) * semantic.maximum
    # Rounded as it is shown, so that the order is by the shown score, then item id.
    return [(round((words[one.lexical] + meaning[one.semantic]) / maximum, SCORE_DECIMALS), one) for one in pool]


def _best_of_each_item(scored: Scored) -> Scored:
    """In order of score; candidates come in order of item ids, and the stable sort keeps that for equal scores."""
    best: dict[str, tuple[float, Candidate]] = {}
    for one in scored:
        known = best.get(one[1].item_id)
        if known is None or one[0] > known[0]:
            best[one[1].item_id] = one
    return sorted(best.values(), key=itemgetter(0), reverse=True)


def _lexical_side(found: ItemScores, bounds: LexicalBounds) -> _Side:
    """BM25 has a natural zero, but the best may be poor: the *query coverage* compares it with the ideal score.

        coverage   = sqrt(best / ideal)
        evidence   = 1 + 4 * coverage^4 * lead
        normalized = evidence * coverage * (score / best + (score - cutoff) / spread) / 2

    The square root, because full coverage would penalize long queries, and without coverage a single shared word would
    be a perfect match. The mean of two values, because each alone fails in one case: by its share of the best, the last
    of a large pool of near equals would get almost 1, and by its distance from the cutoff, the lowest hit of a small
    pool would get 0.

    The *lead* is the share of the best score by which it exceeds the next item's: an identifier, a name or a citation
    finds one item with all its words, and that is stronger evidence than the words that many items share.
    """
    raw = {score for _, score in found}
    best = max(raw, default=0.0)
    if best <= 0:
        return _Side(dict.fromkeys(raw, 1.0), _rank_items(found, raw))
    coverage = math.sqrt(best / max(best, bounds.ideal_score))
    # Where nothing was cut off, a passage that was not found scores 0: the share of the best counts alone.
    cut_off = bounds.cutoff_score > 0
    heights = _normalize(found, bounds.cutoff_score) if cut_off else {score: score / best for score in raw}
    half = (1 + _LEAD_WEIGHT * coverage**4 * _find_lead(found)) * coverage / 2
    normalized = {score: half * (max(score, 0.0) / best + max(heights[score], 0.0)) for score in raw}
    return _Side(normalized, _rank_items(found, raw))


def _find_lead(found: ItemScores) -> float:
    """The share of the best item's score by which it exceeds the next item's: 1 for a single item, 0 for a tie."""
    items: dict[str, float] = {}
    for item_id, score in found:
        items[item_id] = max(score, items.get(item_id, score))
    best, second = [*sorted(items.values(), reverse=True), 0.0][:2]
    return (best - max(second, 0.0)) / best


def _semantic_side(found: ItemScores) -> _Side:
    """Cosines have no natural zero: only their distribution in this pool counts."""
    normalized = _normalize(found, min((score for _, score in found), default=0.0))
    return _Side(normalized, _rank_items(found, normalized))


def _normalize(found: ItemScores, low: float) -> dict[float, float]:
    """From 0 at `low` to about 1, and above 1 for a best far ahead. Equal scores get 1."""
    scores = [score for _, score in found]
    spread = _spread(scores, low)
    return {score: (score - low) / spread if spread > 0 else 1.0 for score in set(scores)}


def _spread(scores: Sequence[float], low: float) -> float:
    """The spread of a pool's scores: their range, at most `_DEVIATIONS` standard deviations.

    With the range alone, a single best hit far ahead would reduce all others to almost 0.
    """
    if not scores:
        return 0.0
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    return min(max(scores) - low, _DEVIATIONS * deviation)


def _rank_items(found: ItemScores, raw: Iterable[float]) -> dict[float, int]:
    """Competition ranking by raw score: 1 + the number of items with a better passage, the passage's own among them."""
    best: dict[str, float] = {}
    for item_id, score in found:
        best[item_id] = max(score, best.get(item_id, score))
    ordered = sorted(best.values(), reverse=True)
    ranks: dict[float, int] = {}
    ahead = 0
    for score in sorted(raw, reverse=True):
        while ahead < len(ordered) and ordered[ahead] > score:
            ahead += 1
        ranks[score] = ahead + 1
    return ranks
