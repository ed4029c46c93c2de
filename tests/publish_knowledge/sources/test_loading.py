"""Files loaded as documents: titles, languages, ids, and unusable files reported one by one."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from publish_knowledge.sources.documents import Document, Original
from publish_knowledge.sources.files import FoundFiles, SourceFile, find_files
from publish_knowledge.sources.loading import MAX_BYTES, LoadedFiles, load_documents

# Files that open and cannot be read: the first page of this process is not mapped.
UNREADABLE = Path("/proc/self")


def write(root: Path, files: dict[str, bytes | str]) -> Path:
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def load(root: Path, files: dict[str, bytes | str], language: str | None = None) -> LoadedFiles:
    return load_documents(find_files([write(root, files)], root), language)


def one(root: Path, content: bytes | str, name: str = "note.md") -> Document:
    found = load(root, {name: content})
    assert found.errors == ()
    (document,) = found.documents
    return document


def test_a_document_has_all_that_its_file_declares(tmp_path: Path) -> None:
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


def test_without_front_matter_a_first_level_heading_at_the_top_is_the_title(tmp_path: Path) -> None:
    assert one(tmp_path, "# Install `it` *now* { #install }\n\nText.\n").title == "Install it now"


def test_a_heading_of_another_level_is_no_title(tmp_path: Path) -> None:
    assert one(tmp_path, "## New\n\nText.\n", "releases/v2.3.1.md").title == "v2.3.1"


def test_without_a_heading_the_file_name_is_the_title(tmp_path: Path) -> None:
    document = one(tmp_path, "Only text.\n", "guide/how-to.md")
    assert (document.title, document.item_source) == ("How to", "path:guide/how-to.md")


def test_a_plain_text_has_no_headings(tmp_path: Path) -> None:
    document = one(tmp_path, "# not a heading\n", "shell.txt")
    assert (document.title, document.kind) == ("Shell", "plain")


def test_a_long_title_is_shortened(tmp_path: Path) -> None:
    title = one(tmp_path, "---\ntitle: " + "word " * 1000 + "\n---\nText.\n").title
    assert len(title) <= 160
    assert title.endswith("word…")


@pytest.mark.parametrize(
    "content",
    ["---\ntitle: Soon\n---\n", "---\ntitle: Soon\n---", "+++\ntitle = 'Soon'\n+++\n \n", "\n---\nid: a\n---\n\n\t\n"],
)
def test_front_matter_alone_is_a_warning_and_not_published(tmp_path: Path, content: str) -> None:
    found = load(tmp_path, {"soon.md": content, "good.md": "Fine.\n"})
    assert [document.source_path for document in found.documents] == ["good.md"]
    assert found.errors == ()
    assert [(one.path, one.reason) for one in found.warnings] == [
        ("soon.md", "It has front matter and no text: it is not published.")
    ]
    assert found.unread == {"soon.md"}


def test_ids_by_path_ignore_front_matter_ids(tmp_path: Path) -> None:
    claim = "---\nid: same\n---\nText of its own.\n"
    written = write(tmp_path, {"docs/a.md": claim, "es/a.md": claim, "es/b.md": "---\nid: [x, y]\n---\nText.\n"})
    found = load_documents(find_files([written], written), ids="path")
    assert found.errors == found.warnings == ()
    assert [one.item_source for one in found.documents] == ["path:docs/a.md", "path:es/a.md", "path:es/b.md"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff", "It is not valid UTF-8 (byte 0, line 1)"),
        ("---\ntitle: [\n---\nText", "Its front matter does not parse (line 3)"),
        (b"a" * (MAX_BYTES + 1), "It has 20,971,521 bytes; 20,971,520 is the limit."),
    ],
)
def test_an_unusable_file_is_reported_and_the_rest_is_loaded(tmp_path: Path, content: bytes | str, reason: str) -> None:
    found = load(tmp_path, {"bad.md": content, "good.md": "Good text.\n"})
    assert [document.source_path for document in found.documents] == ["good.md"]
    (error,) = found.errors
    assert error.path == "bad.md"
    assert error.reason.startswith(reason)


def test_files_that_claim_one_id_are_all_left_out(tmp_path: Path) -> None:
    claim = "---\nid: same\n---\nText of its own.\n"
    files: dict[str, bytes | str] = dict.fromkeys(("a.md", "b.md", "c.md", "d.md", "e.md"), claim)
    found = load(tmp_path, files | {"f.md": "Fine.\n"})
    assert [document.source_path for document in found.documents] == ["f.md"]
    assert [error.path for error in found.errors] == ["a.md", "b.md", "c.md", "d.md", "e.md"]
    assert found.errors[0].reason == (
        "Its id “same” is also claimed by b.md, c.md, d.md and 1 more. Give each file an id of its own, "
        "or use --ids path, which identifies all files by their paths."
    )


def test_an_id_never_collides_with_a_path(tmp_path: Path) -> None:
    found = load(tmp_path, {"a.md": "---\nid: b.md\n---\nText.\n", "b.md": "Text.\n"})
    assert [document.item_source for document in found.documents] == ["id:b.md", "path:b.md"]


def test_a_broken_link_is_reported(tmp_path: Path) -> None:
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere.md")
    found = load(tmp_path, {"good.md": "Fine.\n"})
    assert [error.path for error in found.errors] == ["gone.md"]
    assert found.errors[0].reason.startswith("It is not a regular file")


def test_a_file_that_vanishes_or_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    found = find_files([write(tmp_path, {"a.md": "Text.\n", "b.md": "Text.\n"})], tmp_path)
    (tmp_path / "a.md").unlink()
    (tmp_path / "a.md").symlink_to("a.md")
    (error,) = load_documents(found).errors
    assert error.path == "a.md"


@pytest.mark.skipif(not UNREADABLE.exists(), reason="it takes a file that opens and cannot be read")
def test_a_file_whose_reading_fails_is_reported() -> None:
    file = UNREADABLE / "mem"
    source = SourceFile(file, "a.md", "plain", UNREADABLE, UNREADABLE, ("mem",))
    (error,) = load_documents(FoundFiles((source,), (), ())).errors
    assert (error.path, error.reason) == ("a.md", "It cannot be read: Input/output error.")


def test_a_text_of_five_megabytes_is_fine(tmp_path: Path) -> None:
    text = "# Long\n\n" + "A sentence of some words. " * 200_000
    assert one(tmp_path, text).text == text


def test_the_option_gives_the_language_of_texts_that_declare_none(tmp_path: Path) -> None:
    spanish = "El archivo más simple podría verse así, en español.\n"
    found = load(tmp_path, {"a.md": spanish, "b.md": f"---\nlanguage: de\n---\n{spanish}"}, "pt")
    assert [document.language for document in found.documents] == ["pt", "de"]


def test_a_converted_file_is_a_document_with_the_digest_of_its_original(tmp_path: Path) -> None:
    data = b'<html lang="pt-BR"><title>Guia - Site</title><main><h1>Guia</h1><p>---\nCinco dias.</p></main></html>'
    assert one(tmp_path, data, "a/Guia.HTML") == Document(
        source_path="a/Guia.HTML",
        text="# Guia\n\n--- Cinco dias.\n",
        title="Guia",
        language="pt",
        kind="markdown",
        item_source="path:a/Guia.HTML",
        original=Original(hashlib.sha256(data).hexdigest()),
    )


def test_a_converted_file_has_the_title_of_its_properties_or_its_name(tmp_path: Path) -> None:
    found = load(
        tmp_path, {"a.html": "<title>Refunds</title><p>Five days.</p>", "opening-hours.csv": "Day\nMonday\n"}, "en"
    )
    assert [(each.title, each.language) for each in found.documents] == [("Refunds", "en"), ("Opening hours", "en")]


def test_a_file_that_cannot_be_converted_is_reported_and_the_others_are_loaded(tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {"a.docx": b"%PDF-1.7", "b.html": "<p>Five days.</p>", "c.csv": "", "d.md": "Text"}
    found = load(tmp_path, files)
    assert [document.source_path for document in found.documents] == ["b.html", "d.md"]
    assert [error.path for error in found.errors] == ["a.docx", "c.csv"]
    assert found.unread == {"a.docx", "c.csv"}


def test_converted_files_stay_in_order_however_long_each_takes(tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {f"{number:02}.csv": "a\n" * (1 + 5_000 * (number % 2)) for number in range(12)}
    assert [document.source_path for document in load(tmp_path, files).documents] == sorted(files)
