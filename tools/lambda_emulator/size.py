"""Show what is in each package, and fail where it would not fit Lambda: `python -m lambda_emulator.size BUILD…`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine_build.files import files_below
from lambda_emulator.artifact import ArtifactError, Function, functions
from lambda_emulator.contents import faults, report, unpacked_bytes

LIMIT_BYTES: Final = 250_000_000
"""Ours for a function and its layers, unpacked. Lambda's own is 262,144,000: a library's next version may grow."""
TEMPORARY_BYTES: Final = 450_000_000
"""Ours for what is unpacked into /tmp, which has 512 MB unless more is asked (and with SnapStart no more)."""
SMALL_BYTES: Final = 1_000_000
"""Distributions below this, in every build, share one line of the table."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One build: its architecture, bytes by distribution before and after, and its functions."""

    architecture: str
    downloaded: dict[str, int]
    shipped: dict[str, int]
    functions: tuple[Function, ...]

    def line(self, names: Sequence[str]) -> tuple[int, int]:
        """Bytes of these distributions, as downloaded and as shipped."""
        return sum(self.downloaded.get(name, 0) for name in names), sum(self.shipped.get(name, 0) for name in names)


def measure(build: Path) -> Measured:
    """Read what a build weighs; raises `ArtifactError`."""
    found = functions(build)
    noted: dict[str, Any] = report(build)
    return Measured(noted["architecture"], noted["downloaded"], noted["shipped"], found)


def weight(function: Function) -> int:
    """Unpacked bytes of a function and its layers: what Lambda's limit is on."""
    return sum(map(folder_bytes, (function.folder, *function.layers)))


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum((folder / path).stat().st_size for path in files_below(folder))


def table(builds: Sequence[Measured]) -> Iterator[str]:
    """The lines of the table: the engine's distributions, then each function with its layers."""
    yield _row("bytes", *(text for one in builds for text in (f"{one.architecture} wheels", "in the layer")))
    for label, names in _groups(builds):
        yield _row(label, *(f"{number:,}" for one in builds for number in one.line(names)))
    yield ""
    for at, function in enumerate(builds[0].functions):
        yield from _function_rows([one.functions[at] for one in builds], function.name)


def problems(one: Measured) -> list[str]:
    """Why this build must not be deployed, one line each."""
    found = []
    for function in one.functions:
        found += faults(function, one.architecture)
        if weight(function) > LIMIT_BYTES:
            found.append(f"{function.name} weighs {weight(function):,} bytes, over the limit of {LIMIT_BYTES:,}")
        if _temporary(function) > TEMPORARY_BYTES:
            found.append(f"{function.name} unpacks {_temporary(function):,} bytes, over {TEMPORARY_BYTES:,}")
    return [f"{one.architecture}: {problem}" for problem in found]


def main(arguments: Sequence[str]) -> int:
    """Print the table of the builds named; 1 if one has a problem."""
    try:
        builds = [measure(Path(argument)) for argument in arguments]
        found = [problem for one in builds for problem in problems(one)]
    except (ArtifactError, OSError) as error:
        print(f"size: {error}", file=sys.stderr)
        return 1
    print("\n".join(table(builds)))
    for problem in found:
        print(f"size: {problem}", file=sys.stderr)
    return 1 if found else 0


def _groups(builds: Sequence[Measured]) -> Iterator[tuple[str, list[str]]]:
    names = sorted({name for one in builds for name in (*one.downloaded, *one.shipped)})
    large = [name for name in names if any(max(one.line([name])) >= SMALL_BYTES for one in builds)]
    for name in sorted(large, key=lambda name: -builds[0].line([name])[0]):
        yield name, [name]
    rest = [name for name in names if name not in large]
    yield f"{len(rest)} smaller ones", rest
    yield "all", names


def _function_rows(same: Sequence[Function], name: str) -> Iterator[str]:
    for at, folder in enumerate((same[0].folder, *same[0].layers)):
        folders = [(one.folder, *one.layers)[at] for one in same]
        yield _row(folder.name, *(text for one in folders for text in ("", f"{folder_bytes(one):,}")))
    yield _row(f"{name} in all", *(text for one in same for text in ("", f"{weight(one):,}")))
    yield _row(f"  left of {LIMIT_BYTES:,}", *(text for one in same for text in ("", f"{LIMIT_BYTES - weight(one):,}")))
    yield _row("  unpacked into /tmp", *(text for one in same for text in ("", f"{_temporary(one):,}")))
    yield ""


def _temporary(function: Function) -> int:
    return sum(map(unpacked_bytes, function.layers))


def _row(label: str, *cells: str) -> str:
    return f"{label:34}" + "".join(f"{cell:>16}" for cell in cells)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
