"""Fusion of the two sides: values in, values out.

A candidate is a passage with what each side measured; `lexical` must be comparable across scopes, which raw BM25 is
not (see `lexical.py`). An item is represented by its best passage, and ranks count items.

Order is total: score, then item id. A candidate at least as good as another on both sides is never below it, because
every step is monotone in each side and tied measures share a rank.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from knowledge.requests import Mode

Measured = list[tuple[str, float]]
"""Items and raw measures of the passages that one side found."""
Fused = list[tuple[float, "Candidate"]]
"""Candidates with their fused scores."""

RRF_K: Final = 60
"""The customary constant of reciprocal rank fusion; results hardly depend on it between 20 and 100."""

_RRF_MAXIMUM: Final = 2 / (RRF_K + 1)

_DEVIATIONS: Final = 4.5
"""A pool's best usually lies so many standard deviations above its lowest; one further off counts for more."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage; `None` where a side did not retrieve it."""

    item_id: str
    start: int
    lexical: float | None = None
    semantic: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the lexical side could have measured: a text with every word, and the passages that it left out."""

    lexical_possible: float = 0.0
    lexical_floor: float = 0.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """An item's best passage with its fused score (0..1) and the item's rank on each side."""

    candidate: Candidate
    score: float
    lexical_rank: int | None
    semantic_rank: int | None


@dataclass(frozen=True, slots=True)
class _Side:
    """One side's normalised measures (from 0, about 1 for a good best) and ranks of items, by raw measure."""

    normalised: Mapping[float, float]
    ranks: Mapping[float, int]

    def weighted(self, weight: float) -> dict[float | None, float]:
        """Shares in the fused score by raw measure; no measure, no share."""
        return {None: 0.0, **{raw: weight * value for raw, value in self.normalised.items()}}

    @property
    def top(self) -> float:
        """What no normalised measure exceeds, at least 1."""
        return max(1.0, *self.normalised.values()) if self.normalised else 1.0

    def reciprocal(self) -> dict[float | None, float]:
        """The same for reciprocal rank fusion."""
        return {None: 0.0, **{raw: 1 / (RRF_K + position) for raw, position in self.ranks.items()}}

    def rank(self, raw: float | None) -> int | None:
        return None if raw is None else self.ranks[raw]


def rank(candidates: Iterable[Candidate], mode: Mode, alpha: float, evidence: Evidence) -> list[Ranked]:
    """Items in order of their fused score; `alpha` is the lexical weight of hybrid."""
    pool = sorted(candidates, key=attrgetter("item_id", "start"))
    lexical = _lexical_side(_measured(pool, attrgetter("lexical")), evidence)
    semantic = _semantic_side(_measured(pool, attrgetter("semantic")))
    best = _best_of_each_item(_fused(_asked(pool, mode), mode, alpha, lexical, semantic))
    return [_ranked(one, score, lexical, semantic) for score, one in best]


def _measured(pool: Iterable[Candidate], measure: Callable[[Candidate], float | None]) -> Measured:
    return [(one.item_id, value) for one in pool if (value := measure(one)) is not None]


def _asked(pool: Sequence[Candidate], mode: Mode) -> Sequence[Candidate]:
    """A passage counts only where a side that was asked found it."""
    if mode == "lexical":
        return [one for one in pool if one.lexical is not None]
    if mode == "semantic":
        return [one for one in pool if one.semantic is not None]
    return pool


def _fused(pool: Sequence[Candidate], mode: Mode, alpha: float, lexical: _Side, semantic: _Side) -> Fused:
    if mode == "rrf":
        shares, top = (lexical.reciprocal(), semantic.reciprocal()), _RRF_MAXIMUM
    else:
        weight = {"lexical": 1.0, "semantic": 0.0}.get(mode, alpha)
        shares = lexical.weighted(weight), semantic.weighted(1 - weight)
        top = weight * lexical.top + (1 - weight) * semantic.top
    words, meaning = shares
    return [((words[one.lexical] + meaning[one.semantic]) / top, one) for one in pool]


def _ranked(candidate: Candidate, score: float, lexical: _Side, semantic: _Side) -> Ranked:
    return Ranked(candidate, score, lexical.rank(candidate.lexical), semantic.rank(candidate.semantic))


def _best_of_each_item(fused: Fused) -> Fused:
    """In order of score; what is given is in order of items, and stays so where scores are equal."""
    best: dict[str, tuple[float, Candidate]] = {}
    for one in fused:
        known = best.get(one[1].item_id)
        if known is None or one[0] > known[0]:
            best[one[1].item_id] = one
    return sorted(best.values(), key=itemgetter(0), reverse=True)


def _lexical_side(found: Measured, evidence: Evidence) -> _Side:
    """BM25 has a natural zero, and a best that may be poor: the evidence is how near it comes to what is possible.

    Of that, a passage gets the mean of its share in the best and its place in the pool. The evidence counts by its
    root: in full it would punish long questions, not at all it would make a stray word a perfect match.
    """
    raw = {value for _, value in found}
    best = max(raw, default=0.0)
    if best <= 0:
        return _Side(dict.fromkeys(raw, 1.0), _item_ranks(found, raw))
    top = math.sqrt(best / max(best, evidence.lexical_possible))
    # Where nothing was left out, what was not found scores nothing: the place is the share.
    places = _places(found, evidence.lexical_floor) if evidence.lexical_floor > 0 else {one: one / best for one in raw}
    normalised = {value: top * (max(value, 0.0) / best + max(places[value], 0.0)) / 2 for value in raw}
    return _Side(normalised, _item_ranks(found, raw))


def _semantic_side(found: Measured) -> _Side:
    """Cosines have no zero of their own: only places in this pool count."""
    places = _places(found, min((value for _, value in found), default=0.0))
    return _Side(places, _item_ranks(found, places))


def _places(found: Measured, low: float) -> dict[float, float]:
    """From 0 at `low` to about 1; beyond it for a best far ahead. Equal measures count in full."""
    values = [value for _, value in found]
    width = _width(values, low)
    return {value: (value - low) / width if width > 0 else 1.0 for value in set(values)}


def _width(values: Sequence[float], low: float) -> float:
    """The band that a pool's measures fill, without what lies far ahead: the range of a small pool, else the spread."""
    if not values:
        return 0.0
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    return min(max(values) - low, _DEVIATIONS * spread)


def _item_ranks(found: Measured, raw: Iterable[float]) -> dict[float, int]:
    """Rank of a passage = 1 + number of items with a better passage, its own among them."""
    best: dict[str, float] = {}
    for item, value in found:
        best[item] = max(value, best.get(item, value))
    ordered = sorted(best.values(), reverse=True)
    ranks: dict[float, int] = {}
    ahead = 0
    for value in sorted(raw, reverse=True):
        while ahead < len(ordered) and ordered[ahead] > value:
            ahead += 1
        ranks[value] = ahead + 1
    return ranks
