"""Repositories are fetched at a revision, and nothing of them runs or reaches outside."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from publish_knowledge.sources.file_errors import UnusableFileError
from publish_knowledge.sources.files import find_files
from publish_knowledge.sources.remote.addresses import GitAddress, parse_address
from publish_knowledge.sources.remote.repositories import fetch_repository
from tests.support.sources import commit_all, make_repository


def fetch(text: str, into: Path, **environ: str) -> Path:
    address = parse_address(text)
    assert isinstance(address, GitAddress)
    into.mkdir(exist_ok=True)
    return fetch_repository(address, into, {**os.environ, **environ})


def test_a_repository_is_fetched_at_its_head_or_at_a_revision(tmp_path: Path) -> None:
    made = make_repository(tmp_path / "docs", {"a.md": "old"})
    (made / "a.md").write_text("new")
    commit_all(made)
    assert (fetch(f"git+file://{made}", tmp_path / "1") / "a.md").read_text() == "new"
    found = fetch(f"git+file://{made}@v1", tmp_path / "2")
    assert (found / "a.md").read_text() == "old"
    assert found.name == "docs"
    assert [entry.name for entry in found.iterdir()] == ["a.md"]


def test_a_folder_of_a_repository_is_named_by_a_fragment(tmp_path: Path) -> None:
    made = make_repository(tmp_path / "made", {"docs/en/a.md": "a", "b.md": "b"}, {"link": "docs"})
    assert fetch(f"git+file://{made}#subdirectory=docs/en", tmp_path / "1").name == "en"
    for number, folder in enumerate(("none", "b.md", "link", "link/en")):
        with pytest.raises(UnusableFileError, match="has no folder"):
            fetch(f"git+file://{made}#subdirectory={folder}", tmp_path / f"x{number}")


def test_hooks_filters_and_submodules_do_not_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    made = make_repository(tmp_path / "made", {"a.md": "a", ".gitattributes": "*.md filter=lfs\n"})
    template = tmp_path / "template"
    (template / "hooks").mkdir(parents=True)
    hook = template / "hooks/post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    config = tmp_path / "config"
    config.write_text(
        f"[init]\n templateDir = {template}\n[core]\n hooksPath = {template}/hooks\n"
        f'[filter "lfs"]\n smudge = touch {ran}\n required = true\n'
    )
    found = fetch(f"git+file://{made}", tmp_path / "1", GIT_CONFIG_GLOBAL=str(config), GIT_DIR=str(tmp_path))
    assert (found / "a.md").read_text() == "a"
    assert not ran.exists()


def test_a_link_out_of_the_repository_is_an_error_of_that_file(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    made = make_repository(tmp_path / "made", {"a.md": "a"}, {"b.md": "../../secret.md", "c.md": "/etc/passwd"})
    found = find_files([fetch(f"git+file://{made}", tmp_path / "1")])
    assert [source.path for source in found.files] == ["made/a.md"]
    assert sorted(error.path for error in found.errors) == ["made/b.md", "made/c.md"]


@pytest.mark.parametrize("end", ["none", "made@none"])
def test_what_cannot_be_fetched_is_refused_with_the_reason_of_git(tmp_path: Path, end: str) -> None:
    make_repository(tmp_path / "made", {"a.md": "a"})
    with pytest.raises(UnusableFileError, match=r"cannot be read at .*: fatal: .*Check address"):
        fetch(f"git+file://{tmp_path}/{end}", tmp_path / "1")


def test_a_missing_git_and_one_that_does_not_end_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for failure, message in (
        (FileNotFoundError(), "git is not installed"),
        (subprocess.TimeoutExpired("git", 1), "did not end"),
    ):

        def fail(*_arguments: object, failure: Exception = failure, **_options: object) -> None:
            raise failure

        monkeypatch.setattr(subprocess, "run", fail)
        with pytest.raises(UnusableFileError, match=message):
            fetch(f"git+file://{tmp_path}/made", tmp_path / "1")
