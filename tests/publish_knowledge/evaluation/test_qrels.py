"""Reading queries and relevance judgments."""

from __future__ import annotations

from pathlib import Path

import pytest

from publish_knowledge.evaluation.qrels import QrelsError, list_some, read_qrels

QUERIES = '{"id": "q1", "text": "one", "lang": "en"}\n{"id": "q2", "text": "two"}\n'
QRELS = "q1\ta.md\t1\nq1\tb.md\t2\nq2\tc.md\t1\n"


def folder(path: Path, queries: str | bytes = QUERIES, qrels: str | bytes = QRELS) -> Path:
    for name, content in {"queries.jsonl": queries, "qrels.tsv": qrels}.items():
        (path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_questions_are_read_with_the_grades_of_their_documents(tmp_path: Path) -> None:
    found = read_qrels(folder(tmp_path))
    assert [(query.id, query.text, query.language, query.grades) for query in found.queries] == [
        ("q1", "one", "en", {"a.md": 1, "b.md": 2}),
        ("q2", "two", "", {"c.md": 1}),
    ]
    assert found.documents() == ("a.md", "b.md", "c.md")
    assert found.unjudged == ()


def test_a_query_without_a_relevant_document_is_left_out_and_listed(tmp_path: Path) -> None:
    found = read_qrels(folder(tmp_path, qrels="q1\ta.md\t0\nq2\tc.md\t1\n"))
    assert [query.id for query in found.queries] == ["q2"]
    assert found.unjudged == ("q1",)


def test_other_line_ends_blank_lines_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    queries = b"\xef\xbb\xbf" + QUERIES.replace("\n", "\r\n\r\n").encode()
    assert read_qrels(folder(tmp_path, queries, QRELS.replace("\n", "\r\n"))) == read_qrels(folder(tmp_path))


def test_a_separator_inside_a_text_does_not_end_its_line(tmp_path: Path) -> None:
    found = read_qrels(folder(tmp_path, '{"id": "q1", "text": "one\u2028line"}\n', "q1\ta.md\t1"))
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
def test_an_invalid_file_is_refused_with_its_position_and_the_reason(
    tmp_path: Path, queries: str | bytes, qrels: str, said: str
) -> None:
    with pytest.raises(QrelsError) as refused:
        read_qrels(folder(tmp_path, queries, qrels))
    assert said in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text(QUERIES)
    with pytest.raises(QrelsError, match=r"has no qrels\.tsv"):
        read_qrels(tmp_path)


def test_a_message_lists_the_first_ids_and_counts_the_rest() -> None:
    assert list_some(["a", "b", "c"]) == "a, b, c"
    assert list_some(("a", "b", "c", "d", "e")) == "a, b, c and 2 more"
