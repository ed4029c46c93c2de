"""Passages tile their text, follow its structure, and are bounded in size and time."""

from __future__ import annotations

import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.store.schema import PASSAGE_MAX_CHARS
from publish_knowledge.passages.indexed_text import list_embedded_texts
from publish_knowledge.passages.markdown_blocks import TextKind
from publish_knowledge.passages.splitting import SMALL_CHARS, TARGET_CHARS, WHOLE_CHARS, Passage, split_text

WORDS = st.sampled_from(
    [
        *(
            "word",
            "Sentence ends. ",
            "問題。",
            "👩‍👩‍👧‍👦",
            "e\u0301",
            "🏳️‍🌈",
            "\r\n",
            "\n",
            "\r",
            "\0",
            " ",
            "\t",
            "\u2028",
            "\x85",
        ),
        *(
            "# Heading\n",
            "\n\n## Sub `x` { #a }\n",
            "Title\n=====\n",
            "\n---\n",
            "- item\n",
            "  - nested\n",
            "1. one\n",
        ),
        *(
            "```\n",
            "# not a heading\n",
            "~~~\n",
            "> quote\n",
            "| a | b |\n",
            "|---|---|\n",
            "    code\n",
            "<div>\n",
            "[[[[",
        ),
        *("a" * 900, "b " * 700, "漢字" * 600, "<!--", "-->", "***", "`" * 5, "\u0301" * 40, "\u200d" * 30),
    ]
)
MARKDOWN = st.lists(WORDS, max_size=60).map("".join)
KINDS: list[TextKind] = ["markdown", "plain"]


def texts(text: str, kind: TextKind = "markdown") -> list[str]:
    return [passage.text for passage in split_text(text, kind)]


def headings(text: str) -> list[str]:
    return [passage.heading for passage in split_text(text, "markdown")]


def assert_passages_tile(text: str, passages: tuple[Passage, ...]) -> None:
    assert passages[0].start == 0
    assert passages[-1].end == len(text)
    assert all(before.end == after.start for before, after in pairwise(passages))
    assert all(0 < passage.end - passage.start <= PASSAGE_MAX_CHARS for passage in passages)
    assert [passage.ordinal for passage in passages] == list(range(len(passages)))
    assert "".join(passage.text for passage in passages) == text


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.one_of(MARKDOWN, st.text(max_size=500), st.text("# \n-`>ab", max_size=500)).filter(bool))
@settings(max_examples=150, deadline=None)
def test_passages_tile_any_text_exactly(kind: TextKind, text: str) -> None:
    assert_passages_tile(text, split_text(text, kind))


@given(MARKDOWN.filter(bool))
@settings(max_examples=100, deadline=None)
def test_no_cut_parts_a_line_end_or_a_letter_from_its_marks(text: str) -> None:
    for passage in split_text(text, "markdown")[1:]:
        before, after = text[passage.start - 1], text[passage.start]
        assert before + after != "\r\n"
        # A mark at the start of a line belongs to no letter.
        if unicodedata.combining(after) and before not in "\r\n":
            assert passage.start - _length_before(text, passage) >= WHOLE_CHARS


def _length_before(text: str, passage: Passage) -> int:
    return split_text(text, "markdown")[passage.ordinal - 1].start


@given(st.lists(st.sampled_from(["# One", "## Two", "### Three", "Text of a section."]), max_size=30))
@settings(max_examples=100, deadline=None)
def test_heading_paths_are_those_of_the_headings_above(lines: list[str]) -> None:
    """Against the simplest possible reading of the same lines."""
    text = "\n\n".join(lines) + "\n"
    path: dict[int, str] = {}
    expected = set()
    for line in lines:
        level = len(line) - len(line.lstrip("#"))
        if level:
            path = {one: name for one, name in path.items() if one < level} | {level: line.lstrip("# ")}
        else:
            expected.add(" > ".join(path.values()))
    found = {passage.heading for passage in split_text(text, "markdown")}
    assert expected <= found
    assert len(found - expected) <= 1  # headings at the end that nothing follows


def test_a_line_end_of_two_characters_is_not_cut() -> None:
    text = "x" * (TARGET_CHARS - 1) + "\r\n" + "y" * TARGET_CHARS
    assert [len(piece) for piece in texts(text, "plain")] == [TARGET_CHARS + 1, TARGET_CHARS]


def test_an_empty_text_has_one_empty_passage() -> None:
    assert split_text("", "markdown") == split_text("", "plain") == (Passage(0, 0, 0, "", ""),)


def test_a_blank_text_is_one_passage() -> None:
    assert texts("\n\n") == ["\n\n"]


def test_each_section_is_its_own_passage_under_its_path() -> None:
    text = "Intro.\n\n# Install\n\nGet it.\n\n## Linux\n\nUse the package.\n\n## Mac\n\nUse it.\n\n# Use\n\nRun it.\n"
    assert headings(text) == ["", "Install", "Install > Linux", "Install > Mac", "Use"]
    assert texts(text)[2] == "## Linux\n\nUse the package.\n\n"


def test_headings_inside_quotes_and_lists_open_no_section() -> None:
    assert headings("# Yes\n\nText.\n\n> # quoted\n\n- # listed\n") == ["Yes"]


def test_a_heading_without_text_goes_with_the_next_one() -> None:
    text = "# Guide\n\n## First\n\nText.\n\n## Second\n\nText.\n"
    assert headings(text) == ["Guide > First", "Guide > Second"]
    assert texts(text)[0] == "# Guide\n\n## First\n\nText.\n\n"


def test_an_empty_heading_ends_the_sections_below_it_and_adds_nothing() -> None:
    assert headings("# A\n\n## B\n\nx\n\n#\n\ny\n") == ["A > B", ""]


def test_a_hash_line_in_plain_text_is_text() -> None:
    assert {passage.heading for passage in split_text("# no\n\ntext\n" * 200, "plain")} == {""}


def test_small_paragraphs_are_gathered() -> None:
    text = "A short paragraph of a few words.\n\n" * 40
    sizes = [len(piece) for piece in texts(text)]
    assert len(sizes) == len(text) // TARGET_CHARS + 1
    assert min(sizes) > SMALL_CHARS


@pytest.mark.parametrize(
    "block",
    [
        "```python\n" + "value = compute(value)\n" * 30 + "```\n",
        "| name | value |\n|------|-------|\n" + "| some | thing |\n" * 40,
        "name | value\n-----|------\n" + "some | thing\n" * 55,
        "- an item of a list\n" * 35,
    ],
)
def test_code_tables_and_lists_are_kept_whole_where_they_fit(block: str) -> None:
    assert TARGET_CHARS < len(block) <= WHOLE_CHARS
    text = "Before it. " * 30 + "\n\n" + block + "\n" + "After it. " * 30
    assert [piece for piece in texts(text) if block.strip() in piece]


def test_a_long_list_is_cut_between_its_items() -> None:
    text = "- the first line of an item\n  and its second line\n" * 100
    assert all(piece.startswith("- ") for piece in texts(text))


def test_long_code_is_cut_between_lines() -> None:
    text = "```\n" + "one line. of code, here\n" * 200 + "```\n"
    assert all(piece.endswith("\n") for piece in texts(text))


def test_long_prose_is_cut_between_sentences_in_any_script() -> None:
    for sentence, end in (
        ("Here is one sentence. ", ". "),
        ("ここに一つの文があります。", "。"),
        ("Was it? Yes!\n", "!\n"),
    ):
        assert all(piece.endswith(end) for piece in texts(sentence * 200))


def test_a_text_without_sentences_is_cut_between_words_and_one_without_words_anywhere() -> None:
    assert all(piece.endswith("word ") for piece in texts("word " * 1000))
    assert {len(piece) for piece in texts("語" * 8 * TARGET_CHARS)} == {TARGET_CHARS}


def test_thousands_of_headings_without_text_make_few_passages() -> None:
    assert len(split_text("# a\nx\n" * 10_500, "markdown")) < 200


HOSTILE = {
    "one line": "a" * 5_000_000,
    "brackets": "[" * 5_000_000,
    "quotes": ">" * 5_000_000,
    "nested quotes": "> " * 2_500_000,
    "nested lists": "- " * 2_500_000,
    "deeper lists": "".join("  " * (step % 200) + "- a\n" for step in range(25_000)),
    "headings": "# a\n" * 1_250_000,
    "emphasis in a heading": "# " + "*a_" * 1_600_000,
    "table rows": "|a|b|\n|-|-|\n" + "|a|b|\n" * 800_000,
    "backticks": "`" * 5_000_000,
    "link definitions": "[a]: <b\n" * 600_000,
    "html": "<a " * 1_600_000,
    "blank": "\n" * 2_000_000,
    "combining marks": "a" + "\u0301" * 5_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_megabytes_are_split_in_seconds(name: str) -> None:
    started = time.process_time()
    assert_passages_tile(HOSTILE[name], split_text(HOSTILE[name], "markdown"))
    assert time.process_time() - started < 20


PICTURE = "data:image/png;base64," + "".join(f"a{n % 7}B{n % 10}x" for n in range(4_000))
SHORT = "".join(f"a{n % 7}B{n % 10}x" for n in range(60))


@pytest.mark.parametrize(
    "text",
    [
        f"# Plan\n\nThe plan.\n\n![plan]({PICTURE})\n\nDrawn by Anna.\n",
        f'The plan.\n\n<p><img src="{PICTURE}" alt="Plan of Anna">\n</p>\n',
        f"- The plan\n- ![plan]({PICTURE})\n- Anna\n",
        f"> The plan ![plan]({PICTURE}) of Anna\n",
        f"```css\na {{ background: url({PICTURE}) }} /* The plan of Anna */\n```\n",
        f"The plan: {PICTURE} {PICTURE}\r\n\r\nAnna.\r\n",
        f"[plan]: {PICTURE}\n\nThe plan of Anna: ![plan].\n",
        f"# {PICTURE}\n\nThe plan of Anna.\n",
        f"# ![The plan]({PICTURE}) of Anna\n\nText.\n",
        PICTURE,
    ],
)
@pytest.mark.parametrize("kind", ["markdown", "plain"])
def test_a_picture_makes_few_passages_to_embed_and_the_text_stays_as_it_is(text: str, kind: TextKind) -> None:
    passages = split_text(text, kind)
    assert_passages_tile(text, passages)
    assert len(passages) < 20 * text.count(PICTURE)
    embedded = [one for one in list_embedded_texts("Title", passages) if one is not None]
    assert 1 <= len(embedded) <= 4
    assert not any("a1B1x" in one for one in embedded)
    assert all(word in " ".join(embedded) for word in ("plan", "Anna") if word in text)


def test_a_short_run_stays_in_its_passage_and_is_not_cut() -> None:
    text = "".join(f"- Token {n}: {SHORT} of the service\n" for n in range(40))
    passages = split_text(text, "markdown")
    assert_passages_tile(text, passages)
    assert all(passage.text.count(SHORT) * len(SHORT) == passage.text.count("B") * 5 for passage in passages)
    embedded = list_embedded_texts("Tokens", passages)
    assert not any("a1B1x" in (one or "") for one in embedded)
    assert sum((one or "").count("Token ") for one in embedded) == 40
