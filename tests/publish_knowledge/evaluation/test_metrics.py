"""The metrics against values worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publish_knowledge.evaluation.metrics import (
    Estimate,
    Metrics,
    compute_metrics,
    estimate_difference,
    estimate_mean,
    find_improvement,
)

THIRD_PLACE = 1 / math.log2(4)


def test_the_right_item_first_is_all_there_is_to_gain() -> None:
    assert compute_metrics(["a", "b"], {"a": 1}) == Metrics(ndcg=1.0, recall=1.0, mrr=1.0)


def test_an_item_in_the_third_place_counts_half_by_gain_and_a_third_by_rank() -> None:
    assert compute_metrics(["x", "y", "a"], {"a": 1}) == Metrics(ndcg=0.5, recall=1.0, mrr=1 / 3)


def test_grades_are_gains_and_the_best_order_of_them_is_the_ideal() -> None:
    # 1 + 3/log2(3) of 3 + 1/log2(3)
    found = compute_metrics(["low", "high"], {"high": 3, "low": 1, "none": 0})
    assert found.ndcg == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))
    assert found.ndcg == pytest.approx(0.79671, abs=1e-5)
    assert (found.recall, found.mrr) == (1.0, 1.0)


def test_two_of_three_found_are_two_thirds_of_the_recall() -> None:
    found = compute_metrics(["a", "x", "c"], {"a": 1, "b": 1, "c": 1})
    assert found.recall == pytest.approx(2 / 3)
    assert found.ndcg == pytest.approx((1 + THIRD_PLACE) / (1 + 1 / math.log2(3) + THIRD_PLACE))


def test_nothing_found_is_nothing_gained() -> None:
    assert compute_metrics([], {"a": 1}) == compute_metrics(["x", "y"], {"a": 2}) == Metrics(0.0, 0.0, 0.0)


def test_the_eleventh_place_does_not_count_and_more_than_ten_helpful_items_are_measured_by_ten() -> None:
    assert compute_metrics([*"0123456789", "a"], {"a": 1}) == Metrics(0.0, 0.0, 0.0)
    many = {str(number): 1 for number in range(20)}
    assert compute_metrics([str(number) for number in range(10)], many) == Metrics(1.0, 0.5, 1.0)


def test_an_item_that_was_judged_unhelpful_is_no_hit() -> None:
    assert compute_metrics(["bad", "a"], {"bad": 0, "a": 1}).mrr == 0.5


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.dictionaries(st.sampled_from("abcd"), st.integers(1, 3)))
def test_every_metric_lies_between_nothing_and_all(ranking: list[str], grades: dict[str, int]) -> None:
    found = compute_metrics(ranking, {**grades, "z": 1})
    assert all(0 <= value <= 1 for value in (found.ndcg, found.recall, found.mrr))


def test_a_half_width_is_two_standard_errors() -> None:
    # Mean 0.5, deviation sqrt(1/3), four questions.
    found = estimate_mean([0.0, 1.0, 0.0, 1.0])
    assert found.mean == 0.5
    assert found.half_width == pytest.approx(1.96 * math.sqrt(1 / 3) / 2)
    assert found.count == 4


def test_one_question_has_no_half_width() -> None:
    assert estimate_mean([0.25]) == Estimate(0.25, None, 1)


def test_a_paired_difference_leaves_out_how_hard_the_questions_are() -> None:
    hard_and_easy = [0.0, 1.0, 0.1, 0.9]
    little_better = [value + 0.05 for value in hard_and_easy]
    found = estimate_difference(little_better, hard_and_easy)
    assert found.mean == pytest.approx(0.05)
    assert found.half_width == pytest.approx(0.0, abs=1e-9)
    assert (estimate_mean(little_better).half_width or 0) > 0.4


def test_a_steady_gain_is_significant_and_names_its_alpha() -> None:
    reference = [0.5] * 40
    best = find_improvement(reference, {0.3: [0.6] * 40, 0.7: [0.4] * 40})
    assert best is not None
    assert (best.alpha, best.significant) == (0.3, True)
    assert best.gain.mean == pytest.approx(0.1)


def test_a_gain_on_one_question_of_twenty_is_not_significant() -> None:
    reference = [0.5] * 20
    best = find_improvement(reference, {0.3: [1.0, *reference[1:]]})
    assert best is not None
    assert not best.significant
    assert best.probability == pytest.approx(0.5, abs=0.02)


def test_three_questions_never_prove_anything() -> None:
    best = find_improvement([0.0] * 3, {0.3: [1.0] * 3})
    assert best is not None
    assert best.probability == pytest.approx(1 / 8, abs=0.02)


def test_having_chosen_the_best_of_many_is_allowed_for() -> None:
    # Each alpha gains 1 on five questions and loses nothing: alone it would pass (1/32), as one of eight it does not.
    reference = [0.0] * 40
    alphas = {number / 10: [float(number * 5 <= place < number * 5 + 5) for place in range(40)] for number in range(8)}
    alone = find_improvement(reference, {0.0: alphas[0.0]})
    chosen = find_improvement(reference, alphas)
    assert alone is not None
    assert chosen is not None
    assert alone.significant
    assert not chosen.significant


def test_no_alpha_above_the_reference_is_no_improvement() -> None:
    assert find_improvement([0.5, 0.5], {0.3: [0.5, 0.5], 0.7: [0.4, 0.5]}) is None
    assert find_improvement([0.5], {}) is None
