"""What the steps of the build share: the one error, the files of a folder, the machine that a library is for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

ELF_MACHINES: Final = {"x86_64": 62, "arm64": 183}
"""The machine's number in an ELF header, at byte 18, by Lambda's name of the architecture."""
HEADER_BYTES: Final = 20
_ELF_LITTLE_64: Final = b"\x7fELF\x02\x01"


class BuildError(RuntimeError):
    """The layer cannot be built; the message says what to look at."""


def files_below(folder: Path) -> list[str]:
    """Paths of all files below a folder, relative to it, sorted."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def is_library(path: str) -> bool:
    """Whether a file name is that of a native library, packed or not: `x.so`, `libx.so.2`, `x.so.zst`."""
    name = path.rpartition("/")[2]
    return name.endswith(".so") or ".so." in name


def architecture_of(header: bytes) -> str:
    """Lambda's name of the machine that a library's first bytes tell; empty for anything else."""
    if len(header) < HEADER_BYTES or not header.startswith(_ELF_LITTLE_64):
        return ""
    machine = int.from_bytes(header[18:20], "little")
    return next((name for name, number in ELF_MACHINES.items() if number == machine), "")


def check_architecture(site: Path, paths: Iterable[str], architecture: str) -> None:
    """Raise `BuildError` if a library among the paths is for another machine."""
    for path in paths:
        if is_library(path):
            with (site / path).open("rb") as library:
                found = architecture_of(library.read(HEADER_BYTES))
            if found != architecture:
                raise BuildError(f"{path} is a library for {found or 'no known machine'}, not for {architecture}")
