"""Fusion: what holds for any pool of candidates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.requests import LEXICAL_MODES, MODES, SEMANTIC_MODES
from knowledge.search.fusion import Candidate, LexicalBounds, Ranked, rank

if TYPE_CHECKING:
    from knowledge.requests import Mode

LEXICAL = st.none() | st.sampled_from([0.0, 0.25, 1.0, 3.5, 7.25]) | st.floats(0, 50, allow_nan=False)
COSINES = st.none() | st.sampled_from([-0.5, 0.0, 0.7, 0.8, 0.81]) | st.floats(-1, 1, allow_nan=False)
CANDIDATES = st.builds(Candidate, st.sampled_from("abcdefgh"), st.integers(0, 3), LEXICAL, COSINES).filter(
    lambda one: one.lexical is not None or one.semantic is not None
)
POOLS = st.lists(CANDIDATES, max_size=24, unique_by=lambda one: (one.item_id, one.start))
ALPHAS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.floats(0, 1)
BOUNDS = st.builds(LexicalBounds, st.floats(0, 60), st.just(0.0) | st.floats(0, 30))
ALL_MODES = st.sampled_from(MODES)


def ranked_in(pool: list[Candidate], mode: Mode, alpha: float, bounds: LexicalBounds) -> list[Ranked]:
    """The pool as both sides found it, ranked."""
    lexical = {(one.item_id, one.start): one.lexical for one in pool if one.lexical is not None}
    semantic = {(one.item_id, one.start): one.semantic for one in pool if one.semantic is not None}
    return rank(lexical, semantic, mode, alpha, bounds)


def items(ranked: list[Ranked]) -> list[str]:
    return [one.candidate.item_id for one in ranked]


@given(POOLS, ALL_MODES, ALPHAS, BOUNDS)
def test_the_order_is_total_and_scores_stay_between_zero_and_one(
    pool: list[Candidate], mode: Mode, alpha: float, bounds: LexicalBounds
) -> None:
    ranked = ranked_in(pool, mode, alpha, bounds)
    assert all(0 <= one.score <= 1 for one in ranked)
    keys = [(-one.score, one.candidate.item_id) for one in ranked]
    assert keys == sorted(set(keys))
    assert len(set(items(ranked))) == len(ranked)


@given(POOLS, ALL_MODES, ALPHAS, BOUNDS, st.randoms(use_true_random=False))
def test_the_order_in_which_candidates_arrive_changes_nothing(
    pool: list[Candidate],
    mode: Mode,
    alpha: float,
    bounds: LexicalBounds,
    random: st.random.Random,  # type: ignore[name-defined]  # hypothesis hands over the standard class
) -> None:
    shuffled = list(pool)
    random.shuffle(shuffled)
    assert ranked_in(shuffled, mode, alpha, bounds) == ranked_in(pool, mode, alpha, bounds)


@given(POOLS, ALL_MODES, ALPHAS, BOUNDS, CANDIDATES)
def test_a_passage_at_least_as_good_on_both_sides_is_never_below(
    pool: list[Candidate], mode: Mode, alpha: float, bounds: LexicalBounds, other: Candidate
) -> None:
    better = Candidate("zz-better", 0, _raise(other.lexical), _raise(other.semantic))
    ranked = ranked_in([*pool, replace(other, item_id="a-worse"), better], mode, alpha, bounds)
    scores = {one.candidate.item_id: one.score for one in ranked}
    assert scores.get("zz-better", 0.0) >= scores.get("a-worse", 0.0)


def _raise(score: float | None) -> float | None:
    return None if score is None else score + 0.1


@given(POOLS, BOUNDS)
def test_alpha_one_orders_as_lexical_and_alpha_zero_as_semantic(pool: list[Candidate], bounds: LexicalBounds) -> None:
    lexical = ranked_in(pool, "lexical", 0.5, bounds)
    semantic = ranked_in(pool, "semantic", 0.5, bounds)
    all_lexical = [one for one in ranked_in(pool, "hybrid", 1.0, bounds) if one.candidate.lexical is not None]
    all_semantic = [one for one in ranked_in(pool, "hybrid", 0.0, bounds) if one.candidate.semantic is not None]
    positive = [one for one in lexical if one.score > 0]
    assert [(one.candidate.item_id, one.score) for one in all_lexical if one.score > 0] == [
        (one.candidate.item_id, one.score) for one in positive
    ]
    best = [one for one in semantic if one.score > 0]
    assert [(one.candidate.item_id, one.score) for one in all_semantic if one.score > 0] == [
        (one.candidate.item_id, one.score) for one in best
    ]


@pytest.mark.parametrize("mode", MODES)
def test_a_single_hit_counts_in_full(mode: Mode) -> None:
    ranked = ranked_in([Candidate("only", 0, 3.0, 0.8)], mode, 0.5, LexicalBounds())
    ranks = (1 if mode in LEXICAL_MODES else None, 1 if mode in SEMANTIC_MODES else None)
    assert [(one.score, one.lexical_rank, one.semantic_rank) for one in ranked] == [(1.0, *ranks)]


@given(POOLS, ALPHAS, BOUNDS)
def test_a_side_that_the_mode_does_not_ask_changes_nothing_and_is_not_shown(
    pool: list[Candidate], alpha: float, bounds: LexicalBounds
) -> None:
    lexical = [replace(one, semantic=None) for one in pool]
    semantic = [replace(one, lexical=None) for one in pool]
    assert ranked_in(pool, "lexical", alpha, bounds) == ranked_in(lexical, "lexical", alpha, bounds)
    assert ranked_in(pool, "semantic", alpha, bounds) == ranked_in(semantic, "semantic", alpha, bounds)


def test_first_on_both_sides_is_one_in_rrf() -> None:
    pool = [Candidate("a", 0, 9.0, 0.9), Candidate("b", 0, 8.0, 0.8), Candidate("c", 0, None, 0.7)]
    ranked = ranked_in(pool, "rrf", 0.5, LexicalBounds())
    assert items(ranked) == ["a", "b", "c"]
    assert ranked[0].score == 1.0
    assert ranked[2].score == round((1 / 63) / (2 / 61), 4)


def test_equal_scores_share_a_rank_and_the_item_id_decides() -> None:
    pool = [Candidate("b", 0, 2.0, 0.5), Candidate("a", 0, 2.0, 0.5), Candidate("c", 0, 1.0, 0.5)]
    ranked = ranked_in(pool, "lexical", 0.5, LexicalBounds())
    assert [(one.candidate.item_id, one.lexical_rank) for one in ranked] == [("a", 1), ("b", 1), ("c", 3)]


def test_an_item_is_represented_by_its_best_passage() -> None:
    pool = [Candidate("a", 0, 1.0, 0.2), Candidate("a", 1, 5.0, 0.9), Candidate("b", 0, 4.0, 0.8)]
    ranked = ranked_in(pool, "hybrid", 0.5, LexicalBounds())
    assert [(one.candidate.item_id, one.candidate.start) for one in ranked] == [("a", 1), ("b", 0)]


def test_a_match_of_few_of_the_words_does_not_count_as_a_full_match() -> None:
    pool = [Candidate("stopword", 0, 1.0, 0.75), Candidate("meaning", 0, None, 0.9)]
    assert items(ranked_in(pool, "hybrid", 0.5, LexicalBounds(ideal_score=20.0))) == ["meaning", "stopword"]


def test_among_few_hits_a_right_one_keeps_its_share_beside_a_stray_word() -> None:
    pool = [
        Candidate("stray", 0, 2.4, 0.33),
        Candidate("other", 0, 1.9, 0.34),
        Candidate("right", 0, 1.6, 0.51),
        Candidate("far", 0, None, 0.05),
    ]
    assert items(ranked_in(pool, "hybrid", 0.5, LexicalBounds(ideal_score=5.2)))[0] == "right"


def test_a_lexical_hit_far_ahead_of_the_next_outweighs_meaning_and_one_of_several_does_not() -> None:
    bounds = LexicalBounds(ideal_score=10.0, cutoff_score=0.0)
    code, related = Candidate("code", 0, 10.0, 0.70), Candidate("related", 0, 1.0, 0.90)
    others = [Candidate(f"other{number}", 0, 9.5, 0.70 + number / 100) for number in range(5)]
    assert items(ranked_in([code, related], "hybrid", 0.4, bounds))[0] == "code"
    assert items(ranked_in([code, related, *others], "hybrid", 0.4, bounds))[0] == "related"
