"""A plot of the alpha sweep: the mean at each alpha, its interval, and the reference."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from publish_knowledge.evaluation.report import METRICS, Report

NEEDED: Final = "matplotlib"

_INCHES: Final = (7.0, 4.0)
_DOTS_PER_INCH: Final = 120
_LINE: Final = "#1f5a8a"
_MARK: Final = "#b5541c"


class PlotError(Exception):
    """The plot cannot be written; the message says why and what to do."""


def check_plot(file: Path) -> None:
    """Find out before the evaluation what would prevent the plot; raises `PlotError`."""
    if find_spec(NEEDED) is None:
        raise PlotError("A plot needs matplotlib: install search-knowledge[eval], or leave out --png.")
    if not file.parent.is_dir():
        raise PlotError(f"The folder of {file} does not exist. Make it first, or name another file.")


def draw_plot(report: Report, file: Path) -> None:
    """Write the sweep as a PNG file; raises `PlotError` where it cannot be written."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - an extra, and a second to import
    from matplotlib.figure import Figure  # noqa: PLC0415 - as above

    figure = Figure(figsize=_INCHES, dpi=_DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    alphas = [setting.alpha for setting in report.sweep]
    estimates = [report.evaluation.estimate(setting) for setting in report.sweep]
    means = [estimate.mean for estimate in estimates]
    widths = [estimate.half_width or 0.0 for estimate in estimates]
    axes.fill_between(alphas, _clip_bound(means, widths, -1), _clip_bound(means, widths, 1), color=_LINE, alpha=0.15)
    axes.plot(alphas, means, color=_LINE, marker="o", label="mean, with its 95 % interval")
    axes.axvline(report.reference.alpha, color=_MARK, linestyle="--", label=f"alpha {report.reference.alpha:g}")
    axes.set(xlabel="alpha: weight of the lexical side", ylabel=METRICS["ndcg"])
    axes.set_title(f"Hybrid search over {report.questions} questions")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(loc="best")
    try:
        figure.savefig(file, format="png")
    except OSError as error:
        raise PlotError(f"{file} cannot be written: {error.strerror or error}.") from None


def _clip_bound(means: list[float], widths: list[float], sign: int) -> list[float]:
    return [min(1.0, max(0.0, mean + sign * width)) for mean, width in zip(means, widths, strict=True)]
