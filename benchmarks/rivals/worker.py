"""A contestant's process: it does one thing for each line that it is sent, and tells how long that took.

Of the standard library only, as contestants run in environments of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

ROOT: Final = Path(__file__).resolve().parents[2]
STOP_SECONDS: Final = 10.0

Act = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """What came of one line: milliseconds, and the answer or the class and words of an exception."""

    milliseconds: float
    answer: Any
    error: str


class Worker:
    """A module of this folder, running as a process; to be used in a `with` block."""

    def __init__(self, python: Path, module: str, arguments: Sequence[str] = (), path: Sequence[Path] = ()) -> None:
        command = [str(python), "-m", f"benchmarks.{module}", *arguments]
        environment = {**_surroundings(), "PYTHONPATH": os.pathsep.join(map(str, [ROOT, *path]))}
        self._process = subprocess.Popen(  # noqa: S603 - spelled out above
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.communicate(timeout=STOP_SECONDS)

    def ask(self, about: object) -> Turn:
        """Have it do one thing; raises `RuntimeError` if the process is gone."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the contestant has no pipes")
        print(json.dumps(about), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the contestant is gone; what it said is above")
        return Turn(**json.loads(line))


def serve(act: Act) -> None:
    """In the contestant's process: answer lines until there are no more; whatever it prints goes to the log."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as output:
        os.dup2(2, 1)
        for line in sys.stdin:
            print(json.dumps(_timed(act, json.loads(line))), file=output, flush=True)


def _timed(act: Act, about: object) -> Mapping[str, Any]:
    answer, error = None, ""
    began = time.perf_counter()
    try:
        answer = act(about)
    except Exception as fault:  # noqa: BLE001 - a contestant that fails is a finding
        error = f"{type(fault).__name__}: {fault}"
    return {"milliseconds": 1000 * (time.perf_counter() - began), "answer": answer, "error": error}


def _surroundings() -> dict[str, str]:
    """One thread for the model, as in the function, and nobody asks the network for anything."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "LOGFIRE_IGNORE_NO_CONFIG": "1"}
