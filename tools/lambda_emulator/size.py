"""Print the sizes of built packages; fail where one does not fit Lambda: `python -m lambda_emulator.size BUILD…`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine_build.files import list_files
from lambda_emulator.artifact import ArtifactError, Function, read_functions
from lambda_emulator.contents import count_unpacked_bytes, find_faults, read_build_report

LIMIT_BYTES: Final = 250_000_000
"""Our limit for a function and its layers, unpacked; below Lambda's 262,144,000, because libraries grow."""
TEMPORARY_BYTES: Final = 450_000_000
"""Our limit for what is unpacked into /tmp, which has 512 MB by default, and at most so much with SnapStart."""
SMALL_BYTES: Final = 1_000_000
"""Distributions below this, in every build, share one line of the table."""


@dataclass(frozen=True, slots=True)
class BuildSizes:
    """One build: its architecture, bytes by distribution before and after packing, and its functions."""

    architecture: str
    downloaded: dict[str, int]
    shipped: dict[str, int]
    functions: tuple[Function, ...]

    def sum_bytes(self, names: Sequence[str]) -> tuple[int, int]:
        """Return the bytes of these distributions, as downloaded and as shipped."""
        return sum(self.downloaded.get(name, 0) for name in names), sum(self.shipped.get(name, 0) for name in names)


def read_build(build: Path) -> BuildSizes:
    """Read the sizes of a build; raises `ArtifactError`."""
    found, report = read_functions(build), read_build_report(build)
    return BuildSizes(report["architecture"], report["downloaded"], report["shipped"], found)


def weigh_function(function: Function) -> int:
    """Return the unpacked bytes of a function and its layers, which Lambda limits."""
    return sum(map(weigh_folder, (function.folder, *function.layers)))


def weigh_folder(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum((folder / path).stat().st_size for path in list_files(folder))


def format_table(builds: Sequence[BuildSizes]) -> Iterator[str]:
    """Yield the lines of the table: the engine's distributions, then each function with its layers."""
    yield _format_row("bytes", *(text for one in builds for text in (f"{one.architecture} wheels", "in the layer")))
    for label, names in _group_distributions(builds):
        yield _format_row(label, *(f"{number:,}" for one in builds for number in one.sum_bytes(names)))
    yield ""
    for at, function in enumerate(builds[0].functions):
        yield from _format_functions([one.functions[at] for one in builds], function.name)


def find_problems(one: BuildSizes) -> list[str]:
    """Return why this build must not be deployed, one line each."""
    found = []
    for function in one.functions:
        found += find_faults(function, one.architecture)
        if weigh_function(function) > LIMIT_BYTES:
            found.append(
                f"{function.name} weighs {weigh_function(function):,} bytes, over the limit of {LIMIT_BYTES:,}"
            )
        if _weigh_unpacked(function) > TEMPORARY_BYTES:
            found.append(f"{function.name} unpacks {_weigh_unpacked(function):,} bytes, over {TEMPORARY_BYTES:,}")
    return [f"{one.architecture}: {problem}" for problem in found]


def main(arguments: Sequence[str]) -> int:
    """Print the table of the builds named; return 1 if one has a problem."""
    try:
        builds = [read_build(Path(argument)) for argument in arguments]
        found = [problem for one in builds for problem in find_problems(one)]
    except (ArtifactError, OSError) as error:
        print(f"size: {error}", file=sys.stderr)
        return 1
    print("\n".join(format_table(builds)))
    for problem in found:
        print(f"size: {problem}", file=sys.stderr)
    return 1 if found else 0


def _group_distributions(builds: Sequence[BuildSizes]) -> Iterator[tuple[str, list[str]]]:
    names = sorted({name for one in builds for name in (*one.downloaded, *one.shipped)})
    large = [name for name in names if any(max(one.sum_bytes([name])) >= SMALL_BYTES for one in builds)]
    for name in sorted(large, key=lambda name: -builds[0].sum_bytes([name])[0]):
        yield name, [name]
    rest = [name for name in names if name not in large]
    yield f"{len(rest)} smaller ones", rest
    yield "all", names


def _format_functions(same: Sequence[Function], name: str) -> Iterator[str]:
    for at, folder in enumerate((same[0].folder, *same[0].layers)):
        folders = [(one.folder, *one.layers)[at] for one in same]
        yield _format_row(folder.name, *(text for one in folders for text in ("", f"{weigh_folder(one):,}")))
    yield _format_row(f"{name} in all", *(text for one in same for text in ("", f"{weigh_function(one):,}")))
    yield _format_row(
        f"  left of {LIMIT_BYTES:,}", *(text for one in same for text in ("", f"{LIMIT_BYTES - weigh_function(one):,}"))
    )
    yield _format_row("  unpacked into /tmp", *(text for one in same for text in ("", f"{_weigh_unpacked(one):,}")))
    yield ""


def _weigh_unpacked(function: Function) -> int:
    return sum(map(count_unpacked_bytes, function.layers))


def _format_row(label: str, *cells: str) -> str:
    return f"{label:34}" + "".join(f"{cell:>16}" for cell in cells)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
