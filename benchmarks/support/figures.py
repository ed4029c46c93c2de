"""The results of benchmarks: one measured number each, with its target, and the table of them."""

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
        """Whether the target is met; `None` where there is none."""
        if self.target is None:
            return None
        return self.measured <= self.target if self.at_most else self.measured >= self.target

    def as_dict(self) -> dict[str, Any]:
        """The figure as JSON, with a numpy number as a plain one."""
        passes = self.passes
        return {
            **asdict(self),
            "measured": float(self.measured),
            "passes": passes if passes is None else bool(passes),
        }

    def row(self) -> tuple[str, ...]:
        """The figure as a line of the table."""
        bound = "" if self.target is None else f"{'≤' if self.at_most else '≥'} {format_number(self.target)}"
        verdict = {True: "pass", False: "falls short", None: ""}[self.passes]
        return (
            self.part,
            self.name,
            bound,
            f"{format_number(self.measured)} {self.unit}".strip(),
            self.detail,
            verdict,
        )


def format_table(figures: Iterable[Figure]) -> str:
    """Format all figures in columns, one a line."""
    rows = [HEADS, *(figure.row() for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def format_number(value: float) -> str:
    """Format a number with three significant digits, and a large one as a whole number."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"  # noqa: PLR2004 - three digits


def format_spread(values: Sequence[float], unit: str = "ms") -> str:
    """Format the median and the quartiles of many values."""
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{format_number(middle)} {unit} ({format_number(low)}…{format_number(high)}, n={len(values)})"


def describe_machine() -> dict[str, str]:
    """Describe the machine and the versions that the figures were measured with."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": _find_processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory:.1f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in _PACKAGES},
    }


def _find_processor() -> str:
    """Return the processor's name, as far as the system has it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")
