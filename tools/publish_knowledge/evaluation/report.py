"""What an evaluation says to a person and to a program, and the advice that its figures bear out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from knowledge.requests import DEFAULT_MODE
from publish_knowledge.evaluation.metrics import DEPTH, Estimate, Improvement, best_improvement
from publish_knowledge.evaluation.runs import Evaluation, Setting

MEASURES: Final = {"ndcg": f"nDCG@{DEPTH}", "recall": f"recall@{DEPTH}", "mrr": f"MRR@{DEPTH}"}

_NAME: Final = 12
_CELL: Final = 16
_NOTE: Final = (
    "± is half of a 95 % interval. Differences are taken question by question, so they are surer than the means."
)


@dataclass(frozen=True, slots=True)
class Report:
    """Figures of one evaluation. `reference` is the setting that all others are compared with."""

    measured: Evaluation
    reference: Setting
    rankings: tuple[Setting, ...]
    sweep: tuple[Setting, ...]

    @property
    def questions(self) -> int:
        """How many were asked."""
        return len(self.measured.by_setting[self.reference])

    def improvement(self) -> Improvement | None:
        """The alpha of the sweep that does best, if it does better than the reference."""
        others = {one.alpha: self.measured.values(one) for one in self.sweep if one != self.reference}
        return best_improvement(self.measured.values(self.reference), others)


def lines(report: Report) -> Iterator[str]:
    """Tables for a person."""
    heads = [*MEASURES.values(), f"{MEASURES['ndcg']} against {report.reference.name}"]
    yield _row(f"{report.questions} questions", heads)
    yield from (_ranking_line(report, setting) for setting in report.rankings)
    if report.sweep:
        yield ""
        yield _row("alpha", [heads[0], f"against {report.reference.name}"])
        yield from (_sweep_line(report, setting) for setting in report.sweep)
        yield ""
        yield advice(report)
    yield _NOTE


def document(report: Report) -> dict[str, Any]:
    """The same for a program; half-widths are null where one question has none."""
    best = report.improvement() if report.sweep else None
    advised = best.alpha if best and best.significant else None
    return {
        "questions": report.questions,
        "reference": _named(report.reference),
        "rankings": [_figures(report, setting) for setting in report.rankings],
        "alpha_sweep": [_figures(report, setting) for setting in report.sweep],
        "advice": {
            "alpha": advised,
            "probability": best.probability if best else None,
            "text": advice(report) if report.sweep else "",
        },
    }


def advice(report: Report) -> str:
    """A sentence on alpha; a change is advised only where chance is a poor explanation."""
    best, kept = report.improvement(), f"{report.reference.alpha:g}"
    if best is None:
        return f"No other alpha does better than {kept} on these questions: keep {kept}."
    figures = f"{shown(best.gain, signed=True)}, p = {best.probability:.3f}"
    if best.significant:
        return f"Alpha {best.alpha:g} does better than {kept} beyond chance ({figures})."
    return f"Alpha {best.alpha:g} looks best, but chance explains it ({figures}): keep {kept}, or ask more questions."


def shown(estimate: Estimate, *, signed: bool = False) -> str:
    """A mean with its half-width."""
    mean = f"{estimate.mean:+.3f}" if signed else f"{estimate.mean:.3f}"
    return mean if estimate.half_width is None else f"{mean} ± {estimate.half_width:.3f}"


def _ranking_line(report: Report, setting: Setting) -> str:
    return _row(
        setting.name, [*(shown(report.measured.estimate(setting, one)) for one in MEASURES), _gain(report, setting)]
    )


def _sweep_line(report: Report, setting: Setting) -> str:
    return _row(f"{setting.alpha:g}", [shown(report.measured.estimate(setting)), _gain(report, setting)])


def _gain(report: Report, setting: Setting) -> str:
    if setting == report.reference:
        return ""
    return shown(report.measured.against(setting, report.reference), signed=True)


def _row(name: str, cells: list[str]) -> str:
    return (f"{name:<{_NAME}}  " + "".join(f"{cell:<{_CELL}}" for cell in cells)).rstrip()


def _figures(report: Report, setting: Setting) -> dict[str, Any]:
    figures = {name: asdict(report.measured.estimate(setting, one)) for one, name in MEASURES.items()}
    against = asdict(report.measured.against(setting, report.reference))
    return {**_named(setting), **figures, "difference": against}


def _named(setting: Setting) -> dict[str, Any]:
    return {"mode": setting.mode, "alpha": setting.alpha if setting.mode == DEFAULT_MODE else None}
