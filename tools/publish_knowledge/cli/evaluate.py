"""`knowledge eval`: measure search quality on a base of one's own, and find the best alpha for it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from knowledge.requests import DEFAULT_ALPHA, DEFAULT_MODE, MODES, Mode
from knowledge.scopes import Scope
from publish_knowledge.cli.diagnosis import list_unknown_scopes
from publish_knowledge.cli.items import distinguish_unknown_ids
from publish_knowledge.cli.options import any_scopes, finish, format_example, optional_base, target_options
from publish_knowledge.cli.output import ExitCode, UnknownIdError
from publish_knowledge.cli.session import Target
from publish_knowledge.evaluation.alpha_plot import PlotError, check_plot, draw_plot
from publish_knowledge.evaluation.matching import MatchedQrels, PublishedItem, match_items
from publish_knowledge.evaluation.qrels import Qrels, QrelsError, list_some, read_qrels
from publish_knowledge.evaluation.report import Report, build_document, format_tables
from publish_knowledge.evaluation.runs import Corpus, Setting
from publish_knowledge.evaluation.runs import evaluate as evaluate_queries
from publish_knowledge.publishing.catalog import list_items
from publish_knowledge.publishing.known_names import require_known_base
from publish_knowledge.store.marker import require_dataset

_SWEEP: Final = ",".join(f"{tenth / 10:g}" for tenth in range(11))
_MODE: Final = "How to rank; may be repeated.  [default: all modes]"
_ALPHA: Final = "Weight of the lexical side in hybrid, the reference of all comparisons."
_ALPHAS: Final = "Weights to try in hybrid, separated by commas; empty for none."
_OTHER_MODES: Final = tuple(mode for mode in MODES if mode != DEFAULT_MODE)
_AGAINST: Final = "Show the questions that hybrid answers worse than this mode, and what each found."
_LOSSES: Final = "How many of these to show; 0 for none."
MAX_LOSSES: Final = 1_000
"""More questions than anybody reads; a file of thousands stays readable."""


class ShareType(click.ParamType[float]):
    """A number from 0 to 1."""

    name = "share"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Refuse anything else, NaN included."""
        try:
            share = float(value)
        except ValueError:
            share = math.nan
        if not 0 <= share <= 1:
            self.fail(f"{value!r} is not a number from 0 to 1.", param, ctx)
        return share


class SharesType(click.ParamType[tuple[float, ...]]):
    """Numbers from 0 to 1, separated by commas; sorted, each once."""

    name = "shares"

    def convert(
        self, value: str | tuple[float, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        """Refuse the whole list for one invalid number."""
        if isinstance(value, tuple):
            return value
        parts = [part for part in value.split(",") if part.strip()]
        return tuple(sorted({_SHARE.convert(part, param, ctx) for part in parts}))


_SHARE: Final = ShareType()


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """What is evaluated, and on which corpus."""

    scopes: tuple[Scope, ...]
    base_id: str
    modes: tuple[Mode, ...]
    alpha: float
    sweep: tuple[float, ...]
    png: Path | None
    against: Mode
    losses: int


@click.command(
    "eval",
    epilog=format_example(
        "knowledge eval questions/ --uri ./dataset --team support --base handbook --png sweep.png",
        "knowledge eval questions/ --uri ./dataset --owner ana --team support --alpha-sweep 0.3,0.5,0.7 --json",
    ),
)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@target_options
@any_scopes
@optional_base
@click.option("--mode", "modes", type=click.Choice(MODES), multiple=True, help=_MODE)
@click.option("--alpha", type=_SHARE, default=DEFAULT_ALPHA, show_default=True, help=_ALPHA)
@click.option("--alpha-sweep", "sweep", type=SharesType(), default=_SWEEP, show_default=True, help=_ALPHAS)
@click.option("--against", type=click.Choice(_OTHER_MODES), default="lexical", show_default=True, help=_AGAINST)
@click.option("--losses", type=click.IntRange(0, MAX_LOSSES), default=3, show_default=True, help=_LOSSES)
@click.option("--png", type=click.Path(dir_okay=False, path_type=Path), help="Draw the sweep into this file.")
def evaluate(folder: Path, target: Target, base_id: str | None, modes: tuple[Mode, ...], **options: Any) -> None:  # noqa: ANN401 - the fields of EvaluationOptions
    """Measure how well questions find the items that answer them.

    FOLDER holds queries.jsonl, with an object of `id` and `text` on each line, and qrels.tsv, with a question's id, a
    document's id and a grade on each line (0: does not help). A document is named by its path in the base, by its
    item id, or by the id in its front matter.
    """
    _evaluate(folder, target, EvaluationOptions(base_id=base_id or "", modes=modes or MODES, **options))


def _evaluate(folder: Path, target: Target, options: EvaluationOptions) -> None:
    try:
        qrels = read_qrels(folder)
        _check_plot(options)
        matched, report = asyncio.run(_run(target, options, qrels))
    except QrelsError as error:
        raise click.UsageError(str(error)) from None
    for note in _list_omissions(qrels, matched):
        target.session.output.note(note)
    _print_report(
        target, options, report, {"unknown_documents": [*matched.unknown], "questions_left_out": [*qrels.unjudged]}
    )
    drawn = _draw_plot(target, options, report)
    finish(ExitCode.OK if drawn and not matched.unknown else ExitCode.PROBLEMS)


def _check_plot(options: EvaluationOptions) -> None:
    if options.png is None:
        return
    if not options.sweep:
        raise click.UsageError("--png draws the sweep: give --alpha-sweep, or leave out --png.")
    try:
        check_plot(options.png)
    except PlotError as error:
        raise click.UsageError(str(error)) from None


async def _run(target: Target, options: EvaluationOptions, qrels: Qrels) -> tuple[MatchedQrels, Report]:
    matched = match_items(qrels, await _list_published(target, options))
    if set(matched.unknown) == set(qrels.documents()):
        raise UnknownIdError(f"None of the documents judged is published here: {list_some(matched.unknown)}.")
    reference = Setting(DEFAULT_MODE, options.alpha)
    rankings = tuple(Setting(mode, options.alpha) for mode in options.modes)
    sweep = tuple(Setting(DEFAULT_MODE, alpha) for alpha in options.sweep)
    against = Setting(options.against, options.alpha)
    dataset = target.create_dataset()
    try:
        with target.session.output.progress() as progress:
            evaluation = await evaluate_queries(
                Corpus(dataset, options.scopes, options.base_id),
                matched.queries,
                (reference, *rankings, *sweep, against),
                target.provider.embed_query,
                partial(progress, "ask"),
            )
    finally:
        await dataset.close()
    return matched, Report(evaluation, reference, rankings, sweep, against, options.losses)


async def _list_published(target: Target, options: EvaluationOptions) -> list[PublishedItem]:
    """The items that a search can return. Raises `UnknownIdError` where no scope, or none with that base, is known."""
    async with target.create_store() as store:
        await require_dataset(store)
        for sentence in await list_unknown_scopes(store, options.scopes):
            target.session.output.note(sentence)
        if options.base_id:
            with distinguish_unknown_ids():
                await require_known_base(store, options.scopes, options.base_id)
        return [
            PublishedItem(scope, entry.head.base_id, entry.head.item_id, entry.head.info.source_uri)
            for scope in options.scopes
            for entry in await list_items(store, scope, options.base_id or None)
            if entry.is_readable
        ]


def _list_omissions(qrels: Qrels, matched: MatchedQrels) -> Iterator[str]:
    if qrels.unjudged:
        ids = list_some(qrels.unjudged)
        yield f"{len(qrels.unjudged)} questions without a helpful document are left out: {ids}."
    if matched.unknown:
        ids = list_some(matched.unknown)
        yield f"{len(matched.unknown)} documents judged are not published here, and count as not found: {ids}."


def _print_report(target: Target, options: EvaluationOptions, report: Report, omissions: dict[str, Any]) -> None:
    corpus = {
        "scopes": [scope.name for scope in options.scopes],
        "knowledge_base_id": options.base_id or None,
        "model": target.provider.model,
    }
    document = {"type": "knowledge_evaluation", **corpus, **build_document(report), **omissions}
    target.session.output.result(document, format_tables(report))


def _draw_plot(target: Target, options: EvaluationOptions, report: Report) -> bool:
    """Whether there is nothing to draw or it was drawn; a failure is reported and does not cost the figures."""
    if options.png is None:
        return True
    try:
        draw_plot(report, options.png)
    except PlotError as error:
        target.session.output.note(f"Error: {error}")
        return False
    return True
