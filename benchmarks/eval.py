"""Measure search quality on test collections, beside recorded figures: `make eval EVAL_DIR=…`.

EVAL_DIR holds one folder for each collection: docs.jsonl (id, title, text, lang), queries.jsonl (id, text, lang) and
qrels.tsv (question id, document id, grade).
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.checks import DEFAULT, Row, means, verdicts
from benchmarks.collections import baselines, read_collection
from benchmarks.workshop import Workshop, say, workshop
from knowledge.embedding import LOCAL, LOCAL_SMALL
from knowledge.requests import DEFAULT_ALPHA
from knowledge.scopes import Scope
from publish_knowledge.evaluation import Measured, Setting
from publish_knowledge.evaluation_report import shown

KEPT: Final = Path(__file__).resolve().parent.parent / ".data" / "eval"
"""Vectors of earlier runs; git ignores it."""

SIDES: Final = (Setting("lexical"), Setting("semantic"), Setting("rrf"))
ALPHAS: Final = (0.25, 0.5, 0.75)
"""Those of the recorded figures. More of them cost about a tenth of a run each."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts asked for; 0 when all promises hold, 1 when one falls short, 2 when there is nothing to measure."""
    options = _parser().parse_args(arguments)
    folder = options.eval_dir
    if folder is None or not Path(folder).is_dir():
        say(_missing(folder))
        return 2
    names = options.collections.split(",") if options.collections else list(baselines())
    with workshop(options.kept, options.embedding) as bench:
        return asyncio.run(_collections(bench, Path(folder), names, options.alphas))


async def _collections(bench: Workshop, folder: Path, names: Sequence[str], alphas: Sequence[float]) -> int:
    sweep = [Setting("hybrid", alpha) for alpha in sorted({*alphas, DEFAULT_ALPHA})]
    rows: list[Row] = []
    print(_heading())
    for name in names:
        measured = await _measured(bench, folder / name, [*sweep, *SIDES])
        now = {setting.name: measured.estimate(setting).mean for setting in measured.by_setting}
        row = Row(baselines()[name], now)
        rows.append(row)
        print(_line(row, measured), flush=True)
    print(_mean_line(rows))
    print(_sweep(rows, sweep))
    found = verdicts(rows)
    for verdict in found:
        print(verdict.line)
    return 0 if all(verdict.holds for verdict in found) else 1


async def _measured(bench: Workshop, folder: Path, settings: Sequence[Setting]) -> Measured:
    collection = read_collection(folder)
    scope = Scope("team", collection.name)
    await bench.publish(scope, collection.name, collection.documents)
    return await bench.evaluate(scope, collection.name, collection.questions(scope, collection.name), settings)


def _heading() -> str:
    columns = (f"{name:^15}" for name in ("lexical", "semantic", "rrf"))
    return f"{'collection':<13} {'hybrid 0.5':^13} before   gain  {' '.join(columns)}"


def _line(row: Row, measured: Measured) -> str:
    default = measured.estimate(Setting("hybrid"))
    before = row.baseline.figures
    pairs = " ".join(f" {row.now[name]:.3f} ({before[name]:.3f})" for name in ("lexical", "semantic", "rrf"))
    return f"{row.name:<13} {shown(default)}  {before[DEFAULT]:.3f} {row.gain:+.3f}  {pairs}"


def _mean_line(rows: Sequence[Row]) -> str:
    now, before = means(rows)
    mean = {name: sum(row.now[name] for row in rows) / len(rows) for name in ("lexical", "semantic", "rrf")}
    then = {name: sum(row.baseline.figures[name] for row in rows) / len(rows) for name in mean}
    pairs = " ".join(f" {mean[name]:.3f} ({then[name]:.3f})" for name in mean)
    return f"{'mean':<13} {now:.4f}         {before:.4f} {now - before:+.4f}{pairs}"


def _sweep(rows: Sequence[Row], sweep: Sequence[Setting]) -> str:
    cells = (f"{one.alpha:g}: {sum(row.now[one.name] for row in rows) / len(rows):.4f}" for one in sweep)
    return "mean by alpha  " + "  ".join(cells)


def _missing(folder: str | None) -> str:
    said = "No folder of test collections was given." if folder is None else f"{folder} is not a folder."
    return f"{said} Say where they are with `make eval EVAL_DIR=…`; {__doc__ or ''}"


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(","))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make eval", description=__doc__)
    parser.add_argument("--eval-dir", help="the folder that holds the collections")
    parser.add_argument("--collections", help="names, separated by commas  [default: all]")
    parser.add_argument("--alphas", type=_numbers, default=ALPHAS, help="alphas to sweep, separated by commas")
    parser.add_argument("--embedding", choices=[LOCAL, LOCAL_SMALL], default=LOCAL)
    parser.add_argument("--kept", type=Path, default=KEPT, help="where vectors are kept between runs")
    return parser


if __name__ == "__main__":
    sys.exit(main())
