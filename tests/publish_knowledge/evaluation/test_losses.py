"""Losses: the questions that one setting answers worse than another, with what each found."""

from __future__ import annotations

from publish_knowledge.evaluation.losses import build_losses, find_losses, format_losses
from publish_knowledge.evaluation.metrics import Metrics
from publish_knowledge.evaluation.runs import Evaluation, FoundItem, JudgedQuery, Setting

HYBRID = Setting("hybrid")
LEXICAL = Setting("lexical")
RIGHT, WRONG = FoundItem("1", "right.md"), FoundItem("2", "wrong.md")


def make_evaluation(*values: tuple[float, float]) -> Evaluation:
    """A query for each pair of nDCG in hybrid and lexical: hybrid finds the wrong item first, lexical the right one."""
    queries = [JudgedQuery(f"q{number}", f"question\n{number}", {"1": 1}) for number in range(len(values))]
    return Evaluation(
        {setting: [Metrics(value[at], 1, 1) for value in values] for at, setting in enumerate((HYBRID, LEXICAL))},
        queries,
        {HYBRID: [(WRONG, RIGHT)] * len(values), LEXICAL: [(RIGHT,)] * len(values)},
    )


def test_the_largest_losses_come_first_and_gains_are_none() -> None:
    evaluation = make_evaluation((0.5, 0.6), (0.9, 0.4), (0.0, 1.0), (0.7, 0.7), (0.5, 0.6))
    assert [loss.query.id for loss in find_losses(evaluation, HYBRID, LEXICAL, 5)] == ["q2", "q0", "q4"]
    assert [loss.query.id for loss in find_losses(evaluation, HYBRID, LEXICAL, 1)] == ["q2"]
    assert [loss.query.id for loss in find_losses(evaluation, LEXICAL, HYBRID, 5)] == ["q1"]
    assert find_losses(evaluation, HYBRID, LEXICAL, 0) == []


def test_each_loss_says_what_both_found() -> None:
    losses = find_losses(make_evaluation((0.25, 1.0)), HYBRID, LEXICAL, 3)
    assert list(format_losses(losses, HYBRID, LEXICAL)) == [
        "Lost most by hybrid 0.5 against lexical, in nDCG@10 (* helps):",
        "-0.750  q0: question 0",
        "        hybrid 0.5  wrong.md, right.md*",
        "        lexical     right.md*",
    ]
    assert build_losses(losses) == [
        {
            "id": "q0",
            "text": "question\n0",
            "ndcg": 0.25,
            "ndcg_against": 1.0,
            "found": [
                {"knowledge_item_id": "2", "source": "wrong.md", "grade": 0},
                {"knowledge_item_id": "1", "source": "right.md", "grade": 1},
            ],
            "found_against": [{"knowledge_item_id": "1", "source": "right.md", "grade": 1}],
        }
    ]


def test_a_long_question_is_cut_and_an_empty_answer_said() -> None:
    query = JudgedQuery("q", "word " * 50, {"1": 1})
    evaluation = Evaluation(
        {HYBRID: [Metrics(0, 0, 0)], LEXICAL: [Metrics(1, 1, 1)]}, [query], {HYBRID: [()], LEXICAL: [(RIGHT,)]}
    )
    lines = list(format_losses(find_losses(evaluation, HYBRID, LEXICAL, 1), HYBRID, LEXICAL))
    assert lines[1].endswith("…")
    assert len(lines[1]) < 110
    assert lines[2].endswith("nothing")


def test_without_losses_there_is_no_line() -> None:
    assert list(format_losses([], HYBRID, LEXICAL)) == []
