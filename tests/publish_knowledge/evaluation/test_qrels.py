"""Reading questions and judgments, and finding the items they mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.scopes import Scope
from knowledge.store.schema import item_id
from publish_knowledge.evaluation.matching import Item, judged
from publish_knowledge.evaluation.qrels import JudgmentsError, read_judgments
from publish_knowledge.sources.documents import derive_item_source

QUERIES = '{"id": "q1", "text": "one", "lang": "en"}\n{"id": "q2", "text": "two"}\n'
QRELS = "q1\ta.md\t1\nq1\tb.md\t2\nq2\tc.md\t1\n"
ANA = Scope("owner", "ana")
SUPPORT = Scope("team", "support")


def folder(path: Path, queries: str | bytes = QUERIES, qrels: str | bytes = QRELS) -> Path:
    for name, content in {"queries.jsonl": queries, "qrels.tsv": qrels}.items():
        (path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def item(scope: Scope, base_id: str, path: str, front_matter_id: str | None = None) -> Item:
    return Item(scope, base_id, item_id(scope, base_id, derive_item_source(path, front_matter_id)), path)


def test_questions_are_read_with_the_grades_of_their_documents(tmp_path: Path) -> None:
    found = read_judgments(folder(tmp_path))
    assert [(query.id, query.text, query.language, query.grades) for query in found.queries] == [
        ("q1", "one", "en", {"a.md": 1, "b.md": 2}),
        ("q2", "two", "", {"c.md": 1}),
    ]
    assert found.documents() == ("a.md", "b.md", "c.md")
    assert found.unjudged == ()


def test_a_question_that_nothing_helps_is_left_out_and_named(tmp_path: Path) -> None:
    found = read_judgments(folder(tmp_path, qrels="q1\ta.md\t0\nq2\tc.md\t1\n"))
    assert [query.id for query in found.queries] == ["q2"]
    assert found.unjudged == ("q1",)


def test_other_line_ends_blank_lines_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    queries = b"\xef\xbb\xbf" + QUERIES.replace("\n", "\r\n\r\n").encode()
    assert read_judgments(folder(tmp_path, queries, QRELS.replace("\n", "\r\n"))) == read_judgments(folder(tmp_path))


def test_a_separator_inside_a_text_does_not_end_its_line(tmp_path: Path) -> None:
    found = read_judgments(folder(tmp_path, '{"id": "q1", "text": "one\u2028line"}\n', "q1\ta.md\t1"))
    assert found.queries[0].text == "one\u2028line"


@pytest.mark.parametrize(
    ("queries", "qrels", "said"),
    [
        ("{oops\n", QRELS, "queries.jsonl, line 1: not JSON"),
        ("[1]\n", QRELS, "queries.jsonl, line 1: expected a JSON object"),
        ('{"id": "q1"}\n', QRELS, "expected an `id` and a `text`"),
        ('{"id": "q1", "text": " "}\n', QRELS, "expected an `id` and a `text`"),
        (QUERIES + QUERIES, QRELS, "line 3: the id 'q1' is taken"),
        (QUERIES, "q1 a.md 1\n", "qrels.tsv, line 1: expected question id"),
        (QUERIES, "q1\ta.md\tgood\n", "qrels.tsv, line 1"),
        (QUERIES, "q1\ta.md\t-1\n", "qrels.tsv, line 1"),
        (QUERIES, "q1\ta.md\t1\n\nq9\ta.md\t1\n", "does not have: q9"),
        (QUERIES, "q1\ta.md\t0\n", "nothing can be measured"),
        (b"\xff\xfe", QRELS, "cannot be read as UTF-8"),
        ("", "", "nothing can be measured"),
    ],
)
def test_a_file_that_cannot_be_measured_with_is_refused_by_place_and_reason(
    tmp_path: Path, queries: str | bytes, qrels: str, said: str
) -> None:
    with pytest.raises(JudgmentsError) as refused:
        read_judgments(folder(tmp_path, queries, qrels))
    assert said in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text(QUERIES)
    with pytest.raises(JudgmentsError, match=r"has no qrels\.tsv"):
        read_judgments(tmp_path)


def test_a_document_is_found_by_path_by_item_id_and_by_front_matter_id(tmp_path: Path) -> None:
    by_path, by_id = item(ANA, "notes", "a.md"), item(ANA, "notes", "b.md")
    by_front_matter = item(SUPPORT, "handbook", "moved/c.md", "rules")
    qrels = f"q1\ta.md\t1\nq1\t{by_id.item_id}\t2\nq2\trules\t1\nq2\tgone.md\t3\n"
    found = judged(read_judgments(folder(tmp_path, qrels=qrels)), [by_path, by_id, by_front_matter])
    assert [question.grades for question in found.questions] == [
        {by_path.item_id: 1, by_id.item_id: 2},
        {by_front_matter.item_id: 1, "missing:gone.md": 3},
    ]
    assert found.unknown == ("gone.md",)


def test_a_path_goes_before_an_id_and_two_names_of_one_item_count_by_the_better_grade(tmp_path: Path) -> None:
    named_like_a_path = item(ANA, "notes", "b.md", "a.md")
    at_the_path = item(ANA, "notes", "a.md")
    qrels = f"q1\ta.md\t1\nq1\t{at_the_path.item_id}\t2\n"
    (question,) = judged(read_judgments(folder(tmp_path, qrels=qrels)), [named_like_a_path, at_the_path]).questions
    assert question.grades == {at_the_path.item_id: 2}


def test_a_path_in_two_bases_is_refused_with_both(tmp_path: Path) -> None:
    items = [item(ANA, "notes", "a.md"), item(SUPPORT, "handbook", "a.md")]
    with pytest.raises(JudgmentsError, match=r"handbook of team:support, notes of owner:ana\. Give --base"):
        judged(read_judgments(folder(tmp_path, qrels="q1\ta.md\t1\n")), items)
