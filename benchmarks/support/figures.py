"""What a benchmark finds: one measured number each, beside what it should be, and the table of them."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

HEADS: Final = ("part", "figure", "target", "measured", "sizes and spread", "")
_PACKAGES: Final = ("lancedb", "mcp", "numpy", "pyarrow")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number. Without a target it is only reported; `detail` gives sizes and spread."""

    part: str
    name: str
    target: float | None
    measured: float
    unit: str
    detail: str
    at_most: bool = True

    @property
    def passes(self) -> bool | None:
        """Whether the target is kept; `None` where there is none."""
        if self.target is None:
            return None
        return self.measured <= self.target if self.at_most else self.measured >= self.target

    def as_dict(self) -> dict[str, Any]:
        """The figure as JSON has it, whatever kind of number was measured."""
        passes = self.passes
        return {
            **asdict(self),
            "measured": float(self.measured),
            "passes": passes if passes is None else bool(passes),
        }

    def row(self) -> tuple[str, ...]:
        """The figure as a line of the table."""
        bound = "" if self.target is None else f"{'≤' if self.at_most else '≥'} {number(self.target)}"
        verdict = {True: "pass", False: "falls short", None: ""}[self.passes]
        return (self.part, self.name, bound, f"{number(self.measured)} {self.unit}".strip(), self.detail, verdict)


def table(figures: Iterable[Figure]) -> str:
    """All figures, one a line, in columns."""
    rows = [HEADS, *(figure.row() for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def number(value: float) -> str:
    """Three digits that count, whole thousands unbroken."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"  # noqa: PLR2004 - three digits


def spread(values: Sequence[float], unit: str = "ms") -> str:
    """Median and the middle half of many values, as a detail says it."""
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{number(middle)} {unit} ({number(low)}…{number(high)}, n={len(values)})"


def machine() -> dict[str, str]:
    """What the figures were taken on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory:.1f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in _PACKAGES},
    }


def _processor() -> str:
    """The processor's name where the system tells it."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")
