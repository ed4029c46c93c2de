"""Which files a batch holds, and which path identifies each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from publish_knowledge.conversion.formats import FORMATS, Format
from publish_knowledge.sources.files import KINDS, FoundFiles, PassedOver, RootError, find_files


def write_files(root: Path, *names: str) -> Path:
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"Text of {name}.\n")
    return root


def paths(found: FoundFiles) -> list[str]:
    return [source.path for source in found.files]


def test_a_folder_gives_its_texts_at_any_depth_in_a_stable_order(tmp_path: Path) -> None:
    docs = write_files(
        tmp_path / "docs", "b.md", "a/z.txt", "a/y.markdown", "A.MD", "c.mdx", "d.zip", "e.png", "Makefile"
    )
    found = find_files([docs])
    assert paths(found) == ["docs/A.MD", "docs/a/y.markdown", "docs/a/z.txt", "docs/b.md", "docs/c.mdx"]
    assert [source.kind for source in found.files] == ["markdown", "markdown", "plain", "markdown", "markdown"]
    assert found.errors == ()
    assert found.folders == ("docs/",)


def test_hidden_files_and_folders_are_skipped(tmp_path: Path) -> None:
    docs = write_files(tmp_path / "docs", ".hidden.md", ".git/a.md", "seen.md", "sub/.cache/b.md")
    assert paths(find_files([docs])) == ["docs/seen.md"]


def test_a_hidden_file_that_is_named_is_taken(tmp_path: Path) -> None:
    write_files(tmp_path / "docs", ".notes.md")
    assert paths(find_files([tmp_path / "docs/.notes.md"])) == ["docs/.notes.md"]


def test_the_search_ends_in_a_loop_of_links_and_linked_files_inside_are_read(tmp_path: Path) -> None:
    write_files(tmp_path, "docs/a.md", "docs/sub/inside.md")
    (tmp_path / "docs/sub/loop").symlink_to(tmp_path / "docs/sub")
    (tmp_path / "docs/linked.md").symlink_to("sub/inside.md")
    found = find_files([tmp_path / "docs"])
    assert paths(found) == ["docs/a.md", "docs/linked.md", "docs/sub/inside.md"]
    assert [link.path for link in found.links] == ["docs/sub/loop"]
    assert found.unseen == ("docs/sub/loop/",)


def test_a_file_alone_is_the_item_that_its_folder_made(tmp_path: Path) -> None:
    docs = write_files(tmp_path / "docs", "install.md", "other.md")
    assert paths(find_files([docs / "install.md"])) == ["docs/install.md"]
    assert set(paths(find_files([docs / "install.md"]))) < set(paths(find_files([docs])))
    assert find_files([docs / "install.md"]).folders == ()


def test_a_root_makes_a_deep_file_the_item_that_a_folder_above_made(tmp_path: Path) -> None:
    docs = write_files(tmp_path / "docs", "guide/install.md", "a.md")
    alone = paths(find_files([docs / "guide/install.md"], root=tmp_path))
    assert alone == ["docs/guide/install.md"]
    assert set(alone) < set(paths(find_files([docs])))


def test_a_root_takes_the_name_of_the_folder_away(tmp_path: Path) -> None:
    docs = write_files(tmp_path / "docs", "guide/install.md")
    found = find_files([docs], root=docs)
    assert (paths(found), found.folders) == (["guide/install.md"], ("",))


def test_folders_published_one_by_one_or_together_keep_their_names(tmp_path: Path) -> None:
    write_files(tmp_path, "en/index.md", "es/index.md")
    together = find_files([tmp_path / "es", tmp_path / "en"])
    assert paths(together) == ["en/index.md", "es/index.md"]
    assert paths(together) == [*paths(find_files([tmp_path / "en"])), *paths(find_files([tmp_path / "es"]))]
    assert together.folders == ("en/", "es/")


def test_a_shell_pattern_over_a_folder_names_files_as_the_folder_does(tmp_path: Path) -> None:
    docs = write_files(tmp_path / "docs", "a.md", "sub/b.md")
    assert paths(find_files([docs / "a.md", docs / "sub/b.md"])) == paths(find_files([docs]))


def test_a_file_given_twice_is_one_item(tmp_path: Path) -> None:
    docs = write_files(tmp_path / "docs", "a.md")
    assert paths(find_files([docs, docs / "a.md", docs / "sub/../a.md"])) == ["docs/a.md"]


def test_the_second_of_two_files_with_one_path_is_reported(tmp_path: Path) -> None:
    write_files(tmp_path, "one/docs/a.md", "two/docs/a.md")
    found = find_files([tmp_path / "one/docs", tmp_path / "two/docs"])
    assert [source.file for source in found.files] == [tmp_path / "one/docs/a.md"]
    assert [error.path for error in found.errors] == ["a.md"]
    assert "is known as docs/a.md too. Give --root" in found.errors[0].reason


def test_the_working_folder_can_be_given_as_a_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docs = write_files(tmp_path / "docs", "a.md")
    monkeypatch.chdir(docs)
    assert paths(find_files([Path()])) == paths(find_files([docs])) == ["docs/a.md"]


def test_a_root_beside_the_files_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path, "docs/a.md", "other/b.md")
    with pytest.raises(RootError, match="does not lie under the root"):
        find_files([tmp_path / "docs"], root=tmp_path / "other")


def test_a_named_file_of_another_kind_is_reported(tmp_path: Path) -> None:
    docs = write_files(tmp_path / "docs", "a.zip", "b.md")
    found = find_files([docs / "a.zip", docs / "b.md"])
    assert paths(found) == ["docs/b.md"]
    (error,) = found.errors
    assert error.path == "a.zip"
    assert error.reason == f"Only {', '.join((*KINDS, *FORMATS))} files can be published."


def test_a_file_name_that_is_not_utf8_is_reported(tmp_path: Path) -> None:
    docs = write_files(tmp_path / "docs", "fine.md")
    name = os.fsencode(docs) + b"/caf\xe9.md"
    try:
        Path(os.fsdecode(name)).write_text("Text.")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    found = find_files([docs])
    assert paths(found) == ["docs/fine.md"]
    (error,) = found.errors
    assert error.path == "caf\N{REPLACEMENT CHARACTER}.md"
    assert error.reason == "Its name is not valid UTF-8. Rename it."


def test_no_common_folder_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def apart(_: object) -> str:
        raise ValueError  # what two drives of a Windows machine give

    write_files(tmp_path, "a.md")
    monkeypatch.setattr(os.path, "commonpath", apart)
    with pytest.raises(RootError, match="no folder in common"):
        find_files([tmp_path / "a.md"])


def test_what_its_library_is_missing_for_is_passed_over_and_reported_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMATS, ".docx", Format("Word", "packaged.docx", ("a_library_that_is_not_there",)))
    docs = write_files(tmp_path / "docs", "a.docx", "b.md")
    assert find_files([docs]).passed_over == (PassedOver("docs/a.docx", "not installed"),)
    (error,) = find_files([docs / "a.docx"]).errors
    assert error.reason.startswith("Word needs the extra `formats`")
