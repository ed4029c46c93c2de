"""Sources of any kind are opened together; one that cannot be reached does not cost the others."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from publish_knowledge.sources.remote.addresses import AddressError
from publish_knowledge.sources.remote.fetching import Sources, Surroundings, open_sources
from publish_knowledge.sources.selection import build_selection
from tests.support.sources import FolderSource, make_repository


def open_all(tmp_path: Path, *texts: str, name: str | None = None, standard_input: bytes = b"") -> Sources:
    (tmp_path / "fetched").mkdir()
    return open_sources(texts, Surroundings(tmp_path / "fetched", os.environ, {}, io.BytesIO(standard_input)), name)


def read_all(opened: Sources, *exclude: str) -> dict[str, str]:
    found = opened.find(None, build_selection(exclude))
    return {one.source_path: one.text for one in opened.load(found, None, "front-matter").documents}


def test_folders_and_repositories_are_read_together_with_the_same_patterns(tmp_path: Path) -> None:
    folder = FolderSource(tmp_path)
    folder.write("a.md", "a")
    folder.write("x.md", "x")
    made = make_repository(tmp_path / "made", {"b.md": "b", "x.md": "x", ".knowledgeignore": "c.md", "c.md": "c"})
    opened = open_all(tmp_path, folder.address, f"git+file://{made}")
    assert read_all(opened, "x.md") == {"handbook/a.md": "a", "made/b.md": "b"}


def test_standard_input_is_one_file_with_the_name_given(tmp_path: Path) -> None:
    opened = open_all(tmp_path, "-", name="notes/today.md", standard_input=b"# Today\n")
    assert read_all(opened) == {"notes/today.md": "# Today\n"}
    assert opened.find(None, build_selection()).siblings == {}


@pytest.mark.parametrize("name", [None, "", "/etc/x.md", "../x.md", "a/../../x.md", "a\0.md"])
def test_standard_input_needs_a_path_below_the_base(tmp_path: Path, name: str | None) -> None:
    with pytest.raises(AddressError, match="--name"):
        open_all(tmp_path, "-", name=name, standard_input=b"text")


def test_standard_input_stands_alone_and_a_name_stands_for_it(tmp_path: Path) -> None:
    with pytest.raises(AddressError, match="alone"):
        open_all(tmp_path, "-", str(tmp_path), name="a.md")
    (tmp_path / "fetched").rmdir()
    with pytest.raises(AddressError, match="Give - as the source"):
        open_all(tmp_path, str(tmp_path), name="a.md")


def test_a_source_that_cannot_be_reached_is_an_error_and_hides_what_is_published(tmp_path: Path) -> None:
    folder = FolderSource(tmp_path)
    folder.write("a.md", "a")
    opened = open_all(tmp_path, folder.address, f"git+file://{tmp_path}/none")
    found = opened.find(None, build_selection())
    assert [error.path for error in found.errors] == [f"git+file://{tmp_path}/none@HEAD"]
    assert found.unseen == ("",)
    assert read_all(opened) == {"handbook/a.md": "a"}


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AddressError, match="does not exist"):
        open_all(tmp_path, str(tmp_path / "none"))


def test_files_known_to_be_unchanged_are_not_read(tmp_path: Path) -> None:
    folder = FolderSource(tmp_path)
    folder.write("a.md", "a")
    folder.write("b.md", "b")
    opened = open_all(tmp_path, folder.address)
    loaded = opened.load(opened.find(None, build_selection()), None, "path", {"handbook/a.md"})
    assert [one.source_path for one in loaded.documents] == ["handbook/b.md"]
