"""From files to documents: titles, languages, front matter, and every kind of unusable file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from publish_knowledge.sources import loading
from publish_knowledge.sources.documents import Document
from publish_knowledge.sources.file_errors import UnusableFileError
from publish_knowledge.sources.files import find_files
from publish_knowledge.sources.front_matter import parse_front_matter
from publish_knowledge.sources.loading import LoadedFiles, load_documents


def write(root: Path, files: dict[str, bytes | str]) -> Path:
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def loaded(root: Path, files: dict[str, bytes | str], language: str | None = None) -> LoadedFiles:
    return load_documents(find_files([write(root, files)], root), language)


def one(root: Path, content: bytes | str, name: str = "note.md") -> Document:
    found = loaded(root, {name: content})
    assert found.errors == ()
    (document,) = found.documents
    return document


def problem(root: Path, content: bytes | str) -> str:
    """The reason for which a file is left out; a good file beside it is always taken."""
    found = loaded(root, {"bad.md": content, "good.md": "Good text.\n"})
    assert [document.source_path for document in found.documents] == ["good.md"]
    (left_out,) = found.errors
    assert left_out.path == "bad.md"
    return left_out.reason


def test_a_document_has_all_that_its_file_says(tmp_path: Path) -> None:
    text = "---\ntitle: Refunds\nlang: pt-BR\nid: refunds-1\ntags: [a, b]\n---\n# Reembolsos\r\n\r\nCinco dias.\r\n"
    assert one(tmp_path, text) == Document(
        source_path="note.md",
        text="# Reembolsos\r\n\r\nCinco dias.\r\n",
        title="Refunds",
        language="pt",
        kind="markdown",
        item_source="id:refunds-1",
        source_type="file",
    )


def test_without_front_matter_the_first_heading_is_the_title(tmp_path: Path) -> None:
    assert one(tmp_path, "Intro.\n\n## Install `it` *now* { #install }\n").title == "Install it now"


def test_without_a_heading_the_file_name_is_the_title(tmp_path: Path) -> None:
    document = one(tmp_path, "Only text.\n", "guide/how-to.md")
    assert (document.title, document.item_source) == ("how-to", "path:guide/how-to.md")


def test_a_plain_text_has_no_headings(tmp_path: Path) -> None:
    document = one(tmp_path, "# not a heading\n", "shell.txt")
    assert (document.title, document.kind) == ("shell", "plain")


def test_an_endless_title_is_cut(tmp_path: Path) -> None:
    title = one(tmp_path, "---\ntitle: " + "word " * 1000 + "\n---\nText.\n").title
    assert len(title) <= 160
    assert title.endswith("word…")


def test_a_byte_order_mark_is_dropped_and_nothing_else(tmp_path: Path) -> None:
    text = "a\r\nb\rc\0d\u2028e\u0301\n\n  "
    assert one(tmp_path, "\ufeff\ufeff" + text).text == "\ufeff" + text


def test_front_matter_alone_is_an_item_with_an_empty_text(tmp_path: Path) -> None:
    document = one(tmp_path, "---\ntitle: Soon\n---\n")
    assert (document.title, document.text, document.language) == ("Soon", "", "und")


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
def test_the_text_begins_right_after_front_matter_and_rules_are_not_eaten(tmp_path: Path, text: str, body: str) -> None:
    assert one(tmp_path, text).text == body


@pytest.mark.parametrize(
    ("front_matter", "title", "source"),
    [
        ("title: 2026-11-30\nid: 007", "2026-11-30", "id:007"),
        ("title: yes\nid: 1e3", "yes", "id:1e3"),
        ("title: ''\nid: ~", "note", "path:note.md"),
        ("title:\nid: null", "note", "path:note.md"),
        ('title: "null"', "null", "path:note.md"),
        ("title: >\n  two\n  lines", "two lines", "path:note.md"),
        ("date: 2026-99-99\nother: !!python/object:os.system x", "note", "path:note.md"),
        ("? [a, b]\n: c\ntitle: T", "T", "path:note.md"),
        ("a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\ntitle: T", "T", "path:note.md"),
        ("a: &a\n  <<: *a\ntitle: T", "T", "path:note.md"),
    ],
)
def test_front_matter_values_are_taken_as_they_are_written(
    tmp_path: Path, front_matter: str, title: str, source: str
) -> None:
    document = one(tmp_path, f"---\n{front_matter}\n---\nText.\n")
    assert (document.title, document.item_source) == (title, source)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "It is empty."),
        (b"\xef\xbb\xbf", "It is empty."),
        (b" \r\n\t\n", "It is empty."),
        (b"\x89PNG\r\n\x1a\n\0\0", "It is not valid UTF-8 (byte 0, line 1)"),
        (b"fine\ncaf\xe9\n", "It is not valid UTF-8 (byte 8, line 2)"),
        (b"\xed\xa0\x80 half of a pair", "It is not valid UTF-8"),
        ("text".encode("utf-16"), "It is UTF-16."),
        ("text".encode("utf-16-le"), "It looks like a binary file"),
        (bytes(range(32)) * 4, "It looks like a binary file"),
        (b"a" * (loading.MAX_BYTES + 1), "It has 20,971,521 bytes; 20,971,520 is the limit."),
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
def test_an_unusable_file_is_told_and_the_rest_is_taken(tmp_path: Path, content: bytes | str, reason: str) -> None:
    assert problem(tmp_path, content).startswith(reason)


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


def test_every_reason_says_what_to_do(tmp_path: Path) -> None:
    bad: dict[str, bytes | str] = {"a.md": "", "b.md": b"\xff", "c.md": "---\nx: [\n---\n", "d.md": "\0" * 99 + "x"}
    assert all(reason.count(".") >= 2 for reason in (one.reason for one in loaded(tmp_path, bad).errors))


def test_files_that_claim_one_id_are_all_left_out(tmp_path: Path) -> None:
    claim = "---\nid: same\n---\nText of its own.\n"
    files: dict[str, bytes | str] = dict.fromkeys(("a.md", "b.md", "c.md", "d.md", "e.md"), claim)
    found = loaded(tmp_path, files | {"f.md": "Fine.\n"})
    assert [document.source_path for document in found.documents] == ["f.md"]
    assert [left_out.path for left_out in found.errors] == ["a.md", "b.md", "c.md", "d.md", "e.md"]
    assert found.errors[0].reason == (
        "Its id “same” is also claimed by b.md, c.md, d.md and 1 more. Give each file an id of its own."
    )


def test_an_id_never_meets_a_path(tmp_path: Path) -> None:
    found = loaded(tmp_path, {"a.md": "---\nid: b.md\n---\nText.\n", "b.md": "Text.\n"})
    assert [document.item_source for document in found.documents] == ["id:b.md", "path:b.md"]


def test_a_broken_link_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere.md")
    found = loaded(tmp_path, {"good.md": "Fine.\n"})
    assert [left_out.path for left_out in found.errors] == ["gone.md"]
    assert found.errors[0].reason.startswith("It is not a regular file")


def test_a_file_that_vanishes_or_cannot_be_opened_is_a_problem(tmp_path: Path) -> None:
    found = find_files([write(tmp_path, {"a.md": "Text.\n", "b.md": "Text.\n"})], tmp_path)
    (tmp_path / "a.md").unlink()
    (tmp_path / "a.md").symlink_to("a.md")
    (left_out,) = load_documents(found).errors
    assert left_out.path == "a.md"


def test_a_text_of_five_megabytes_is_fine(tmp_path: Path) -> None:
    text = "# Long\n\n" + "A sentence of some words. " * 200_000
    assert one(tmp_path, text).text == text


def test_the_option_gives_the_language_of_texts_that_declare_none(tmp_path: Path) -> None:
    spanish = "El archivo más simple podría verse así, en español.\n"
    found = loaded(tmp_path, {"a.md": spanish, "b.md": f"---\nlanguage: de\n---\n{spanish}"}, "pt")
    assert [document.language for document in found.documents] == ["pt", "de"]
