"""Cold starts: from the start of the process to its first answer, beside a function with plain imports.

Both run under Lambda's runtime interface emulator, as `make invoke` uses it, on the same Python, dataset and model. The
emulator starts the process with the first event, so that the time from there to the answer counts.
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

from benchmarks.support.figures import Figure, format_spread
from benchmarks.support.processors import pin_to_one_processor
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
"""Rounds of the figures without a target."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A function to start, its event and settings, and the check of its answer."""

    function: Function
    event: Any
    settings: dict[str, str]
    is_answer: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Pair:
    """Milliseconds of both functions, in the order of the starts."""

    ours: list[float]
    plain: list[float]

    @property
    def ratio(self) -> float:
        """The ratio of the medians."""
        return statistics.median(self.ours) / statistics.median(self.plain)

    @property
    def detail(self) -> str:
        """Median and quartiles of both."""
        return f"ours {format_spread(self.ours)}, plain {format_spread(self.plain)}"


def measure(folder: Path) -> list[Figure]:
    """Measure the ratio on all processors, on one, and without bytecode; needs Linux and Python 3.13."""
    make(*NEEDED)
    kept = folder / "cold"
    uri = ensure_sample_dataset(kept)
    ours, plain = _describe_ours(uri), _describe_plain(kept, uri)
    machine = _find_machine()
    for side in (ours, plain):  # so that both find their files in the page cache
        _time_start(side, machine, kept)
    pair = _measure_in_turns(ours, plain, machine, kept, ROUNDS)
    without_bytecode = replace(
        plain, settings={**plain.settings, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": "/dev/null"}
    )
    without = _measure_in_turns(ours, without_bytecode, machine, kept, OTHER_ROUNDS)
    with pin_to_one_processor():
        alone = _measure_in_turns(ours, plain, machine, kept, OTHER_ROUNDS)
    return [
        Figure("cold", "start to first answer / plain imports", TARGET, pair.ratio, "", pair.detail),
        Figure("cold", "the same on one processor", None, alone.ratio, "", alone.detail),
        Figure("cold", "the same, plain without bytecode", None, without.ratio, "", without.detail),
    ]


def measure_start(folder: Path) -> float:
    """Return the median milliseconds from start to first answer over a local dataset, on one processor."""
    make(*NEEDED)
    kept = folder / "cold"
    ours = _describe_ours(ensure_sample_dataset(kept))
    with pin_to_one_processor():
        return statistics.median([_time_start(ours, _find_machine(), kept) for _ in range(OTHER_ROUNDS)][1:])


def make(*targets: str) -> None:
    """Run make targets that a benchmark needs."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    subprocess.run(["make", "-s", *targets], cwd=ROOT, env=environment, stdout=sys.stderr, check=True)  # noqa: S603, S607 - our own targets


def _find_machine() -> Machine:
    name = "aws-lambda-rie-" + {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
    (emulator,) = (ROOT / ".venv-deploy/lib").rglob(name)
    return Machine(emulator, ROOT / ".venv-lambda/bin/python")


def ensure_sample_dataset(kept: Path) -> str:
    """Return a dataset of the sample base, published once for each version of schema and model."""
    target = kept / f"sample-{digest(SCHEMA_VERSION, provider(LOCAL).model)[:8]}"
    if not target.is_dir():
        with _build_folder(target) as unfinished:
            Sample(str(unfinished), LOCAL).publish()
    return str(target)


def _describe_ours(uri: str) -> Variant:
    settings = {"LANCEDB_URI": uri, "EMBEDDING": LOCAL, "RUNTIME_SWITCH": "on"}
    sample = read_event(EVENT)
    return Variant(
        find_function(ROOT / ".aws-sam/build"),
        sample.event,
        settings,
        lambda answer: not list(find_differences(sample.expected, parse_body(answer))),
    )


def ensure_plain_layer(kept: Path) -> Path:
    """Return a layer with the function's packages as pip installs them, whole and with bytecode."""
    site = kept / f"plain-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]}"
    if not site.is_dir():
        with _build_folder(site) as unfinished:
            _install(unfinished / "python")
    return site


def _describe_plain(kept: Path, uri: str) -> Variant:
    """Describe the handler with plain imports on that layer."""
    site = ensure_plain_layer(kept)
    code = kept / "plain-function"
    code.mkdir(exist_ok=True)
    shutil.copy(PLAIN, code)
    settings = {**_describe_ours(uri).function.environment, "LANCEDB_URI": uri, "PLAIN_TABLE": TABLE}
    named = Function("Plain", code, (site,), f"{PLAIN.stem}.handler", settings)
    return Variant(named, {"query": QUERY}, settings, lambda answer: isinstance(answer, list) and len(answer) > 0)


def _install(site: Path) -> None:
    pip = [str(ROOT / ".venv-lambda/bin/python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    options = ["--no-input", "--no-deps", "--require-hashes", "--only-binary=:all:", f"--target={site}"]
    subprocess.run([*pip, *options, f"--requirement={LOCK}"], check=True)  # noqa: S603 - spelled out above


@contextmanager
def _build_folder(target: Path) -> Iterator[Path]:
    """Yield a temporary folder that is renamed to its target when the block has filled it."""
    part = target.with_name(f"{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    yield part
    part.rename(target)


def _measure_in_turns(ours: Variant, plain: Variant, machine: Machine, kept: Path, rounds: int) -> Pair:
    taken = [(_time_start(ours, machine, kept), _time_start(plain, machine, kept)) for _ in range(rounds)]
    return Pair([one for one, _ in taken], [other for _, other in taken])


def _time_start(side: Variant, machine: Machine, kept: Path) -> float:
    """Return milliseconds from the start of a process to its answer; its temporary folder is empty before."""
    with tempfile.TemporaryDirectory(prefix="run-", dir=kept) as folder:
        with start_function(side.function, machine, side.settings, Path(folder)) as running:
            began = time.perf_counter()
            answer = running.invoke(side.event)
            milliseconds = 1000 * (time.perf_counter() - began)
        if not side.is_answer(answer):
            raise RuntimeError(f"{side.function.name} answered {answer}; its log ends:\n{read_tail(running.log)}")
    return milliseconds
