"""A process like the function's: it loads the handler from the environment and answers events, watching its memory.

`python -m benchmarks.speed.function EVENTS FIGURES` reads one event a line and writes what it saw as JSON. It
imports nothing but the function, so that the memory is the function's.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final

EVERY: Final = 100
"""Calls between two looks."""


def megabytes(name: str) -> float:
    """One of the kernel's figures on this process: `VmRSS` is what it holds now, `VmHWM` the most it ever held."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (found,) = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return int(found) * 1024 / 1_000_000


def answered(events: Path) -> dict[str, Any]:
    """Memory after loading, after every so many events, and at its peak, in megabytes; and the answers' kinds."""
    from search_knowledge.app import handler  # noqa: PLC0415 - loading it is part of what is watched

    loaded, resident, kinds = megabytes("VmRSS"), list[float](), dict[str, int]()
    with events.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            answer = handler(json.loads(line))
            kind = _kind(answer)
            kinds[kind] = kinds.get(kind, 0) + 1
            if number % EVERY == 0:
                resident.append(megabytes("VmRSS"))
    return {"loaded": loaded, "held": resident, "peak": megabytes("VmHWM"), "kinds": kinds}


def _kind(answer: dict[str, Any]) -> str:
    """The type of the envelope, or the HTTP status of what has none."""
    result = json.loads(answer["body"] or "{}").get("result", {})
    return str(result.get("structuredContent", {}).get("type", answer["statusCode"]))


def main() -> None:
    """Answer the events named on the command line."""
    events, figures = map(Path, sys.argv[1:])
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        found = answered(events)
    figures.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
