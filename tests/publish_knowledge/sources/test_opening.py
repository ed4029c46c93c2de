"""Reading below a folder never leaves it, whatever is put there, before or meanwhile."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from publish_knowledge.sources.file_errors import UnusableFileError
from publish_knowledge.sources.opening import follow_link, list_folder, read_bytes


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "docs/sub").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/credentials").write_text("KEY")
    (tmp_path / "docs/a.md").write_text("Text.")
    (tmp_path / "docs/sub/b.md").write_text("Text below.")
    return tmp_path / "docs"


def test_a_file_is_read_whole_and_a_longer_one_is_refused(docs: Path) -> None:
    assert read_bytes(docs, ["sub", "b.md"], 11) == b"Text below."
    with pytest.raises(UnusableFileError, match="It has 11 bytes; 10 is the limit"):
        read_bytes(docs, ["sub", "b.md"], 10)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="it takes files whose size is not what they hold")
def test_bytes_that_are_read_count_and_not_the_size_that_a_file_claims() -> None:
    assert Path("/proc/self/maps").stat().st_size == 0
    with pytest.raises(UnusableFileError, match="50 is the limit"):
        read_bytes(Path("/proc/self"), ["maps"], 50)


@pytest.mark.parametrize(
    "target",
    [
        "../secret/credentials",
        "sub/../../secret/credentials",
        "{root}/secret/credentials",
        "/proc/self/environ",
        "..",
        "../docs2/a.md",
        ".",
    ],
)
def test_a_link_that_leads_outside_is_refused_by_name(docs: Path, target: str) -> None:
    (docs / "notes.md").symlink_to(target.format(root=docs.parent))
    with pytest.raises(UnusableFileError, match="outside docs, and is not followed"):
        follow_link(docs, ("notes.md",))


@pytest.mark.parametrize("target", ["../a.md", "../../docs/a.md", "{root}/docs/a.md", "../sub/../a.md"])
def test_a_link_inside_is_followed_once(docs: Path, target: str) -> None:
    (docs / "sub/link.md").symlink_to(target.format(root=docs.parent))
    assert follow_link(docs, ("sub", "link.md")) == ("a.md",)
    assert follow_link(docs, ("a.md",)) == ("a.md",)
    (docs / "second.md").symlink_to("sub/link.md")
    with pytest.raises(UnusableFileError, match=r"sub/link.md, another link"):
        follow_link(docs, ("second.md",))


def test_a_link_that_leads_nowhere_or_to_itself_is_refused(docs: Path) -> None:
    (docs / "gone.md").symlink_to("nowhere.md")
    (docs / "self.md").symlink_to("self.md")
    with pytest.raises(UnusableFileError, match="leads nowhere"):
        follow_link(docs, ("gone.md",))
    with pytest.raises(UnusableFileError, match="another link"):
        follow_link(docs, ("self.md",))


def test_what_becomes_a_link_before_it_is_read_is_not_followed(docs: Path) -> None:
    (docs / "a.md").unlink()
    (docs / "a.md").symlink_to("../secret/credentials")
    with pytest.raises(UnusableFileError, match="not a regular file"):
        read_bytes(docs, ["a.md"], 100)
    (docs / "sub").rename(docs / "moved")
    (docs / "sub").symlink_to("../secret")
    with pytest.raises(OSError, match=r"Not a directory|symbolic link"):
        read_bytes(docs, ["sub", "credentials"], 100)
    with pytest.raises(OSError, match=r"Not a directory|symbolic link"):
        list_folder(docs, ["sub"])


def test_what_is_replaced_between_a_look_and_the_opening_is_not_read(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_open = os.open

    def replace_and_open(path: str | Path, flags: int, *, dir_fd: int | None = None) -> int:
        if path == "a.md":
            (docs / "a.md").unlink()
            (docs / "a.md").symlink_to("../secret/credentials")
        return real_open(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", replace_and_open)
    with pytest.raises(OSError, match="symbolic links"):
        read_bytes(docs, ["a.md"], 100)


def test_special_files_are_refused_without_waiting(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(docs / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(docs)  # addresses of sockets are short
        server.bind("socket.md")
    for name in ("pipe.md", "socket.md", "sub"):
        with pytest.raises(UnusableFileError, match="not a regular file"):
            read_bytes(docs, [name], 100)


def test_a_listing_tells_files_folders_and_links_apart(docs: Path) -> None:
    (docs / "to_file").symlink_to("a.md")
    (docs / "to_folder").symlink_to("sub")
    (docs / "to_nothing").symlink_to("nothing")
    assert [(entry.name, entry.kind) for entry in list_folder(docs, [])] == [
        ("a.md", "file"),
        ("sub", "folder"),
        ("to_file", "file"),
        ("to_folder", "linked folder"),
        ("to_nothing", "broken link"),
    ]
