"""A process like the function's, which answers events and records its memory.

`python -m benchmarks.speed.function EVENTS FIGURES` reads one event a line and writes its figures as JSON. It imports
nothing but the function, so that the memory is the function's.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final

EVERY: Final = 100
"""Calls between two samples of the memory."""


def read_megabytes(name: str) -> float:
    """Read one of the kernel's figures on this process: `VmRSS` is its memory now, `VmHWM` the maximum so far."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (found,) = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return int(found) * 1024 / 1_000_000


def answer_events(events: Path) -> dict[str, Any]:
    """Answer events; return megabytes when loaded, after every `EVERY` events and at the peak, and kinds of answers."""
    from search_knowledge.app import handler  # noqa: PLC0415 - loading it is part of what is measured

    loaded, resident, kinds = read_megabytes("VmRSS"), list[float](), dict[str, int]()
    with events.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            answer = handler(json.loads(line))
            kind = _classify(answer)
            kinds[kind] = kinds.get(kind, 0) + 1
            if number % EVERY == 0:
                resident.append(read_megabytes("VmRSS"))
    return {"loaded": loaded, "resident": resident, "peak": read_megabytes("VmHWM"), "kinds": kinds}


def _classify(answer: dict[str, Any]) -> str:
    """Return the type of the envelope, or the HTTP status of an answer without one."""
    result = json.loads(answer["body"] or "{}").get("result", {})
    return str(result.get("structuredContent", {}).get("type", answer["statusCode"]))


def main() -> None:
    """Answer the events named on the command line."""
    events, figures = map(Path, sys.argv[1:])
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        found = answer_events(events)
    figures.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
