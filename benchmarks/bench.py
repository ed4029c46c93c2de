"""Measure what a caller waits for and an operator pays for, and print one table: `make bench`.

Each part is a module with `measure(folder: Path) -> list[Figure]`. It runs in a process of its own, so that parts
share no caches and no failures; data sets are kept in the folder from run to run.
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

from benchmarks.support.figures import Figure, describe_machine, format_table

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
    """The options of the command line."""

    parts: tuple[str, ...]
    folder: Path
    output: Path


def parse_run(arguments: Sequence[str]) -> Run:
    """Parse the command line; raises `SystemExit` where it is wrong."""
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


def measure_part(part: str, folder: Path) -> list[Figure]:
    """Measure one part in a process of its own; a part that fails gives one figure, which falls short."""
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            return pool.submit(_measure_in_process, part, folder).result()
    except Exception as error:  # noqa: BLE001 - the other parts still have to be measured
        return [Figure(part, "ran to its end", 1, 0, "", f"{type(error).__name__}: {error}", at_most=False)]


def _measure_in_process(part: str, folder: Path) -> list[Figure]:
    measure: Callable[[Path], list[Figure]] = import_module(PARTS[part]).measure
    return measure(folder)


def run(options: Run, measure: Measure = measure_part) -> list[Figure]:
    """Measure the parts one after the other, print the table and write it as JSON."""
    options.folder.mkdir(parents=True, exist_ok=True)
    machine, figures = describe_machine(), list[Figure]()
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    for part in options.parts:
        started = time.monotonic()
        figures += measure(part, options.folder)
        print(f"{part}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    print(format_table(figures))
    taken = datetime.now(UTC).isoformat(timespec="seconds")
    found = {"taken": taken, "machine": machine, "figures": [figure.as_dict() for figure in figures]}
    options.output.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return figures


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and run it."""
    run(parse_run(sys.argv[1:] if arguments is None else arguments))


if __name__ == "__main__":
    main()
