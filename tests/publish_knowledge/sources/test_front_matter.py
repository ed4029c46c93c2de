"""Where front matter begins and ends, what it declares, and what is wrong with it."""

from __future__ import annotations

import re
import time

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
        ("---\nid: 'a\nother: [\n---\nText", "Its front matter does not parse (line 4)"),
        ("---\na: " + "b" * 70_000 + "\n---\nText", "Its front matter is longer than 65,536 characters."),
        ("---\ntitle: [a, b]\n---\nText", "`title` in its front matter must be one text"),
        ("---\nid: {a: b}\n---\nText", "`id` in its front matter must be one text"),
        ("+++\nid = ['a']\n+++\nText", "`id` in its front matter must be one text"),
        ("---\nid: " + "x" * 513 + "\n---\nText", "The `id` in its front matter is longer than 512 characters."),
        ('---\ntitle: "\\ud800"\n---\nText', "`title` in its front matter holds half of a surrogate pair."),
    ],
)
def test_a_used_field_that_cannot_be_read_is_refused_with_the_reason(content: str, reason: str) -> None:
    with pytest.raises(UnusableFileError) as refused:
        parse_front_matter(content)
    assert str(refused.value).startswith(reason)


@pytest.mark.parametrize(
    "text",
    [
        "\n---\ntitle: T\n---\nText",
        "\r\n \t\r\n---\r\ntitle: T\r\n---\r\nText",
        "\ufeff---\ntitle: T\n---\nText",
        "\u00a0\n\u200b---\u00a0\ntitle: T\n---\u00a0\nText",
        "<!-- Copyright -->\n---\ntitle: T\n---\nText",
        "<!-- of\nseveral\nlines -->\n\n<!-- two -->\n---\ntitle: T\n---\nText",
        "{/* a comment of MDX */}\n---\ntitle: T\n---\nText",
        "---\n\ntitle: T\n\n---\nText",
        "---\n# a comment\ntitle: T\n---\nText",
        "+++\ntitle = 'T'\ntags = ['a']\n[params]\ntitle = 'nested'\n+++\nText",
        '\ufeff\n+++\r\ntitle = "T"\r\n+++\r\nText',
        "---\nTitle: T\n---\nText",
    ],
)
def test_what_is_clearly_front_matter_is_read_wherever_it_begins(text: str) -> None:
    assert parse_front_matter(text) == FrontMatter("Text", "T")


@pytest.mark.parametrize(
    ("front_matter", "title", "why"),
    [
        ("title: T\ntags: [a, b", "T", "does not parse (line 4)"),
        ("title: T\ndescription: one: two", "T", "does not parse (line 3)"),
        ("title: T\n\tother: x", "T", "does not parse (line 3)"),
        ("title: T\na: *nowhere", "T", "does not parse (line 3)"),
        ("title: T\na: \x01", "T", "holds a character that YAML does not allow"),
        ('title: T\na: "\\U99999999"', "T", "holds a character that YAML does not allow"),
        ("title: T\na: " + "[" * 5000, "T", "is nested too deeply"),
        ("title:\u00a0T", "T", "does not parse"),
        ("title:T", "T", "does not parse"),
        ("title：T\nid： 7", "T", "does not parse"),
        ("title: Refunds: how they work", "Refunds: how they work", "does not parse (line 2)"),
        ("title: 'T' # note\nb: [", "T", "does not parse"),
        ("title: T # note\nb: [", "T", "does not parse"),
        ("title: ~\nb: [", None, "does not parse"),
    ],
)
def test_a_slip_elsewhere_is_a_warning_and_the_rest_is_read(front_matter: str, title: str | None, why: str) -> None:
    declared = parse_front_matter(f"---\n{front_matter}\n---\nText.\n")
    assert (declared.body, declared.title) == ("Text.\n", title)
    (warning,) = declared.warnings
    assert warning.startswith(f"Its front matter {why}")


@pytest.mark.parametrize(
    "front_matter", ["title = 'T'\nx = [1", "title = 'T'\nx = " + "[" * 30_000, "title = 'T'\nx = " + "9" * 5_000]
)
def test_a_slip_in_toml_is_a_warning_too(front_matter: str) -> None:
    declared = parse_front_matter(f"+++\n{front_matter}\n+++\nText.\n")
    assert (declared.body, declared.title, len(declared.warnings)) == ("Text.\n", "T", 1)


@pytest.mark.parametrize(
    "text",
    [
        "---\n- a\n- b\n---\nText",
        "---\n\ttab: x\n---\nText",
        "+++\nno fields\n+++\nText",
        "---\ntitle: never closed\n",
        "----\ntitle: longer\n----\n",
        "—\ntitle: by a text processor\n—\nText",
    ],
)
def test_what_may_be_front_matter_and_is_published_as_text_is_a_warning(text: str) -> None:
    declared = parse_front_matter(text)
    assert (declared.body, len(declared.warnings)) == (text, 1)


@pytest.mark.parametrize("tag", ["english", "jp", "e", "[en, de]", "{a: b}", "en--us"])
def test_an_unknown_language_is_a_warning(tag: str) -> None:
    declared = parse_front_matter(f"---\ntitle: T\nlanguage: {tag}\n---\nText")
    assert (declared.title, declared.language, declared.body) == ("T", None, "Text")
    (warning,) = declared.warnings
    assert warning.startswith("The `language` in its front matter")


@pytest.mark.parametrize(
    ("field", "draft"),
    [
        ("draft: true", "draft: true"),
        ("draft: True", "draft: True"),
        ("draft: 'yes'", "draft: yes"),
        ("Draft: on", "draft: on"),
        ("publish: false", "publish: false"),
        ("published: false", "published: false"),
        ("status: draft", "status: draft"),
        ("status: Draft", "status: Draft"),
        ("tags: [\ndraft:true", "draft: true"),
        ("draft: false", None),
        ("draft:", None),
        ("publish: true", None),
        ("publish:", None),
        ("published: 2026-01-02", None),
        ("status: accepted", None),
        ("drafts: true", None),
    ],
)
def test_three_fields_make_a_draft(field: str, draft: str | None) -> None:
    assert parse_front_matter(f"---\ntitle: T\n{field}\n---\nText").draft == draft
    if ":\n" not in field and "[" not in field:
        toml = re.sub(r": ?(.*)", r" = '\1'", field.replace("'", ""))
        assert parse_front_matter(f"+++\n{toml}\n+++\nText").draft == draft


@pytest.mark.parametrize("field", ["draft: tru", "draft: [x]", "publish: nope"])
def test_an_unclear_draft_field_makes_a_draft_and_a_warning(field: str) -> None:
    declared = parse_front_matter(f"---\n{field}\n---\nText")
    assert declared.draft is not None
    assert len(declared.warnings) == 1


def test_front_matter_that_is_never_closed_still_makes_a_draft() -> None:
    assert parse_front_matter("---\ntitle: T\ndraft: true\n\nText").draft == "draft: true"


def test_a_field_given_twice_is_a_warning() -> None:
    declared = parse_front_matter("---\ntitle: A\ntitle: B\n---\nText")
    assert declared.title == "B"
    assert declared.warnings == ("Its front matter has `title` more than once; the last one counts.",)


@pytest.mark.parametrize(
    "text", ["\n" * 300_000, "<!--" * 50_000, "---\n" * 50_000, "---\ntitle:" * 30_000, "+++\na.b" * 30_000]
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    began = time.process_time()
    for _ in range(3):
        len(re.findall(r"(?:\w|\W)", text))
    reference = time.process_time() - began
    began = time.process_time()
    parse_front_matter(text)
    assert time.process_time() - began < max(1.0, 20 * reference)


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
