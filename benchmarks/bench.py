"""Everything that a caller waits for and an operator pays for, in one table; `make bench` runs it.

Each part is a module with `measure(folder: Path) -> list[Figure]`. It runs in a process of its own, so
that none warms, fills or breaks another's; data sets are kept in the folder from run to run.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Final

from benchmarks.support.figures import Figure, machine, table

FOLDER: Final = Path(__file__).resolve().parent.parent / ".data/bench"

PARTS: Final[Mapping[str, str]] = {
    "warm": "benchmarks.speed.warm",
    "cold": "benchmarks.speed.cold",
    "s3": "benchmarks.speed.s3",
    "growth": "benchmarks.speed.growth",
    "rivals": "benchmarks.rivals.comparison",
    "lexical": "benchmarks.speed.lexical",
    "memory": "benchmarks.speed.memory",
    "publishing": "benchmarks.speed.publishing",
    "cost": "benchmarks.cost.estimate",
}
"""Modules with a `measure`, by the name of the part, in the order in which they run."""

Measure = Callable[[str, Path], list[Figure]]


@dataclass(frozen=True, slots=True)
class Run:
    """What is asked for on the command line."""

    parts: tuple[str, ...]
    folder: Path
    output: Path


def run_from(arguments: Sequence[str]) -> Run:
    """The run that the arguments ask for; raises `SystemExit` for what is none."""
    parser = argparse.ArgumentParser(prog="bench", description="Measure speed, memory and cost; print one table.")
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run, between commas (default: %(default)s)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where data sets are kept")
    parser.add_argument("--json", type=Path, help="where the figures go (default: figures.json in the folder)")
    given = parser.parse_args(arguments)
    parts = tuple(filter(None, given.only.split(",")))
    for part in parts:
        if part not in PARTS:
            parser.error(f"there is no part {part!r}; there are {', '.join(PARTS)}")
    return Run(parts, given.folder, given.json or given.folder / "figures.json")


def measured(part: str, folder: Path) -> list[Figure]:
    """The figures of one part, from a process of its own; a part that breaks is a figure that falls short."""
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            return pool.submit(_in_process, part, folder).result()
    except Exception as error:  # noqa: BLE001 - the other parts are still worth measuring
        return [Figure(part, "ran to its end", 1, 0, "", f"{type(error).__name__}: {error}", at_most=False)]


def _in_process(part: str, folder: Path) -> list[Figure]:
    measure: Callable[[Path], list[Figure]] = import_module(PARTS[part]).measure
    return measure(folder)


def run(asked: Run, measure: Measure = measured) -> list[Figure]:
    """Measure the parts one after the other, print the table and keep it as JSON."""
    asked.folder.mkdir(parents=True, exist_ok=True)
    about, figures = machine(), list[Figure]()
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    for part in asked.parts:
        started = time.monotonic()
        figures += measure(part, asked.folder)
        print(f"{part}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    print(table(figures))
    taken = datetime.now(UTC).isoformat(timespec="seconds")
    found = {"taken": taken, "machine": about, "figures": [figure.as_dict() for figure in figures]}
    asked.output.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return figures


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    run(run_from(sys.argv[1:] if arguments is None else arguments))


if __name__ == "__main__":
    main()
