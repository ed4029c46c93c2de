"""Where front matter begins and ends, what it declares, and what is wrong with it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from publish_knowledge.sources.file_errors import UnusableFileError
from publish_knowledge.sources.front_matter import FrontMatter, parse_front_matter


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\n\nText under a rule.\n\n---\n", "---\n\nText under a rule.\n\n---\n"),
        ("---\nText under a rule\n---\n", "---\nText under a rule\n---\n"),
        ("---\ntitle: never closed\n", "---\ntitle: never closed\n"),
        (" ---\ntitle: indented\n---\n", " ---\ntitle: indented\n---\n"),
        ("----\ntitle: longer\n----\n", "----\ntitle: longer\n----\n"),
        ("Text\n---\ntitle: later\n---\n", "Text\n---\ntitle: later\n---\n"),
        ("---\n---\nText", "Text"),
        ("---\n# a comment\n---\nText", "Text"),
        ("---\r\ntitle: T\r\n---\r\n\r\nText", "\r\nText"),
        ("---\rtitle: T\r---\rText", "Text"),
        ("---  \ntitle: T\n...\nText", "Text"),
        ("---\ntitle: T\ntext: |\n  ---\n---\nText", "Text"),
        ("---\ntitle: T\n---", ""),
    ],
)
def test_the_text_begins_right_after_front_matter_and_horizontal_rules_stay(text: str, body: str) -> None:
    assert parse_front_matter(text).body == body


def test_all_that_is_declared_is_returned() -> None:
    text = "---\ntitle: Refunds\nlang: pt-BR\nid: refunds-1\ntags: [a, b]\n---\nText."
    assert parse_front_matter(text) == FrontMatter("Text.", "Refunds", "pt", "refunds-1")


def test_language_takes_precedence_over_lang() -> None:
    assert parse_front_matter("---\nlang: es\nlanguage: de\n---\n").language == "de"


@pytest.mark.parametrize(
    ("front_matter", "title", "identity"),
    [
        ("title: 2026-11-30\nid: 007", "2026-11-30", "007"),
        ("title: yes\nid: 1e3", "yes", "1e3"),
        ("title: ''\nid: ~", None, None),
        ("title:\nid: null", None, None),
        ('title: "null"', "null", None),
        ("title: >\n  two\n  lines", "two lines", None),
        ("date: 2026-99-99\nother: !!python/object:os.system x", None, None),
        ("? [a, b]\n: c\ntitle: T", "T", None),
        ("a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\ntitle: T", "T", None),
        ("a: &a\n  <<: *a\ntitle: T", "T", None),
    ],
)
def test_values_are_taken_as_they_are_written(front_matter: str, title: str | None, identity: str | None) -> None:
    declared = parse_front_matter(f"---\n{front_matter}\n---\nText.\n")
    assert (declared.title, declared.id) == (title, identity)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("---\ntitle: [unclosed\n---\nText", "Its front matter does not parse (line 3)"),
        ("---\ntitle: a: b: c\n---\nText", "Its front matter does not parse (line 2)"),
        ("---\n\ttab: x\n---\nText", "Its front matter does not parse (line 2)"),
        ("---\na: *nowhere\n---\nText", "Its front matter does not parse (line 2)"),
        ("---\na: \x01\n---\nText", "Its front matter holds a character that YAML does not allow."),
        ('---\na: "\\U99999999"\n---\nText', "Its front matter holds a character that YAML does not allow."),
        ("---\n- a\n- b\n---\nText", "Its front matter is a list"),
        ("---\na: " + "[" * 5000 + "\n---\nText", "Its front matter is nested too deeply."),
        ("---\na: " + "b" * 70_000 + "\n---\nText", "Its front matter is longer than 65,536 characters."),
        ("---\ntitle: [a, b]\n---\nText", "`title` in its front matter must be one text"),
        ("---\nid: {a: b}\n---\nText", "`id` in its front matter must be one text"),
        ("---\nid: " + "x" * 513 + "\n---\nText", "The `id` in its front matter is longer than 512 characters."),
        ('---\ntitle: "\\ud800"\n---\nText', "`title` in its front matter holds half of a surrogate pair."),
        ("---\nlanguage: english\n---\nText", "The language in its front matter cannot be used"),
    ],
)
def test_invalid_front_matter_is_refused_with_the_reason(content: str, reason: str) -> None:
    with pytest.raises(UnusableFileError) as refused:
        parse_front_matter(content)
    assert str(refused.value).startswith(reason)


PIECES = st.sampled_from(
    [
        *(
            "title",
            "id",
            "lang",
            ": ",
            ":",
            "\n",
            "\r\n",
            "- ",
            "[",
            "]",
            "{",
            "}",
            "&a",
            "*a",
            "<<",
            "!!int",
            "|",
            ">",
        ),
        *(
            "'",
            '"',
            "\\",
            "\\x",
            "\\U0011",
            "#",
            "%YAML 9.9",
            "@",
            "`",
            "? ",
            ", ",
            "~",
            "1",
            "é",
            "\0",
            "\t",
            "  ",
            "---",
        ),
    ]
)


@given(st.lists(PIECES, max_size=25).map("".join), st.text(max_size=20))
@settings(max_examples=400, deadline=None)
def test_any_front_matter_is_taken_refused_or_left_in_the_text(block: str, rest: str) -> None:
    text = f"---\n{block}\n---\n{rest}"
    try:
        declared = parse_front_matter(text)
    except UnusableFileError:
        return
    assert text.endswith(declared.body)
    assert all(value is None or value for value in (declared.title, declared.language, declared.id))
