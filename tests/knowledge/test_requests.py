"""Requests: modes and defaults."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.requests import (
    DEFAULT_MODE,
    LEXICAL_MODES,
    MODES,
    SEMANTIC_MODES,
    Mode,
    ReadRequest,
    SearchRequest,
    parse_mode,
)


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_found_in_any_case_and_between_whitespace(mode: Mode) -> None:
    assert {parse_mode(text) for text in (mode, mode.upper(), f" {mode.title()}\t\n")} == {mode}


@given(st.text())
def test_any_other_text_means_the_default(text: str) -> None:
    known = text.strip().lower() in MODES
    assert known or parse_mode(text) == DEFAULT_MODE


@pytest.mark.parametrize("text", ["", "bm25", "hybrid rrf", "semantics", "\uff52\uff52\uff46"])
def test_a_text_that_only_resembles_a_mode_means_the_default(text: str) -> None:
    assert parse_mode(text) == DEFAULT_MODE


def test_every_mode_searches_a_side_and_only_the_pure_ones_leave_one_out() -> None:
    searched = {mode: (mode in LEXICAL_MODES, mode in SEMANTIC_MODES) for mode in MODES}
    both = (True, True)
    assert searched == {"hybrid": both, "lexical": (True, False), "semantic": (False, True), "rrf": both}


def test_requests_have_the_defaults_of_the_tool() -> None:
    assert SearchRequest("a") == SearchRequest("a", base_id="", max_results=10, mode="hybrid", alpha=0.5)
    assert ReadRequest("i") == ReadRequest("i", revision_id="", base_id="", offset=0, limit=4_000)
