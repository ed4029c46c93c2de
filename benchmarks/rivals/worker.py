"""Worker processes: each handles one request a line, and replies with the time that it took.

Standard library only, as workers run in environments of their own.
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
class Reply:
    """The reply to one request: milliseconds, and the answer or the class and message of an exception."""

    milliseconds: float
    answer: Any
    error: str


class Worker:
    """A module of this folder, running as a process; to be used in a `with` block."""

    def __init__(self, python: Path, module: str, arguments: Sequence[str] = (), path: Sequence[Path] = ()) -> None:
        command = [str(python), "-m", f"benchmarks.{module}", *arguments]
        environment = {**_build_environment(), "PYTHONPATH": os.pathsep.join(map(str, [ROOT, *path]))}
        self._process = subprocess.Popen(  # noqa: S603 - spelled out above
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.communicate(timeout=STOP_SECONDS)

    def ask(self, request: object) -> Reply:
        """Send a request and wait for its reply; raises `RuntimeError` if the process has ended."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the worker has no pipes")
        print(json.dumps(request), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the worker has ended; its output is above")
        return Reply(**json.loads(line))


def serve(act: Act) -> None:
    """Reply to requests until standard input ends; everything else that the worker prints goes to standard error."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as output:
        os.dup2(2, 1)
        for line in sys.stdin:
            print(json.dumps(_time_call(act, json.loads(line))), file=output, flush=True)


def _time_call(act: Act, request: object) -> Mapping[str, Any]:
    answer, error = None, ""
    began = time.perf_counter()
    try:
        answer = act(request)
    except Exception as fault:  # noqa: BLE001 - a failure is reported to the parent process
        error = f"{type(fault).__name__}: {fault}"
    return {"milliseconds": 1000 * (time.perf_counter() - began), "answer": answer, "error": error}


def _build_environment() -> dict[str, str]:
    """Give the model one thread, as in the function, and keep libraries from using the network."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "LOGFIRE_IGNORE_NO_CONFIG": "1"}
