"""Run the built function: `python -m lambda_emulator [EVENT…]`; `make invoke` names what it needs.

With one event file its answer is printed. With none, all of `events/` are sent to one started function, and each
answer has to hold what the file expects.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from lambda_emulator.answers import Sample, differences, readable, sample
from lambda_emulator.artifact import ArtifactError, Function, function
from lambda_emulator.contents import report
from lambda_emulator.sandbox import Machine, SandboxError, Started, started, tail
from local_gateway import sample as examples
from local_s3.moto_server import S3Server

ROOT: Final = Path(__file__).resolve().parents[2]
MACHINES: Final = {"x86_64": "x86_64", "arm64": "aarch64"}
"""What an operating system calls Lambda's architectures; a Mac says arm64 too."""
FAULTS: Final = (ArtifactError, SandboxError, examples.SampleError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Publish the sample base, start the function, send the events; 1 if an answer is not the expected one."""
    options = _options(arguments)
    events = [sample(path) for path in options.events or sorted((ROOT / "events").glob("*.json"))]
    with ExitStack() as stack:
        try:
            running = _start(stack, options)
            return _send(running, events, verbose=bool(options.events))
        except FAULTS as error:
            print(f"invoke: {error}", file=sys.stderr)
            return 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="invoke", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("events", nargs="*", type=Path, metavar="EVENT", help="event files")
    parser.add_argument("--build", type=Path, default=ROOT / ".aws-sam/build", help="what `sam build` made")
    parser.add_argument("--python", type=Path, required=True, help="a Python with what Lambda's own brings")
    parser.add_argument("--emulator", type=Path, required=True, help="Lambda's run-time interface emulator")
    parser.add_argument("--embedding", default="local", help="model of the sample dataset (%(default)s)")
    parser.add_argument("--log", action="store_true", help="show the function's log at the end")
    return parser.parse_args(arguments)


def _start(stack: ExitStack, options: argparse.Namespace) -> Started:
    found = _runnable(options.build)
    server = stack.enter_context(S3Server())
    storage = server.environment
    # The folder is beside the build, so that the layers can be linked into it.
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="run-", dir=options.build.parent))
    uri = f"s3://{server.make_bucket()}/sample"
    _publish(uri, options.embedding, storage)
    settings = {**storage, "LANCEDB_URI": uri, "EMBEDDING": options.embedding, "RUNTIME_SWITCH": "on"}
    running = stack.enter_context(started(found, Machine(options.emulator, options.python), settings, Path(folder)))
    if options.log:
        stack.callback(lambda: print(tail(running.log, 1000), file=sys.stderr))
    return running


def _runnable(build: Path) -> Function:
    found, architecture = function(build), report(build)["architecture"]
    if platform.machine() not in {architecture, MACHINES[architecture]}:
        raise ArtifactError(f"the package in {build} is for {architecture}, not for this machine: run `make build`")
    return found


def _publish(uri: str, embedding: str, storage: dict[str, str]) -> None:
    began = time.monotonic()
    os.environ.update(storage)
    published = examples.Sample(uri, embedding)
    published.publish()
    published.revise()
    _say(f"The sample base is published to S3 ({time.monotonic() - began:.0f} s, {embedding} model).")


def _send(running: Started, events: Iterable[Sample], *, verbose: bool) -> int:
    _say(
        "The function sees /var/task and /opt." if running.isolated else "The function sees its folders by their paths."
    )
    failed = [event.name for event in events if not _passes(running, event, verbose=verbose)]
    _say(f"Answers that are not as expected: {', '.join(failed)}" if failed else "Every answer is as expected.")
    return 1 if failed else 0


def _passes(running: Started, event: Sample, *, verbose: bool) -> bool:
    began = time.monotonic()
    answer = readable(running.invoke(event.event))
    found = list(differences(event.expected, answer))
    _say(f"{'FAILED' if found else 'ok':8}{event.name:36}{(time.monotonic() - began) * 1000:8.0f} ms")
    for line in _failure(answer) or found:
        _say(f"        {line}")
    if verbose:
        print(json.dumps(answer, indent=2, ensure_ascii=False))
    return not found


def _failure(answer: object) -> list[str]:
    """What Lambda says instead of an answer, where the function itself failed."""
    failed = isinstance(answer, dict) and "errorType" in answer
    return json.dumps(answer, indent=2).splitlines() if failed else []


def _say(line: str) -> None:
    """Progress goes beside the answer, so that the answer alone can be piped on."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
