"""The argument table of the contract, letter by letter."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from knowledge.errors import InvalidRequestError, ItemRequiredError, KnowledgeError, QueryRequiredError
from knowledge.requests import ReadRequest, SearchRequest
from search_knowledge.arguments import ARGUMENTS, input_schema, parse

NAMES = [argument.name for argument in ARGUMENTS]
STRINGS = ("query", "knowledge_base_id", "knowledge_item_id", "knowledge_revision_id", "mode")
HUGE = 10**400

WRONG_TYPES: list[tuple[str, object, str]] = [
    *((name, 5, f"{name} must be a string, got 5") for name in STRINGS),
    ("query", ["a"], "query must be a string, got a list"),
    ("query", {}, "query must be a string, got an object"),
    ("mode", True, "mode must be a string, got true"),
    ("offset", "10", "offset must be an integer, got a string"),
    ("offset", True, "offset must be an integer, got true"),
    ("offset", 10.5, "offset must be an integer, got 10.5"),
    ("offset", math.nan, "offset must be an integer, got NaN"),
    ("offset", math.inf, "offset must be an integer, got a far larger number"),
    ("limit_chars", -math.inf, "limit_chars must be an integer, got a far smaller number"),
    ("max_results", [], "max_results must be an integer, got a list"),
    ("alpha", "0.5", "alpha must be a number, got a string"),
    ("alpha", False, "alpha must be a number, got false"),
    ("alpha", math.nan, "alpha must be a number, got NaN"),
]
OUT_OF_RANGE: list[tuple[str, object, str]] = [
    ("query", "x" * 2001, "query must be at most 2000 characters, got 2001"),
    ("query", " " * 2001, "query must be at most 2000 characters, got 2001"),
    ("offset", -1, "offset must be 0 or more, got -1"),
    ("limit_chars", 20000, "limit_chars must be 1..10000, got 20000"),
    ("limit_chars", 0, "limit_chars must be 1..10000, got 0"),
    ("max_results", 0, "max_results must be 1..50, got 0"),
    ("max_results", 51.0, "max_results must be 1..50, got 51"),
    ("max_results", HUGE, "max_results must be 1..50, got a far larger number"),
    ("offset", -HUGE, "offset must be 0 or more, got a far smaller number"),
    ("query", "a\ud800", "query must be valid Unicode text, got a lone surrogate"),
    ("knowledge_item_id", "\udfff", "knowledge_item_id must be valid Unicode text, got a lone surrogate"),
]


def search(**arguments: object) -> SearchRequest:
    found = parse({"query": "pumps", **arguments})
    assert isinstance(found, SearchRequest)
    return found


def read(**arguments: object) -> ReadRequest:
    found = parse({"knowledge_item_id": "i", **arguments})
    assert isinstance(found, ReadRequest)
    return found


def read_refusal(arguments: dict[str, object]) -> KnowledgeError:
    with pytest.raises(KnowledgeError) as caught:
        parse(arguments)
    return caught.value


def test_a_query_alone_searches_with_the_defaults() -> None:
    assert search() == SearchRequest("pumps", "", 10, "hybrid", 0.5)


def test_an_item_alone_reads_its_first_window() -> None:
    assert read() == ReadRequest("i", "", "", 0, 4000)


def test_every_argument_of_a_search_arrives() -> None:
    found = search(knowledge_base_id=" b ", max_results=3, mode="rrf", alpha=0.25)
    assert found == SearchRequest("pumps", " b ", 3, "rrf", 0.25)


def test_every_argument_of_a_read_arrives_and_ids_are_not_trimmed() -> None:
    found = parse(
        {
            "knowledge_base_id": " b",
            "knowledge_item_id": "i ",
            "knowledge_revision_id": "\tr",
            "offset": 7,
            "limit_chars": 10_000,
        }
    )
    assert found == ReadRequest("i ", "\tr", " b", 7, 10_000)


@pytest.mark.parametrize("name", NAMES)
def test_null_means_the_default(name: str) -> None:
    if name == "query":
        assert isinstance(read_refusal({name: None}), QueryRequiredError)
    else:
        assert search(**{name: None}) == search()


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u3000"])
@pytest.mark.parametrize("name", STRINGS)
def test_blank_text_means_absent(name: str, blank: str) -> None:
    if name == "query":
        assert parse({"query": blank, "knowledge_item_id": "i"}) == read()
    else:
        assert search(**{name: blank}) == search()


@pytest.mark.parametrize(("name", "value", "message"), WRONG_TYPES + OUT_OF_RANGE)
def test_a_bad_value_is_refused_in_both_shapes_and_named(name: str, value: object, message: str) -> None:
    for shape in ({"query": "x"}, {"knowledge_item_id": "i"}):
        error = read_refusal({**shape, name: value})
        assert (type(error), error.field, error.message) == (InvalidRequestError, name, message)


@pytest.mark.parametrize("value", [10, 10.0])
def test_a_whole_number_counts_however_it_is_written(value: object) -> None:
    assert search(max_results=value).max_results == 10
    assert read(offset=value).offset == 10


@pytest.mark.parametrize(
    ("given_alpha", "used"),
    [(0, 0.0), (1, 1.0), (-3, 0.0), (1.5, 1.0), (HUGE, 1.0), (-HUGE, 0.0), (math.inf, 1.0), (-math.inf, 0.0)],
)
def test_alpha_is_clamped(given_alpha: object, used: float) -> None:
    found = search(alpha=given_alpha).alpha
    assert found == used
    assert isinstance(found, float)


def test_a_negative_zero_becomes_a_plain_one() -> None:
    assert math.copysign(1, search(alpha=-0.0).alpha) == 1


@pytest.mark.parametrize(
    ("text", "mode"),
    [("LEXICAL", "lexical"), (" Rrf\n", "rrf"), ("semantic", "semantic"), ("fuzzy", "hybrid"), ("", "hybrid")],
)
def test_a_mode_is_read_leniently(text: str, mode: str) -> None:
    assert search(mode=text).mode == mode


def test_alpha_is_checked_in_every_mode() -> None:
    assert read_refusal({"query": "x", "mode": "lexical", "alpha": "high"}).field == "alpha"


def test_a_query_is_trimmed_after_it_was_counted() -> None:
    assert search(query="  pumps ").query == "pumps"
    assert search(query="x" * 2000).query == "x" * 2000


@pytest.mark.parametrize("name", ["owner", "team", "scope", "owner_id", "Query", "", "limit"])
def test_an_unknown_argument_is_refused_by_name(name: str) -> None:
    error = read_refusal({"query": "x", name: "y"})
    assert (type(error), error.field) == (InvalidRequestError, name)
    assert error.message.startswith(f"{name} is not an argument of this tool. It takes query, knowledge_base_id,")


def test_an_unknown_name_is_quoted_in_part_and_as_valid_text() -> None:
    error = read_refusal({"query": "x", "\ud800" + "y" * 100: 1})
    assert error.field == "\\ud800" + "y" * 59


@pytest.mark.parametrize(
    ("arguments", "kind", "field"),
    [
        ({"query": "x", "knowledge_item_id": "i"}, InvalidRequestError, None),
        ({"query": "x", "knowledge_revision_id": "r"}, InvalidRequestError, None),
        ({"knowledge_revision_id": "r"}, ItemRequiredError, None),
        ({}, QueryRequiredError, None),
        ({"knowledge_base_id": "b"}, QueryRequiredError, None),
        ({"query": "x", "knowledge_item_id": "i", "team": "t"}, InvalidRequestError, "team"),
        ({"limit_chars": 0, "max_results": 0, "owner": "o"}, InvalidRequestError, "limit_chars"),
        ({"alpha": "x", "query": 5}, InvalidRequestError, "query"),
        ({"knowledge_revision_id": "r", "alpha": True}, InvalidRequestError, "alpha"),
    ],
)
def test_the_first_thing_wrong_is_reported_in_table_order_and_the_shape_last(
    arguments: dict[str, object], kind: type[KnowledgeError], field: str | None
) -> None:
    error = read_refusal(arguments)
    assert (type(error), error.field) == (kind, field)


def test_the_bounds_are_reported_in_words() -> None:
    assert {argument.name: argument.rule for argument in ARGUMENTS if argument.rule} == {
        "query": "at most 2000 characters",
        "offset": "0 or more",
        "limit_chars": "1..10000",
        "max_results": "1..50",
    }


def test_the_schema_is_the_table() -> None:
    schema = input_schema()
    Draft202012Validator.check_schema(schema)
    assert list(schema["properties"]) == NAMES
    assert schema["additionalProperties"] is False
    assert {name: one["default"] for name, one in schema["properties"].items()} == {
        **dict.fromkeys(NAMES[:4], ""),
        "offset": 0,
        "limit_chars": 4000,
        "max_results": 10,
        "mode": "hybrid",
        "alpha": 0.5,
    }
    assert schema["properties"]["limit_chars"]["maximum"] == 10_000
    assert schema["properties"]["query"]["maxLength"] == 2_000


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.just(HUGE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(NAMES) | st.text(st.characters()), JSON_VALUES, max_size=6))
def test_any_arguments_give_a_request_or_a_documented_error(arguments: dict[str, Any]) -> None:
    try:
        found = parse(arguments)
    except KnowledgeError as error:
        json.dumps([error.message, error.field], ensure_ascii=False).encode("utf-8")
    else:
        assert found.query == found.query.strip() != "" if isinstance(found, SearchRequest) else found.item_id


@given(
    st.fixed_dictionaries(
        {"query": st.text(st.characters(codec="utf-8"), max_size=2000)},
        optional={
            "knowledge_base_id": st.text(st.characters(codec="utf-8")),
            "max_results": st.integers(1, 50),
            "offset": st.integers(0),
            "limit_chars": st.integers(1, 10_000),
            "mode": st.text(st.characters(codec="utf-8")),
            "alpha": st.floats(allow_nan=False),
        },
    )
)
def test_whatever_the_schema_admits_is_not_called_invalid(arguments: dict[str, Any]) -> None:
    assert Draft202012Validator(input_schema()).is_valid(arguments)
    with suppress(QueryRequiredError):
        parse(arguments)
