"""Shared by the steps of the build: its error, the files of a folder, the architecture of a native library."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

ELF_MACHINES: Final = {"x86_64": 62, "arm64": 183}
"""`e_machine` of an ELF header, at byte 18, by Lambda's name of the architecture."""
HEADER_BYTES: Final = 20
_ELF_LITTLE_64: Final = b"\x7fELF\x02\x01"


class BuildError(RuntimeError):
    """The layer cannot be built; the message says what to check."""


def list_files(folder: Path) -> list[str]:
    """Return the paths of all files below a folder, relative to it, sorted."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def is_library(path: str) -> bool:
    """Whether a file name is that of a native library, packed or not: `x.so`, `libx.so.2`, `x.so.zst`."""
    name = path.rpartition("/")[2]
    return name.endswith(".so") or ".so." in name


def read_architecture(header: bytes) -> str:
    """Return Lambda's name of the architecture in an ELF header; empty for anything else."""
    if len(header) < HEADER_BYTES or not header.startswith(_ELF_LITTLE_64):
        return ""
    machine = int.from_bytes(header[18:20], "little")
    return next((name for name, number in ELF_MACHINES.items() if number == machine), "")


def check_architecture(site: Path, paths: Iterable[str], architecture: str) -> None:
    """Raise `BuildError` if a native library among the paths is for another architecture."""
    for path in paths:
        if is_library(path):
            with (site / path).open("rb") as library:
                found = read_architecture(library.read(HEADER_BYTES))
            if found != architecture:
                raise BuildError(f"{path} is a library for {found or 'no known machine'}, not for {architecture}")
