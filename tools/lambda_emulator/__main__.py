"""Run the built function: `python -m lambda_emulator [EVENT…]`; `make invoke` names what it needs.

With event files as arguments, their answers are printed. With none, all files of `events/` are sent to one running
function, and each answer must contain what its file expects.
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

from lambda_emulator.answers import SampleEvent, find_differences, parse_body, read_event
from lambda_emulator.artifact import ArtifactError, Function, find_function
from lambda_emulator.contents import read_build_report
from lambda_emulator.sandbox import Machine, RunningFunction, SandboxError, read_tail, start_function
from local_gateway import sample as examples
from local_s3.moto_server import S3Server

ROOT: Final = Path(__file__).resolve().parents[2]
MACHINES: Final = {"x86_64": "x86_64", "arm64": "aarch64"}
"""Operating systems' names of Lambda's architectures; macOS says arm64 too."""
FAULTS: Final = (ArtifactError, SandboxError, examples.SampleError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Publish the sample base, start the function, send the events; return 1 if an answer is not as expected."""
    options = _parse_options(arguments)
    events = [read_event(path) for path in options.events or sorted((ROOT / "events").glob("*.json"))]
    with ExitStack() as stack:
        try:
            running = _start(stack, options)
            return _send_events(running, events, verbose=bool(options.events))
        except FAULTS as error:
            print(f"invoke: {error}", file=sys.stderr)
            return 1


def _parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="invoke", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("events", nargs="*", type=Path, metavar="EVENT", help="event files")
    parser.add_argument("--build", type=Path, default=ROOT / ".aws-sam/build", help="output folder of `sam build`")
    parser.add_argument("--python", type=Path, required=True, help="a Python with the packages of Lambda's run time")
    parser.add_argument("--emulator", type=Path, required=True, help="Lambda's runtime interface emulator")
    parser.add_argument("--embedding", default="local", help="model of the sample dataset (%(default)s)")
    parser.add_argument("--log", action="store_true", help="show the function's log at the end")
    return parser.parse_args(arguments)


def _start(stack: ExitStack, options: argparse.Namespace) -> RunningFunction:
    found = _find_runnable(options.build)
    server = stack.enter_context(S3Server())
    storage = server.environment
    # On the same file system as the build, so that hard links of the layers work.
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="run-", dir=options.build.parent))
    uri = f"s3://{server.make_bucket()}/sample"
    _publish(uri, options.embedding, storage)
    settings = {**storage, "LANCEDB_URI": uri, "EMBEDDING": options.embedding, "RUNTIME_SWITCH": "on"}
    running = stack.enter_context(
        start_function(found, Machine(options.emulator, options.python), settings, Path(folder))
    )
    if options.log:
        stack.callback(lambda: print(read_tail(running.log, 1000), file=sys.stderr))
    return running


def _find_runnable(build: Path) -> Function:
    found, architecture = find_function(build), read_build_report(build)["architecture"]
    if platform.machine() not in {architecture, MACHINES[architecture]}:
        raise ArtifactError(f"the package in {build} is for {architecture}, not for this machine: run `make build`")
    return found


def _publish(uri: str, embedding: str, storage: dict[str, str]) -> None:
    began = time.monotonic()
    os.environ.update(storage)
    published = examples.Sample(uri, embedding)
    published.publish()
    published.revise()
    _report(f"The sample base is published to S3 ({time.monotonic() - began:.0f} s, {embedding} model).")


def _send_events(running: RunningFunction, events: Iterable[SampleEvent], *, verbose: bool) -> int:
    _report(
        "The function sees /var/task and /opt."
        if running.is_isolated
        else "The function sees its folders by their paths."
    )
    failed = [event.name for event in events if not _check_event(running, event, verbose=verbose)]
    _report(f"Answers that are not as expected: {', '.join(failed)}" if failed else "Every answer is as expected.")
    return 1 if failed else 0


def _check_event(running: RunningFunction, event: SampleEvent, *, verbose: bool) -> bool:
    began = time.monotonic()
    answer = parse_body(running.invoke(event.event))
    found = list(find_differences(event.expected, answer))
    _report(f"{'FAILED' if found else 'ok':8}{event.name:36}{(time.monotonic() - began) * 1000:8.0f} ms")
    for line in _describe_failure(answer) or found:
        _report(f"        {line}")
    if verbose:
        print(json.dumps(answer, indent=2, ensure_ascii=False))
    return not found


def _describe_failure(answer: object) -> list[str]:
    """Lines with Lambda's error object, where the function itself failed."""
    failed = isinstance(answer, dict) and "errorType" in answer
    return json.dumps(answer, indent=2).splitlines() if failed else []


def _report(line: str) -> None:
    """Print progress on standard error, so that standard output has the answers alone."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
