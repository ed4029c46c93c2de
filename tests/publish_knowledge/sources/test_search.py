"""What a search takes, passes over and cannot see."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from publish_knowledge.sources.files import FoundFiles, find_files
from publish_knowledge.sources.search import MAX_DEPTH
from publish_knowledge.sources.selection import PatternError, build_selection


def write_files(root: Path, *names: str) -> Path:
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"Text of {name}.\n")
    return root


def get_paths(found: FoundFiles) -> list[str]:
    return [source.path for source in found.files]


def get_errors(found: FoundFiles) -> dict[str, str]:
    return {error.path: error.reason for error in found.errors}


def test_links_of_files_that_lead_outside_are_errors_by_name(tmp_path: Path) -> None:
    docs = write_files(tmp_path, "docs/a.md", "secret/credentials", "docs/sub/b.md") / "docs"
    (docs / "notes.md").symlink_to("../secret/credentials")
    (docs / "env.txt").symlink_to("/proc/self/environ")
    (docs / "sub/deep.md").symlink_to("../../secret/credentials")
    (docs / "inside.md").symlink_to("sub/b.md")
    found = find_files([docs])
    assert get_paths(found) == ["docs/a.md", "docs/inside.md", "docs/sub/b.md"]
    assert sorted(get_errors(found)) == ["docs/env.txt", "docs/notes.md", "docs/sub/deep.md"]
    named = find_files([docs / "notes.md"])
    assert (get_paths(named), list(get_errors(named))) == ([], ["docs/notes.md"])


def test_a_root_is_what_links_may_not_leave(tmp_path: Path) -> None:
    write_files(tmp_path, "repo/docs/a.md", "repo/CHANGELOG.md", "repo/.env", "outside.md")
    docs = tmp_path / "repo/docs"
    (docs / "changes.md").symlink_to("../CHANGELOG.md")
    (docs / "env.txt").symlink_to("../.env")
    (docs / "out.md").symlink_to("../../outside.md")
    found = find_files([docs], root=tmp_path / "repo")
    assert get_paths(found) == ["docs/a.md", "docs/changes.md"]
    assert get_errors(found)["docs/env.txt"] == "It is a link to .env, which is left out. Put the file itself there."
    assert "outside repo" in get_errors(found)["docs/out.md"]


def test_a_given_folder_that_leads_out_of_the_root_is_an_error(tmp_path: Path) -> None:
    write_files(tmp_path, "repo/real/a.md", "other/b.md")
    (tmp_path / "repo/out").symlink_to("../other")
    (tmp_path / "repo/in").symlink_to("real")
    found = find_files([tmp_path / "repo/out"], root=tmp_path / "repo")
    assert (get_paths(found), list(get_errors(found)), found.unseen) == ([], ["out"], ("out/",))
    assert get_paths(find_files([tmp_path / "repo/in"], root=tmp_path / "repo")) == ["in/a.md"]
    named = find_files([tmp_path / "repo/out/b.md"], root=tmp_path / "repo")
    assert list(get_errors(named)) == ["out/b.md"]


def test_a_given_folder_that_is_a_link_is_searched_but_proves_nothing_gone(tmp_path: Path) -> None:
    write_files(tmp_path, "releases/2/a.md")
    (tmp_path / "docs").symlink_to("releases/2")
    found = find_files([tmp_path / "docs"])
    assert (get_paths(found), found.errors, found.unseen) == (["docs/a.md"], (), ("docs/",))


def test_links_to_folders_are_named_and_what_is_below_is_unseen(tmp_path: Path) -> None:
    docs = write_files(tmp_path, "docs/a.md", "docs/v2/b.md", "other/c.md") / "docs"
    (docs / "latest").symlink_to("v2")
    (docs / "out").symlink_to("../other")
    (docs / "gone").symlink_to("/nowhere/mounted")
    (docs / "gone.png").symlink_to("/nowhere/picture.png")
    found = find_files([docs])
    assert get_paths(found) == ["docs/a.md", "docs/v2/b.md"]
    assert [link.path for link in found.links] == ["docs/latest"]
    assert sorted(get_errors(found)) == ["docs/gone", "docs/out"]
    assert found.unseen == ("docs/gone.png/", "docs/gone/", "docs/latest/", "docs/out/")
    without = find_files([docs], selection=build_selection(["latest", "out", "gone*"]))
    assert (without.links, without.errors, without.unseen) == ((), (), ())


@pytest.mark.parametrize("refused", ["docs", "docs/sub"])
def test_a_folder_that_cannot_be_listed_is_an_error_and_unseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    docs = write_files(tmp_path, "docs/a.md", "docs/sub/b.md", "docs/sub/deep/c.md", "docs/z.md") / "docs"
    inode = (tmp_path / refused).stat().st_ino
    real_scandir = os.scandir

    def scan(handle: int) -> object:
        if os.fstat(handle).st_ino == inode:
            raise PermissionError(13, "Permission denied")
        return real_scandir(handle)

    monkeypatch.setattr(os, "scandir", scan)
    found = find_files([docs])
    assert get_paths(found) == ([] if refused == "docs" else ["docs/a.md", "docs/z.md"])
    assert get_errors(found) == {refused: "The folder cannot be listed: Permission denied. Nothing in it is published."}
    assert found.unseen == (f"{refused}/",)


def test_folders_without_end_are_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    for _ in range(MAX_DEPTH + 2):
        folder /= "d"
    write_files(folder, "deep.md")
    write_files(tmp_path / "docs", "a.md")
    found = find_files([tmp_path / "docs"])
    assert get_paths(found) == ["docs/a.md"]
    ((path, reason),) = get_errors(found).items()
    assert reason == "It is more than 100 folders deep. Nothing in it is published."
    assert found.unseen == (f"{path}/",)


def test_a_name_that_cannot_be_decoded_hides_what_is_beside_it(tmp_path: Path) -> None:
    docs = write_files(tmp_path, "docs/a.md", "docs/sub/b.md") / "docs"
    try:
        Path(os.fsdecode(os.fsencode(docs / "sub") + b"/caf\xe9")).mkdir()
        Path(os.fsdecode(os.fsencode(docs / "sub") + b"/caf\xe9.png")).touch()
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    found = find_files([docs])
    assert get_paths(found) == ["docs/a.md", "docs/sub/b.md"]
    assert get_errors(found) == {"caf\N{REPLACEMENT CHARACTER}": "Its name is not valid UTF-8. Rename it."}
    assert found.unseen == ("docs/sub/",)


@pytest.mark.parametrize("name", ["café.md", "é/ü.md", "가.txt"])
def test_names_in_both_unicode_forms_are_one_path(tmp_path: Path, name: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, name) for form in ("NFC", "NFD"))
    one, two = write_files(tmp_path / "1/docs", composed), write_files(tmp_path / "2/docs", decomposed)
    assert get_paths(find_files([one])) == get_paths(find_files([two])) == [f"docs/{composed}"]
    assert get_paths(find_files([two / decomposed], root=two.parent)) == [f"docs/{composed}"]
    write_files(one, decomposed)
    found = find_files([one])
    if len(list(one.iterdir())) == 2:
        assert get_paths(found) == [f"docs/{composed}"]
        assert list(get_errors(found)) == [f"docs/{composed}"]
        assert "another Unicode form" in get_errors(found)[f"docs/{composed}"]


def test_what_is_not_taken_is_passed_over_with_the_reason(tmp_path: Path) -> None:
    names = ["a.md", "b.png", "Makefile", ".hidden.md", "node_modules/x.md", "build/y.md", "old/z.md", "c.txt"]
    docs = write_files(tmp_path / "docs", *names)
    (docs / ".knowledgeignore").write_text("old/\n")
    found = find_files([docs], selection=build_selection(["*.txt"]))
    assert get_paths(found) == ["docs/a.md"]
    assert {(one.path, one.reason, one.is_folder) for one in found.passed_over} == {
        ("docs/b.png", "format", False),
        ("docs/Makefile", "format", False),
        ("docs/.hidden.md", "default", False),
        ("docs/node_modules", "default", True),
        ("docs/build", "default", True),
        ("docs/old", "ignored", True),
        ("docs/c.txt", "excluded", False),
    }


def test_ignore_files_of_the_root_and_between_apply_to_folders_and_named_files(tmp_path: Path) -> None:
    docs = write_files(tmp_path / "docs", "guide/a.md", "guide/b.md", "guide/c.md", "d.md")
    (tmp_path / ".knowledgeignore").write_text("docs/guide/a.md\n")
    (docs / ".knowledgeignore").write_text("b.md\n")
    assert get_paths(find_files([docs])) == ["docs/d.md", "docs/guide/c.md"]
    assert get_paths(find_files([docs / "guide"], root=tmp_path)) == ["docs/guide/c.md"]
    named = [docs / "guide" / name for name in ("a.md", "b.md", "c.md")]
    assert get_paths(find_files(named, root=tmp_path)) == ["docs/guide/c.md"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "docs/.knowledgeignore is not valid UTF-8"),
        (b"a" * 70_000, "docs/.knowledgeignore: It has 70,000 bytes; 65,536 is the limit"),
        (b"fine\n!\n", "docs/.knowledgeignore, pattern 2: '!' is not a pattern"),
        (None, "docs/.knowledgeignore: It is not a regular file"),
    ],
)
def test_an_ignore_file_that_cannot_be_used_stops_everything(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    docs = write_files(tmp_path / "docs", "a.md")
    if content is None:
        (docs / ".knowledgeignore").symlink_to("/proc/self/environ")
    else:
        (docs / ".knowledgeignore").write_bytes(content)
    with pytest.raises(PatternError) as refused:
        find_files([docs])
    assert str(refused.value).startswith(message)


def test_the_names_beside_a_named_file_are_noted(tmp_path: Path) -> None:
    docs = write_files(tmp_path / "docs", "a.md", "sub/b.md")
    found = find_files([docs / "a.md"])
    assert dict(found.siblings) == {"docs/": {"docs/a.md", "docs/sub"}}
