"""The report of an evaluation: tables, JSON document, and the advice on alpha."""

from __future__ import annotations

import pytest

from publish_knowledge.evaluation.metrics import Estimate, Metrics
from publish_knowledge.evaluation.report import Report, advise, build_document, format_estimate, format_tables
from publish_knowledge.evaluation.runs import Evaluation, Setting

HALF = Setting("hybrid", 0.5)
LEXICAL = Setting("lexical", 0.5)


def make_report(sweep: dict[float, float], queries: int = 40) -> Report:
    """Every query has the same nDCG in a setting: 0.5 in the reference, those of `sweep` at its alphas."""
    ndcg = {HALF: 0.5, LEXICAL: 0.25, **{Setting("hybrid", alpha): value for alpha, value in sweep.items()}}
    rows = {setting: [Metrics(value, 1.0, value)] * queries for setting, value in ndcg.items()}
    settings = tuple(Setting("hybrid", alpha) for alpha in sweep)
    return Report(Evaluation(rows), HALF, (HALF, LEXICAL), settings)


def test_the_tables_have_a_line_for_every_ranking_and_every_alpha() -> None:
    lines = list(format_tables(make_report({0.5: 0.5, 0.8: 0.4})))
    assert [line.split()[0] for line in lines if line] == ["40", "hybrid", "lexical", "alpha", "0.5", "0.8", "No", "±"]
    assert "-0.250 ± 0.000" in lines[2]
    assert lines[1].split() == [
        "hybrid",
        "0.5",
        *("0.500", "±", "0.000", "1.000", "±", "0.000"),
        *lines[1].split()[-3:],
    ]


def test_without_a_sweep_the_tables_end_with_the_note() -> None:
    assert [line.split()[0] for line in format_tables(make_report({}))] == ["40", "hybrid", "lexical", "±"]


@pytest.mark.parametrize(
    ("sweep", "advice"),
    [
        ({0.3: 0.6}, "Alpha 0.3 does better than 0.5 beyond chance (+0.100 ± 0.000, p = 0.000)."),
        ({0.3: 0.4}, "No other alpha does better than 0.5 on these questions: keep 0.5."),
        ({0.5: 0.5}, "No other alpha does better than 0.5 on these questions: keep 0.5."),
    ],
)
def test_a_change_is_advised_only_for_a_significant_gain(sweep: dict[float, float], advice: str) -> None:
    assert advise(make_report(sweep)) == advice


def test_a_gain_that_chance_explains_is_reported_and_not_advised() -> None:
    report = make_report({0.3: 0.6}, queries=2)
    assert advise(report).startswith("Alpha 0.3 looks best, but chance explains it (+0.100 ± 0.000, p = ")
    assert build_document(report)["advice"]["alpha"] is None


def test_the_document_has_the_same_figures_as_the_tables() -> None:
    document = build_document(make_report({0.3: 0.6}))
    assert (document["questions"], document["reference"]) == (40, {"mode": "hybrid", "alpha": 0.5})
    lexical = document["rankings"][1]
    assert (lexical["mode"], lexical["alpha"]) == ("lexical", None)
    assert lexical["nDCG@10"] == {"mean": 0.25, "half_width": 0.0, "count": 40}
    assert lexical["difference"]["mean"] == -0.25
    assert document["advice"]["alpha"] == 0.3
    assert document["advice"]["text"] == advise(make_report({0.3: 0.6}))


def test_without_a_sweep_the_document_has_no_advice() -> None:
    assert build_document(make_report({}))["advice"] == {"alpha": None, "probability": None, "text": ""}


def test_an_estimate_of_one_query_has_no_half_width() -> None:
    assert format_estimate(Estimate(0.25, None, 1)) == "0.250"
    assert format_estimate(Estimate(0.25, 0.1, 9), signed=True) == "+0.250 ± 0.100"
