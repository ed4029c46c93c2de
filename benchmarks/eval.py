"""Measure search quality on test collections, beside recorded figures: `make eval EVAL_DIR=…`.

EVAL_DIR holds one folder for each collection: docs.jsonl (id, title, text, lang), queries.jsonl (id, text, lang) and
qrels.tsv (question id, document id, grade). PAGES_DIR holds whole pages of Markdown, and is looked for beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.quality.checks import DEFAULT, CollectionRow, Verdict, check_collections, compute_means
from benchmarks.quality.collections_dataset import CollectionsDataset, collections_dataset, log
from benchmarks.quality.mixed_languages import COLLECTIONS as MIXED_COLLECTIONS
from benchmarks.quality.mixed_languages import measure_mixed_languages
from benchmarks.quality.pages import measure_pages
from benchmarks.quality.test_collections import DOCUMENTS, make_empty_baseline, read_baselines, read_collection
from knowledge.embedding.providers import LOCAL, LOCAL_SMALL
from knowledge.requests import DEFAULT_ALPHA
from knowledge.scopes import Scope
from publish_knowledge.evaluation.qrels import QrelsError
from publish_knowledge.evaluation.report import format_estimate
from publish_knowledge.evaluation.runs import Evaluation, Setting

KEPT: Final = Path(__file__).resolve().parent.parent / ".data" / "eval"
"""Vectors of earlier runs; git ignores it."""

PARTS: Final = {
    "collections": "Each collection in a base of its own (in brackets, and before: as recorded)",
    "together": "Five languages in one base, nDCG@10",
    "pages": "Whole pages as items",
}
SIDES: Final = (Setting("lexical"), Setting("semantic"), Setting("rrf"))
ALPHAS: Final = (0.25, 0.5, 0.75)
"""Those of the recorded figures. More of them cost about a tenth of a run each."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the requested parts; return 0 when all targets hold, 1 when one falls short, 2 without collections."""
    options = _build_parser().parse_args(arguments)
    if options.eval_dir is None or not options.eval_dir.is_dir():
        log(_explain_missing(options.eval_dir))
        return 2
    try:
        with collections_dataset(options.kept, options.embedding) as bench:
            found = asyncio.run(_run(bench, options))
    except (OSError, QrelsError) as error:
        log(f"{error}")
        return 2
    return 0 if all(verdict.holds for verdict in found) else 1


async def _run(bench: CollectionsDataset, options: argparse.Namespace) -> list[Verdict]:
    found: list[Verdict] = []
    for part in options.only or PARTS:
        print(f"\n# {PARTS[part]}")
        verdicts = await _measure_part(bench, part, options)
        for verdict in verdicts:
            print(verdict.line, flush=True)
        found += verdicts
    return found


async def _measure_part(bench: CollectionsDataset, part: str, options: argparse.Namespace) -> list[Verdict]:
    if part == "collections":
        return await _measure_collections(bench, options)
    if part == "together":
        return await _measure_mixed(bench, options.eval_dir)
    pages = options.pages_dir or options.eval_dir.parent / "corpora" / "fastapi"
    if pages.is_dir():
        return await measure_pages(bench, pages)
    print(f"Left out: there is no folder {pages}. Name one with pages of Markdown: make eval PAGES_DIR=…")
    return []


async def _measure_mixed(bench: CollectionsDataset, folder: Path) -> list[Verdict]:
    missing = [name for name in MIXED_COLLECTIONS if not (folder / name).is_dir()]
    if missing:
        print(f"Left out: {folder} has no {', '.join(missing)}.")
        return []
    return await measure_mixed_languages(bench, folder)


async def _measure_collections(bench: CollectionsDataset, options: argparse.Namespace) -> list[Verdict]:
    names = options.collections or _list_collections(options.eval_dir)
    sweep = [Setting("hybrid", alpha) for alpha in sorted({*options.alphas, DEFAULT_ALPHA})]
    rows: list[CollectionRow] = []
    print(_format_heading())
    for name in names:
        evaluation = await _measure_collection(bench, options.eval_dir / name, [*sweep, *SIDES])
        now = {setting.name: evaluation.estimate(setting).mean for setting in evaluation.by_setting}
        row = CollectionRow(read_baselines().get(name) or make_empty_baseline(name), now)
        rows.append(row)
        print(_format_row(row, evaluation), flush=True)
    recorded = [row for row in rows if row.name in read_baselines()]
    if not recorded:
        return []
    print(_format_means(recorded))
    print(_format_sweep(recorded, sweep))
    return check_collections(recorded)


def _list_collections(folder: Path) -> list[str]:
    """List the collections of a folder: those with recorded figures first, in the order of their table."""
    found = sorted(path.parent.name for path in folder.glob(f"*/{DOCUMENTS}"))
    order = list(read_baselines())
    return sorted(found, key=lambda name: order.index(name) if name in order else len(order))


async def _measure_collection(bench: CollectionsDataset, folder: Path, settings: Sequence[Setting]) -> Evaluation:
    collection = read_collection(folder)
    scope = Scope("team", collection.name)
    await bench.publish(scope, collection.name, collection.documents)
    return await bench.evaluate(scope, collection.name, collection.judge_queries(scope, collection.name), settings)


def _format_heading() -> str:
    columns = (f"{name:^15}" for name in ("lexical", "semantic", "rrf"))
    return f"{'collection':<13} {'hybrid 0.5':^13} before   gain  {' '.join(columns)}"


def _format_row(row: CollectionRow, evaluation: Evaluation) -> str:
    default = evaluation.estimate(Setting("hybrid"))
    before = row.baseline.figures
    pairs = " ".join(f" {row.now[name]:.3f} ({before[name]:.3f})" for name in ("lexical", "semantic", "rrf"))
    return f"{row.name:<13} {format_estimate(default)}  {before[DEFAULT]:.3f} {row.gain:+.3f}  {pairs}"


def _format_means(rows: Sequence[CollectionRow]) -> str:
    now, before = compute_means(rows)
    mean = {name: sum(row.now[name] for row in rows) / len(rows) for name in ("lexical", "semantic", "rrf")}
    then = {name: sum(row.baseline.figures[name] for row in rows) / len(rows) for name in mean}
    pairs = " ".join(f" {mean[name]:.3f} ({then[name]:.3f})" for name in mean)
    return f"{'mean':<13} {now:.4f}         {before:.4f} {now - before:+.4f}{pairs}"


def _format_sweep(rows: Sequence[CollectionRow], sweep: Sequence[Setting]) -> str:
    cells = (f"{one.alpha:g}: {sum(row.now[one.name] for row in rows) / len(rows):.4f}" for one in sweep)
    return "mean by alpha  " + "  ".join(cells)


def _explain_missing(folder: Path | None) -> str:
    reason = "No folder of test collections was given." if folder is None else f"{folder} is not a folder."
    return f"{reason} Say where it is: make eval EVAL_DIR=…\n{__doc__}"


def _parse_numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(","))


def _parse_names(text: str) -> list[str]:
    return text.split(",")


def _parse_folder(text: str) -> Path | None:
    return Path(text) if text else None


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make eval", description=__doc__)
    parser.add_argument("--eval-dir", type=_parse_folder, help="the folder that holds the collections")
    parser.add_argument("--pages-dir", type=_parse_folder, help="a folder of Markdown pages")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="a part to run; may be repeated")
    parser.add_argument("--collections", type=_parse_names, help="names, separated by commas  [default: all]")
    parser.add_argument("--alphas", type=_parse_numbers, default=ALPHAS, help="alphas to sweep, separated by commas")
    parser.add_argument("--embedding", choices=[LOCAL, LOCAL_SMALL], default=LOCAL)
    parser.add_argument("--kept", type=Path, default=KEPT, help="where vectors are kept between runs")
    return parser


if __name__ == "__main__":
    sys.exit(main())
