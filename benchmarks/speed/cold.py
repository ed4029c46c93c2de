"""The start of the function: from the process's start to its first answer, beside a function with plain imports.

Both run under Lambda's run-time interface emulator as `make invoke` uses it, on the same Python, dataset and model. The
emulator starts the process with the first event, so that the clock runs from there to the answer.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from benchmarks.support.figures import Figure, spread
from benchmarks.support.processors import one_processor
from knowledge.embedding.providers import LOCAL, provider
from knowledge.scopes import Scope
from knowledge.store.schema import SCHEMA_VERSION, digest
from lambda_emulator.answers import find_differences, parse_body, read_event
from lambda_emulator.artifact import Function, find_function
from lambda_emulator.sandbox import Machine, read_tail, start_function
from local_gateway.sample import Sample

ROOT: Final = Path(__file__).resolve().parents[2]
LOCK: Final = ROOT / "layers/engine/requirements.txt"
PLAIN: Final = ROOT / "benchmarks/speed/plain_function.py"
EVENT: Final = ROOT / "events/search.json"
QUERY: Final = "Who must be informed if you are feverish or coughing?"
TABLE: Final = Scope("team", "support").current_table
NEEDED: Final = ("build", ".venv-deploy/.installed", ".venv-lambda/.installed")

TARGET: Final = 0.75
ROUNDS: Final = 9
OTHER_ROUNDS: Final = 5
"""Of what is only reported."""


@dataclass(frozen=True, slots=True)
class Side:
    """A function, an event, and whether an answer is one."""

    function: Function
    event: Any
    settings: dict[str, str]
    is_answer: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Pair:
    """Milliseconds of both, in the order in which they were taken."""

    ours: list[float]
    plain: list[float]

    @property
    def ratio(self) -> float:
        """Median to median."""
        return statistics.median(self.ours) / statistics.median(self.plain)

    @property
    def detail(self) -> str:
        """Both sides' spread."""
        return f"ours {spread(self.ours)}, plain {spread(self.plain)}"


def measure(folder: Path) -> list[Figure]:
    """The ratio at large, on one processor, and to what `sam build` leaves; needs Linux and a Python 3.13."""
    make(*NEEDED)
    kept = folder / "cold"
    uri = sample_dataset(kept)
    ours, plain = _ours(uri), _plain(kept, uri)
    machine = _machine()
    for side in (ours, plain):  # what is read from the disk is in memory afterwards, for both
        _start(side, machine, kept)
    pair = _taken_in_turns(ours, plain, machine, kept, ROUNDS)
    bare = replace(
        plain, settings={**plain.settings, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": "/dev/null"}
    )
    without = _taken_in_turns(ours, bare, machine, kept, OTHER_ROUNDS)
    with one_processor():
        alone = _taken_in_turns(ours, plain, machine, kept, OTHER_ROUNDS)
    return [
        Figure("cold", "start to first answer / plain imports", TARGET, pair.ratio, "", pair.detail),
        Figure("cold", "the same on one processor", None, alone.ratio, "", alone.detail),
        Figure("cold", "the same, plain without bytecode", None, without.ratio, "", without.detail),
    ]


def start_of_ours(folder: Path) -> float:
    """Milliseconds from the process's start to its first answer from a local dataset, with one processor; a median."""
    make(*NEEDED)
    kept = folder / "cold"
    ours = _ours(sample_dataset(kept))
    with one_processor():
        return statistics.median([_start(ours, _machine(), kept) for _ in range(OTHER_ROUNDS)][1:])


def make(*targets: str) -> None:
    """Make what a benchmark needs besides its own environment."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    subprocess.run(["make", "-s", *targets], cwd=ROOT, env=environment, stdout=sys.stderr, check=True)  # noqa: S603, S607 - our own targets


def _machine() -> Machine:
    name = "aws-lambda-rie-" + {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
    (emulator,) = (ROOT / ".venv-deploy/lib").rglob(name)
    return Machine(emulator, ROOT / ".venv-lambda/bin/python")


def sample_dataset(kept: Path) -> str:
    """The sample base in a folder, published once for each version of the schema and the model."""
    target = kept / f"sample-{digest(SCHEMA_VERSION, provider(LOCAL).model)[:8]}"
    if not target.is_dir():
        with _unfinished(target) as unfinished:
            Sample(str(unfinished), LOCAL).publish()
    return str(target)


def _ours(uri: str) -> Side:
    settings = {"LANCEDB_URI": uri, "EMBEDDING": LOCAL, "RUNTIME_SWITCH": "on"}
    asked = read_event(EVENT)
    return Side(
        find_function(ROOT / ".aws-sam/build"),
        asked.event,
        settings,
        lambda answer: not list(find_differences(asked.expected, parse_body(answer))),
    )


def plain_layer(kept: Path) -> Path:
    """A layer with the function's packages as pip installs them, whole and with bytecode."""
    site = kept / f"plain-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]}"
    if not site.is_dir():
        with _unfinished(site) as unfinished:
            _install(unfinished / "python")
    return site


def _plain(kept: Path, uri: str) -> Side:
    """A handler with plain imports on that layer."""
    site = plain_layer(kept)
    code = kept / "plain-function"
    code.mkdir(exist_ok=True)
    shutil.copy(PLAIN, code)
    settings = {**_ours(uri).function.environment, "LANCEDB_URI": uri, "PLAIN_TABLE": TABLE}
    named = Function("Plain", code, (site,), f"{PLAIN.stem}.handler", settings)
    return Side(named, {"query": QUERY}, settings, lambda answer: isinstance(answer, list) and len(answer) > 0)


def _install(site: Path) -> None:
    pip = [str(ROOT / ".venv-lambda/bin/python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    options = ["--no-input", "--no-deps", "--require-hashes", "--only-binary=:all:", f"--target={site}"]
    subprocess.run([*pip, *options, f"--requirement={LOCK}"], check=True)  # noqa: S603 - spelled out above


@contextmanager
def _unfinished(target: Path) -> Iterator[Path]:
    """A folder that gets its name when it is complete."""
    part = target.with_name(f"{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    yield part
    part.rename(target)


def _taken_in_turns(ours: Side, plain: Side, machine: Machine, kept: Path, rounds: int) -> Pair:
    taken = [(_start(ours, machine, kept), _start(plain, machine, kept)) for _ in range(rounds)]
    return Pair([one for one, _ in taken], [other for _, other in taken])


def _start(side: Side, machine: Machine, kept: Path) -> float:
    """Milliseconds from the process's start to its answer, in a new place with an empty temporary folder."""
    with tempfile.TemporaryDirectory(prefix="run-", dir=kept) as folder:
        with start_function(side.function, machine, side.settings, Path(folder)) as running:
            began = time.perf_counter()
            answer = running.invoke(side.event)
            milliseconds = 1000 * (time.perf_counter() - began)
        if not side.is_answer(answer):
            raise RuntimeError(f"{side.function.name} answered {answer}; its log ends:\n{read_tail(running.log)}")
    return milliseconds
