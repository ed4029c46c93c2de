"""Native libraries: recognized by name, and by the architecture in their header."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_build.files import ELF_MACHINES, BuildError, check_architecture, is_library, read_architecture
from tests.support.engine import make_library, write_files


@pytest.mark.parametrize("architecture", ELF_MACHINES)
def test_a_header_gives_the_architecture(architecture: str) -> None:
    assert read_architecture(make_library(architecture)) == architecture


@pytest.mark.parametrize("header", [b"", b"\x7fELF", b"MZ" + bytes(40), b"\x7fELF\x01\x01" + bytes(40), bytes(64)])
def test_anything_else_has_no_architecture(header: bytes) -> None:
    assert not read_architecture(header)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a/x.so", True), ("a/libx.so.2600", True), ("a/x.so.zst", True), ("a/x.py", False), ("a.so/x.py", False)],
)
def test_libraries_are_known_by_name(path: str, expected: bool) -> None:  # noqa: FBT001 - a case of the table
    assert is_library(path) is expected


def test_a_library_for_another_machine_stops_the_build(tmp_path: Path) -> None:
    site = write_files(tmp_path, "a/x.so", data=make_library("x86_64"))
    check_architecture(site, ["a/x.so"], "x86_64")
    with pytest.raises(BuildError, match=r"a/x\.so is a library for x86_64, not for arm64"):
        check_architecture(site, ["a/x.so"], "arm64")
