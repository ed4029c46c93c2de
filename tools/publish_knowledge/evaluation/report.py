"""The report of an evaluation, as tables and as JSON, and the advice that its figures support."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from knowledge.requests import DEFAULT_MODE
from publish_knowledge.evaluation.losses import Loss, build_losses, find_losses, format_losses
from publish_knowledge.evaluation.metrics import DEPTH, Estimate, Improvement, find_improvement
from publish_knowledge.evaluation.runs import Evaluation, Setting

METRICS: Final = {"ndcg": f"nDCG@{DEPTH}", "recall": f"recall@{DEPTH}", "mrr": f"MRR@{DEPTH}"}

_NAME: Final = 12
_CELL: Final = 16
_NOTE: Final = (
    "± is half of a 95 % interval. Differences are taken question by question, so they are surer than the means."
)


@dataclass(frozen=True, slots=True)
class Report:
    """Figures of one evaluation. `reference` is the setting that all others are compared with."""

    evaluation: Evaluation
    reference: Setting
    rankings: tuple[Setting, ...]
    sweep: tuple[Setting, ...]
    against: Setting | None = None
    """The setting whose better answers are shown, if any."""
    most_losses: int = 0

    @property
    def questions(self) -> int:
        """The number of queries."""
        return len(self.evaluation.by_setting[self.reference])

    def find_improvement(self) -> Improvement | None:
        """The best alpha of the sweep, if it is better than the reference."""
        others = {one.alpha: self.evaluation.values(one) for one in self.sweep if one != self.reference}
        return find_improvement(self.evaluation.values(self.reference), others)

    def find_losses(self) -> list[Loss]:
        """The questions that the reference answers worst compared with `against`."""
        return find_losses(self.evaluation, self.reference, self.against, self.most_losses) if self.against else []


def format_tables(report: Report) -> Iterator[str]:
    """Lines of text for a person."""
    heads = [*METRICS.values(), f"{METRICS['ndcg']} against {report.reference.name}"]
    yield _format_row(f"{report.questions} questions", heads)
    yield from (_format_ranking(report, setting) for setting in report.rankings)
    if report.sweep:
        yield ""
        yield _format_row("alpha", [heads[0], f"against {report.reference.name}"])
        yield from (_format_sweep(report, setting) for setting in report.sweep)
        yield ""
        yield advise(report)
    if report.against and (losses := report.find_losses()):
        yield ""
        yield from format_losses(losses, report.reference, report.against)
        yield ""
    yield _NOTE


def build_document(report: Report) -> dict[str, Any]:
    """The same as JSON; half-widths are null for a single query."""
    best = report.find_improvement() if report.sweep else None
    advised = best.alpha if best and best.significant else None
    return {
        "questions": report.questions,
        "reference": _name_setting(report.reference),
        "rankings": [_build_figures(report, setting) for setting in report.rankings],
        "alpha_sweep": [_build_figures(report, setting) for setting in report.sweep],
        "losses": {
            "against": _name_setting(report.against) if report.against else None,
            "questions": build_losses(report.find_losses()),
        },
        "advice": {
            "alpha": advised,
            "probability": best.probability if best else None,
            "text": advise(report) if report.sweep else "",
        },
    }


def advise(report: Report) -> str:
    """A sentence on alpha; a change is advised only where it is significant."""
    best, kept = report.find_improvement(), f"{report.reference.alpha:g}"
    if best is None:
        return f"No other alpha does better than {kept} on these questions: keep {kept}."
    figures = f"{format_estimate(best.gain, signed=True)}, p = {best.probability:.3f}"
    if best.significant:
        return f"Alpha {best.alpha:g} does better than {kept} beyond chance ({figures})."
    return f"Alpha {best.alpha:g} looks best, but chance explains it ({figures}): keep {kept}, or ask more questions."


def format_estimate(estimate: Estimate, *, signed: bool = False) -> str:
    """A mean with its half-width."""
    mean = f"{estimate.mean:+.3f}" if signed else f"{estimate.mean:.3f}"
    return mean if estimate.half_width is None else f"{mean} ± {estimate.half_width:.3f}"


def _format_ranking(report: Report, setting: Setting) -> str:
    return _format_row(
        setting.name,
        [
            *(format_estimate(report.evaluation.estimate(setting, one)) for one in METRICS),
            _format_difference(report, setting),
        ],
    )


def _format_sweep(report: Report, setting: Setting) -> str:
    return _format_row(
        f"{setting.alpha:g}",
        [format_estimate(report.evaluation.estimate(setting)), _format_difference(report, setting)],
    )


def _format_difference(report: Report, setting: Setting) -> str:
    if setting == report.reference:
        return ""
    return format_estimate(report.evaluation.compare(setting, report.reference), signed=True)


def _format_row(name: str, cells: list[str]) -> str:
    return (f"{name:<{_NAME}}  " + "".join(f"{cell:<{_CELL}}" for cell in cells)).rstrip()


def _build_figures(report: Report, setting: Setting) -> dict[str, Any]:
    figures = {name: asdict(report.evaluation.estimate(setting, one)) for one, name in METRICS.items()}
    difference = asdict(report.evaluation.compare(setting, report.reference))
    return {**_name_setting(setting), **figures, "difference": difference}


def _name_setting(setting: Setting) -> dict[str, Any]:
    return {"mode": setting.mode, "alpha": setting.alpha if setting.mode == DEFAULT_MODE else None}
