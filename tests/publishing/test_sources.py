"""Which files a batch holds, and by which path each is known."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from publish_knowledge.sources import RootError, Sources, find


def lay(root: Path, *names: str) -> Path:
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"Text of {name}.\n")
    return root


def paths(found: Sources) -> list[str]:
    return [source.path for source in found.files]


def test_a_folder_gives_its_texts_at_any_depth_in_a_stable_order(tmp_path: Path) -> None:
    lay(tmp_path, "b.md", "a/z.txt", "a/y.markdown", "A.MD", "c.mdx", "d.rst", "e.png", "Makefile")
    found = find([tmp_path])
    assert paths(found) == ["A.MD", "a/y.markdown", "a/z.txt", "b.md", "c.mdx"]
    assert [source.kind for source in found.files] == ["markdown", "markdown", "plain", "markdown", "markdown"]
    assert found.problems == ()


def test_hidden_files_and_folders_are_passed_over(tmp_path: Path) -> None:
    lay(tmp_path, ".hidden.md", ".git/a.md", "seen.md", "sub/.cache/b.md")
    assert paths(find([tmp_path])) == ["seen.md"]


def test_a_hidden_file_that_is_named_is_taken(tmp_path: Path) -> None:
    lay(tmp_path, ".notes.md")
    assert paths(find([tmp_path / ".notes.md"])) == [".notes.md"]


def test_a_loop_of_links_ends_and_linked_files_are_read(tmp_path: Path) -> None:
    lay(tmp_path, "docs/a.md", "outside.md")
    (tmp_path / "docs/loop").symlink_to(tmp_path / "docs")
    (tmp_path / "docs/linked.md").symlink_to(tmp_path / "outside.md")
    assert paths(find([tmp_path / "docs"])) == ["a.md", "linked.md"]


def test_one_file_is_known_by_its_name(tmp_path: Path) -> None:
    lay(tmp_path, "docs/guide/install.md")
    assert paths(find([tmp_path / "docs/guide/install.md"])) == ["install.md"]


def test_a_root_makes_one_file_the_item_that_its_folder_made(tmp_path: Path) -> None:
    lay(tmp_path, "docs/guide/install.md", "docs/a.md")
    whole = paths(find([tmp_path / "docs"]))
    alone = paths(find([tmp_path / "docs/guide/install.md"], root=tmp_path / "docs"))
    assert alone == ["guide/install.md"]
    assert set(alone) < set(whole)


def test_several_folders_relate_to_the_folder_that_holds_them_all(tmp_path: Path) -> None:
    lay(tmp_path, "en/index.md", "es/index.md")
    assert paths(find([tmp_path / "es", tmp_path / "en"])) == ["en/index.md", "es/index.md"]


def test_a_shell_pattern_over_a_folder_names_files_as_the_folder_does(tmp_path: Path) -> None:
    lay(tmp_path, "a.md", "sub/b.md")
    assert paths(find([tmp_path / "a.md", tmp_path / "sub/b.md"])) == paths(find([tmp_path]))


def test_a_file_given_twice_is_one_item(tmp_path: Path) -> None:
    lay(tmp_path, "a.md")
    assert paths(find([tmp_path, tmp_path / "a.md", tmp_path / "sub/../a.md"])) == ["a.md"]


def test_the_working_folder_can_be_given_as_a_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path, "docs/a.md")
    monkeypatch.chdir(tmp_path / "docs")
    found = find([Path()])
    assert paths(found) == ["a.md"]
    assert found.root == tmp_path / "docs"


def test_a_root_beside_the_files_is_refused(tmp_path: Path) -> None:
    lay(tmp_path, "docs/a.md", "other/b.md")
    with pytest.raises(RootError, match="does not lie under the root"):
        find([tmp_path / "docs"], root=tmp_path / "other")


def test_a_named_file_of_another_kind_is_a_problem(tmp_path: Path) -> None:
    lay(tmp_path, "a.rst", "b.md")
    found = find([tmp_path / "a.rst", tmp_path / "b.md"])
    assert paths(found) == ["b.md"]
    (problem,) = found.problems
    assert problem.path == "a.rst"
    assert problem.reason == "Only .md, .markdown, .mdx, .txt files can be published."


def test_a_file_name_that_is_not_utf8_is_a_problem(tmp_path: Path) -> None:
    lay(tmp_path, "fine.md")
    name = os.fsencode(tmp_path) + b"/caf\xe9.md"
    try:
        Path(os.fsdecode(name)).write_text("Text.")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    found = find([tmp_path])
    assert paths(found) == ["fine.md"]
    (problem,) = found.problems
    assert problem.path == "caf\N{REPLACEMENT CHARACTER}.md"
    assert problem.reason == "Its name is not valid UTF-8. Rename it."


def test_no_common_folder_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def apart(_: object) -> str:
        raise ValueError  # what two drives of a Windows machine give

    monkeypatch.setattr(os.path, "commonpath", apart)
    with pytest.raises(RootError, match="no folder in common"):
        find([tmp_path])
