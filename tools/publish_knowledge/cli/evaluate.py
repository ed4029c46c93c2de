"""`knowledge eval`: how good the search is on a base of one's own, and which alpha suits it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from knowledge.requests import DEFAULT_ALPHA, DEFAULT_MODE, MODES, Mode
from knowledge.scopes import Scope
from publish_knowledge.cli.options import any_scopes, example, finish, optional_base, target_options
from publish_knowledge.cli.output import ExitCode, UnknownIdError
from publish_knowledge.cli.session import Target
from publish_knowledge.evaluation.qrels import Judgments, JudgmentsError, named, read_judgments

if TYPE_CHECKING:
    from publish_knowledge.evaluation.matching import Item, Judged
    from publish_knowledge.evaluation.report import Report

_SWEEP: Final = ",".join(f"{tenth / 10:g}" for tenth in range(11))
_MODE: Final = "How to rank; may be repeated.  [default: all modes]"
_ALPHA: Final = "Weight of the lexical side in hybrid, which all else is compared with."
_ALPHAS: Final = "Weights to try in hybrid, separated by commas; empty for none."


class ShareType(click.ParamType[float]):
    """A number from 0 to 1."""

    name = "share"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Refuse what is no number, and what is out of range."""
        try:
            share = float(value)
        except ValueError:
            share = math.nan
        if not 0 <= share <= 1:
            self.fail(f"{value!r} is not a number from 0 to 1.", param, ctx)
        return share


class SharesType(click.ParamType[tuple[float, ...]]):
    """Numbers from 0 to 1, separated by commas; kept in order, each once."""

    name = "shares"

    def convert(
        self, value: str | tuple[float, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        """Refuse the whole list for one bad number."""
        if isinstance(value, tuple):
            return value
        parts = [part for part in value.split(",") if part.strip()]
        return tuple(sorted({_SHARE.convert(part, param, ctx) for part in parts}))


_SHARE: Final = ShareType()


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, and where."""

    scopes: tuple[Scope, ...]
    base_id: str
    modes: tuple[Mode, ...]
    alpha: float
    sweep: tuple[float, ...]
    png: Path | None


@click.command(
    "eval",
    epilog=example(
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
@click.option("--png", type=click.Path(dir_okay=False, path_type=Path), help="Draw the sweep into this file.")
def evaluate(folder: Path, target: Target, base_id: str | None, modes: tuple[Mode, ...], **plan: Any) -> None:  # noqa: ANN401 - the fields of Plan
    """Measure how well questions find the items that answer them.

    FOLDER holds queries.jsonl, with an object of `id` and `text` on each line, and qrels.tsv, with a question's id, a
    document's id and a grade on each line (0: does not help). A document is named by its path in the base, by its
    item id, or by the id in its front matter.
    """
    _measure(folder, target, Plan(base_id=base_id or "", modes=modes or MODES, **plan))


def _measure(folder: Path, target: Target, plan: Plan) -> None:
    try:
        judgments = read_judgments(folder)
        _check_picture(plan)
        known, report = asyncio.run(_run(target, plan, judgments))
    except JudgmentsError as error:
        raise click.UsageError(str(error)) from None
    for note in _notes(judgments, known):
        target.session.output.note(note)
    _tell(target, plan, report, _left_out(judgments, known))
    drawn = _drawn(target, plan, report)
    finish(ExitCode.OK if drawn and not known.unknown else ExitCode.PROBLEMS)


def _check_picture(plan: Plan) -> None:
    from publish_knowledge.evaluation.alpha_plot import PictureError, check_drawable  # noqa: PLC0415 - see `Target`

    if plan.png is None:
        return
    if not plan.sweep:
        raise click.UsageError("--png draws the sweep: give --alpha-sweep, or leave out --png.")
    try:
        check_drawable(plan.png)
    except PictureError as error:
        raise click.UsageError(str(error)) from None


async def _run(target: Target, plan: Plan, judgments: Judgments) -> tuple[Judged, Report]:
    from publish_knowledge.evaluation.matching import judged  # noqa: PLC0415 - see `Target`
    from publish_knowledge.evaluation.report import Report  # noqa: PLC0415 - see `Target`
    from publish_knowledge.evaluation.runs import Corpus, Setting, evaluate  # noqa: PLC0415 - see `Target`

    known = judged(judgments, await _items(target, plan))
    if set(known.unknown) == set(judgments.documents()):
        raise UnknownIdError(f"None of the documents judged is published here: {named(known.unknown)}.")
    reference = Setting(DEFAULT_MODE, plan.alpha)
    rankings = tuple(Setting(mode, plan.alpha) for mode in plan.modes)
    sweep = tuple(Setting(DEFAULT_MODE, alpha) for alpha in plan.sweep)
    dataset = target.dataset()
    try:
        with target.session.output.progress() as progress:
            measured = await evaluate(
                Corpus(dataset, plan.scopes, plan.base_id),
                known.questions,
                (reference, *rankings, *sweep),
                target.provider.embed_query,
                partial(progress, "ask"),
            )
    finally:
        await dataset.close()
    return known, Report(measured, reference, rankings, sweep)


async def _items(target: Target, plan: Plan) -> list[Item]:
    """What can be found: published items of bases that are not archived."""
    from knowledge.store.schema import PUBLISHED  # noqa: PLC0415 - see `Target`
    from publish_knowledge.evaluation.matching import Item  # noqa: PLC0415 - see `Target`
    from publish_knowledge.publishing.catalog import list_items  # noqa: PLC0415 - see `Target`

    async with target.store() as store:
        return [
            Item(scope, entry.head.base_id, entry.head.item_id, entry.head.info.source_uri)
            for scope in plan.scopes
            for entry in await list_items(store, scope, plan.base_id or None)
            if entry.head.state == PUBLISHED and not entry.base_archived
        ]


def _notes(judgments: Judgments, known: Judged) -> Iterator[str]:
    if judgments.unjudged:
        ids = named(judgments.unjudged)
        yield f"{len(judgments.unjudged)} questions without a helpful document are left out: {ids}."
    if known.unknown:
        ids = named(known.unknown)
        yield f"{len(known.unknown)} documents judged are not published here, and count as not found: {ids}."


def _left_out(judgments: Judgments, known: Judged) -> dict[str, Any]:
    return {"unknown_documents": [*known.unknown], "questions_left_out": [*judgments.unjudged]}


def _tell(target: Target, plan: Plan, report: Report, left_out: dict[str, Any]) -> None:
    from publish_knowledge.evaluation.report import document, lines  # noqa: PLC0415 - see `Target`

    where = {
        "scopes": [scope.name for scope in plan.scopes],
        "knowledge_base_id": plan.base_id or None,
        "model": target.provider.model,
    }
    told = {"type": "knowledge_evaluation", **where, **document(report), **left_out}
    target.session.output.result(told, lines(report))


def _drawn(target: Target, plan: Plan, report: Report) -> bool:
    from publish_knowledge.evaluation.alpha_plot import PictureError, draw  # noqa: PLC0415 - see `Target`

    if plan.png is None:
        return True
    try:
        draw(report, plan.png)
    except PictureError as error:
        target.session.output.note(f"Error: {error}")
        return False
    return True
