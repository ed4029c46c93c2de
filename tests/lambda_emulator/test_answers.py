"""Answers compared with the expected ones of the event files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lambda_emulator.answers import find_differences, parse_body, read_event


@pytest.mark.parametrize(
    ("expected", "found", "lines"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, []),
        ({"a": [1]}, {"a": [1, 2]}, []),
        ({"a": {"b": None}}, {"a": {"b": None}}, []),
        ({"a": 1}, {}, ["answer.a is missing"]),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, ["answer.a.b is 2, expected 1"]),
        ([1, 2], [1], ["answer is [1], expected [1, 2]"]),
        ({"a": True}, {"a": 1}, ["answer.a is 1, expected true"]),
        ({"a": {}}, {"a": "text"}, ['answer.a is "text", expected {}']),
        ({"a": []}, {"a": None}, ["answer.a is null, expected []"]),
        ({"a": 0}, {"a": None}, ["answer.a is null, expected 0"]),
    ],
    ids=str,
)
def test_an_answer_must_hold_the_expected_part(expected: object, found: object, lines: list[str]) -> None:
    assert list(find_differences(expected, found)) == lines


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"body": '{"a": 1}'}, {"body": {"a": 1}}),
        ({"body": ""}, {"body": None}),
        ({"body": "plain"}, {"body": "plain"}),
        ({"errorMessage": "x"}, {"errorMessage": "x"}),
        (None, None),
    ],
    ids=str,
)
def test_a_body_is_read_as_json_where_it_is(answer: object, expected: object) -> None:
    assert parse_body(answer) == expected


def test_every_event_file_can_be_read() -> None:
    paths = sorted((Path(__file__).parents[2] / "events").glob("*.json"))
    assert paths
    assert all(read_event(path).expected["statusCode"] for path in paths)
    assert {frozenset(json.loads(path.read_text(encoding="utf-8"))) for path in paths} == {
        frozenset({"description", "event", "expected"})
    }
