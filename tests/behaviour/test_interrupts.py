"""Ctrl-C and SIGTERM end every command at once, whatever it is doing, and the same command again completes it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from knowledge.embedding.providers import LOCAL_SMALL
from knowledge.store.schema import MARKER_TABLE
from local_s3.moto_server import READING, S3Server
from publish_knowledge.cli.output import ExitCode
from publish_knowledge.doctor import examine
from tests.support.campaign import choose_trials
from tests.support.datasets import SUPPORT, Location, item, run_in_store
from tests.support.reading import read_text
from tests.support.s3 import new_bucket

SCOPE: Final = ("--team", "support")
PUBLISH: Final = ("publish", "docs", *SCOPE, "--base", "notes")
SECONDS: Final = 2.0
"""Promised for the end after a signal; the time that a command needs to do nothing is added, for a busy machine."""
HOLD_SECONDS: Final = 30.0
NUMBERS: Final = range(1, 32, choose_trials(14, 1))
"""Which writes of a first publish are interrupted: one to thirty-one; every fourteenth in an ordinary run."""

# Runs the command as its entry point does, after a statement that makes one of its steps last.
RUN: Final = "import sys, time\n{setting}\nfrom publish_knowledge.cli.main import main\nmain()"


class Command:
    """The `knowledge` command in a process of its own."""

    def __init__(self, folder: Path, where: Location, arguments: Sequence[str], setting: str = "") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN.format(setting=setting), *arguments],
            cwd=folder,
            env=make_environment(folder, where),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def interrupt(self, number: int = signal.SIGINT) -> tuple[int, str, str, float]:
        """Send a signal; return exit code, output, messages, and the seconds until the process had ended."""
        started = time.monotonic()
        self.process.send_signal(number)
        output, messages = self.process.communicate(timeout=60)
        return self.process.returncode, output, messages, time.monotonic() - started

    def wait_for(self, expected: str) -> None:
        """Wait until the process writes exactly this line to stderr."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if line.rstrip("\n") == expected:
                return
        self.process.communicate(timeout=60)
        raise AssertionError(f"it ended without {expected!r}")


def make_environment(folder: Path, where: Location) -> dict[str, str]:
    options = where.options
    s3 = {"AWS_ENDPOINT_URL_S3": options["endpoint"], "AWS_REGION": options["region"]} if options else {}
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"} if options else {}
    names = {"LANCEDB_URI": where.uri, "EMBEDDING": LOCAL_SMALL, "KNOWLEDGE_CACHE_DIR": str(folder / "cache")}
    return {**os.environ, **names, **s3, **keys}


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder with texts in `docs`."""
    (tmp_path / "docs").mkdir()
    for number in range(3):
        (tmp_path / "docs" / f"{number}.md").write_text(f"# Ship {number}\n\nThe ship {number} sails.\n")
    return tmp_path


@pytest.fixture(scope="module")
def reference() -> float:
    """Seconds that a command needs here and now to do nothing."""
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", RUN.format(setting=""), "--version"], check=True, capture_output=True)
    return time.monotonic() - started


class HeldRequest:
    """Holds the n-th write to S3, but not those of the marker, until the block ends."""

    def __init__(self, number: int, *, marker: bool = False) -> None:
        self.arrived, self.released = threading.Event(), threading.Event()
        self._left, self._marker = number, marker

    def gate(self, method: str, path: str) -> None:
        if method in READING or self.arrived.is_set() or (MARKER_TABLE in path) != self._marker:
            return
        self._left -= 1
        if not self._left:
            self.arrived.set()
            self.released.wait(HOLD_SECONDS)


@contextmanager
def hold_write(server: S3Server, number: int, *, marker: bool = False) -> Iterator[HeldRequest]:
    held = HeldRequest(number, marker=marker)
    try:
        with server.hold_requests(held.gate):
            yield held
    finally:
        held.released.set()


def assert_succeeds(folder: Path, where: Location, arguments: Sequence[str]) -> None:
    run = Command(folder, where, arguments).process
    _, messages = run.communicate(timeout=120)
    assert run.returncode == ExitCode.OK, messages


async def assert_completed(where: Location) -> None:
    for number in range(3):
        path = f"docs/{number}.md"
        assert f"The ship {number} sails" in (await read_text(where, SUPPORT, item(SUPPORT, "notes", path)) or "")
    assert await run_in_store(where, examine) == ()


def test_a_publish_interrupted_at_a_write_ends_at_once_and_is_completed_by_the_next(
    s3_server: S3Server, workplace: Path, reference: float
) -> None:
    for number in NUMBERS:
        where = new_bucket(s3_server)
        with hold_write(s3_server, number) as held:
            command = Command(workplace, where, PUBLISH)
            assert held.arrived.wait(HOLD_SECONDS)
            code, output, messages, seconds = command.interrupt()
        assert (code, output) == (ExitCode.INTERRUPTED, "")
        assert "Error: Interrupted." in messages
        assert "The same command again" in messages
        assert seconds < SECONDS + reference
        assert_succeeds(workplace, where, PUBLISH)
        asyncio.run(assert_completed(where))


@pytest.mark.parametrize(
    ("arguments", "marker"),
    [
        (("archive", "--base", "notes", *SCOPE), False),
        (("optimize",), False),
        (("purge", "--yes", *SCOPE), True),
        (("purge", "--yes", *SCOPE), False),
    ],
)
def test_other_commands_interrupted_at_a_write_end_at_once_and_are_completed_by_the_next(
    s3_server: S3Server, workplace: Path, reference: float, arguments: Sequence[str], *, marker: bool
) -> None:
    where = new_bucket(s3_server)
    assert_succeeds(workplace, where, PUBLISH)
    with hold_write(s3_server, 1, marker=marker) as held:
        command = Command(workplace, where, arguments)
        assert held.arrived.wait(HOLD_SECONDS)
        code, _, messages, seconds = command.interrupt(signal.SIGTERM)
    assert code == ExitCode.TERMINATED
    assert "Error: Interrupted." in messages
    assert seconds < SECONDS + reference
    assert_succeeds(workplace, where, arguments)
    assert asyncio.run(run_in_store(where, examine)) == ()


REACHED: Final = "The step is reached."
BUSY: Final = f"print('{REACHED}', file=sys.stderr, flush=True); "
STEPS: Final = {
    "model in the main thread": "import hashlib, publish_knowledge.cli.session as s\n"
    f"def slow(p):\n    {BUSY}hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)\ns.describe_engine = slow",
    "embedding": "from publish_knowledge.embedding.embedder import Embedder\n"
    f"def slow(*_):\n    {BUSY}time.sleep(60)\nEmbedder.embed = slow",
    "embedding without a pause": "from publish_knowledge.embedding.embedder import Embedder\n"
    f"def slow(*_):\n    {BUSY}\n    while True: pass\nEmbedder.embed = slow",
    "a retry's wait": "import asyncio; from publish_knowledge.store.database import Table\n"
    f"async def slow(*_, **__):\n    {BUSY}await asyncio.sleep(60)\nTable.merge = Table.insert_missing = slow",
    "reading files": "import publish_knowledge.sources.remote.fetching as f\n"
    f"def slow(*_):\n    {BUSY}time.sleep(60)\nf.load_documents = slow",
}
"""Statements that make one step of a publish last: a sleep, native code, or Python code that never waits."""


@pytest.mark.parametrize(
    ("step", "number"), [*((step, signal.SIGINT) for step in STEPS), ("embedding", signal.SIGTERM)]
)
def test_every_step_of_a_publish_ends_at_once(
    folder: Location, workplace: Path, reference: float, step: str, number: signal.Signals
) -> None:
    command = Command(workplace, folder, [*PUBLISH, "--json"], STEPS[step])
    command.wait_for(REACHED)
    code, output, messages, seconds = command.interrupt(number)
    assert code == 128 + number
    assert "Error: Interrupted." in messages
    error = json.loads(output)["error"]
    assert error["message"] in messages
    assert error["code"] == f"knowledge_{ExitCode(code).name.lower()}"
    assert seconds < SECONDS + reference


def test_a_command_that_is_still_loading_ends_at_once(folder: Location, workplace: Path, reference: float) -> None:
    setting = f"import publish_knowledge.cli.main as m\ndef slow(*_):\n    {BUSY}time.sleep(60)\nm.import_module = slow"
    command = Command(workplace, folder, PUBLISH, setting)
    command.wait_for(REACHED)
    code, _, messages, seconds = command.interrupt()
    assert code == ExitCode.INTERRUPTED
    assert messages == "Error: Interrupted. The same command again goes on where this one stopped.\n"
    assert seconds < SECONDS + reference


def test_the_message_says_how_much_is_committed(folder: Location, workplace: Path) -> None:
    setting = (
        "import publish_knowledge.store.commits as c; c.COMMIT_ITEMS = 1\n"
        "import publish_knowledge.publishing.publish as p; rest = p.publish_batch; done = []\n"
        "async def slow(*given):\n"
        f"    if len(done) == 2: {BUSY}time.sleep(60)\n"
        "    done.append(1); return await rest(*given)\n"
        "p.publish_batch = slow"
    )
    command = Command(workplace, folder, PUBLISH, setting)
    command.wait_for(REACHED)
    _, _, messages, _ = command.interrupt()
    assert "2 of 3 files are committed and kept." in messages
    assert asyncio.run(read_text(folder, SUPPORT, item(SUPPORT, "notes", "docs/1.md"))) is not None
    assert asyncio.run(read_text(folder, SUPPORT, item(SUPPORT, "notes", "docs/2.md"))) is None
