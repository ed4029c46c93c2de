"""The block structure of Markdown and plain texts, and the titles of headings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publish_knowledge.passages.markdown_blocks import (
    MAX_HEADING_CHARS,
    MAX_LINES,
    Block,
    TextKind,
    clean_heading,
    parse_blocks,
    shorten_title,
)


def titles(text: str) -> list[str]:
    return [block.title for block in parse_blocks(text, "markdown") if block.kind == "heading"]


def kinds(text: str) -> list[str]:
    return [block.kind for block in parse_blocks(text, "markdown")]


@pytest.mark.parametrize("kind", ["markdown", "plain"])
@given(text=st.text("#-` >|ab\n\r\t", max_size=300))
def test_blocks_tile_any_text(kind: TextKind, text: str) -> None:
    found = list(parse_blocks(text, kind))
    assert "".join(text[block.start : block.end] for block in found) == text
    assert all(block.start < block.end for block in found)


@pytest.mark.parametrize("kind", ["markdown", "plain"])
def test_an_empty_text_has_no_blocks(kind: TextKind) -> None:
    assert list(parse_blocks("", kind)) == []


def test_a_text_that_the_parser_finds_nothing_in_is_one_block() -> None:
    assert list(parse_blocks("\n\n", "markdown")) == [Block(0, 2)]


def test_every_block_has_its_kind() -> None:
    text = "# A\n\nprose\n\n- a\n- b\n\n1. c\n\n```\ncode\n```\n\n<div>\n\n    indented\n\n| a |\n|---|\n"
    assert kinds(text) == ["heading", "prose", "list", "list", "lines", "lines", "lines", "lines"]


def test_a_list_knows_where_its_items_start() -> None:
    (block,) = parse_blocks("- a\n  - nested\n- b\n", "markdown")
    assert block.items == (0, 15)


def test_paragraphs_of_a_plain_text_keep_the_blank_lines_after_them() -> None:
    text = "\none\ntwo\r\n\r\n \nthree"
    assert [text[block.start : block.end] for block in parse_blocks(text, "plain")] == [
        "\n",
        "one\ntwo\r\n\r\n \n",
        "three",
    ]


def test_a_heading_has_its_level() -> None:
    found = parse_blocks("One\n===\n\n### Three\n", "markdown")
    assert [(block.level, block.title) for block in found] == [(1, "One"), (3, "Three")]


def test_markup_and_anchors_are_stripped_from_headings() -> None:
    text = "# The `open()` *call* [here](x.md) <a id=x></a> ![logo](l.png) { #open-call }\n\nText.\n"
    assert titles(text) == ["The open() call here logo"]


def test_a_heading_over_two_lines_is_read_as_one() -> None:
    assert titles("One *and*\ntwo\n===\n\nText.\n") == ["One and two"]
    assert clean_heading("One *and*\\\ntwo") == "One and two"


@pytest.mark.parametrize(
    "code", ["```\n# no\n```", "~~~sh\n# no\n~~~", "    # no", "<pre>\n# no\n</pre>", "<!--\n# no\n-->"]
)
def test_code_and_comments_hold_no_headings(code: str) -> None:
    assert titles(f"# Yes\n\nText.\n\n{code}\n") == ["Yes"]


def test_a_long_title_is_cut_between_words_to_its_limit() -> None:
    assert shorten_title("a  title\nof one line") == "a title of one line"
    assert shorten_title("x" * MAX_HEADING_CHARS) == "x" * MAX_HEADING_CHARS
    assert shorten_title("x" * (MAX_HEADING_CHARS + 1)) == "x" * (MAX_HEADING_CHARS - 1) + "…"
    assert shorten_title("word " * MAX_HEADING_CHARS) == " ".join(["word"] * 31) + "…"


@pytest.mark.slow
def test_markdown_of_too_many_lines_is_treated_as_plain_text() -> None:
    assert kinds("# a\n" * (MAX_LINES - 1))[0] == "heading"
    assert set(kinds("# a\n" * (MAX_LINES + 1))) == {"prose"}


def test_html_with_more_than_a_heading_is_text_with_a_title() -> None:
    alone, text = parse_blocks("<h2>Linux</h2>\n\nText.\n", "markdown")
    assert (alone.kind, alone.level, alone.title, text.kind) == ("heading", 2, "Linux", "prose")
    (mixed,) = parse_blocks("<h1>Hello</h1>\n<p>A paragraph.</p>\n", "markdown")
    assert (mixed.kind, mixed.title) == ("lines", "Hello")
