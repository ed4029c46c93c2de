"""A real Chromium, without a window: a page of one origin calls servers of another and reports what it was let read."""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_SECONDS: Final = 90.0
"""For all calls of a page, and for the browser's start on a busy machine."""
_SWITCHES: Final = (
    *("--headless", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--disable-background-networking"),
    # Tests may run as root, which Chromium's sandbox refuses.
    "--no-sandbox",
    # The servers of the tests speak HTTP.
    "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
)
_PAGE: Final = """<!doctype html><title>calls</title><script>
async function run(calls) {
  const found = [];
  for (const {url, wanted, ...options} of calls) {
    try {
      const answer = await fetch(url, options);
      const headers = Object.fromEntries(wanted.map(name => [name, answer.headers.get(name)]));
      found.push({status: answer.status, body: await answer.text(), headers});
    } catch (error) {
      found.push({status: 0, body: String(error), headers: {}});
    }
  }
  await fetch("/report", {method: "POST", body: JSON.stringify(found)});
}
run(CALLS);
</script>"""


@dataclass(frozen=True, slots=True)
class PageCall:
    """One call of a page, and the headers of the answer that the page wants to read."""

    url: str
    method: str = "POST"
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    wanted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """What the browser let the page read; status 0 if it let it read nothing."""

    status: int
    body: str
    headers: dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Browser:
    """A Chromium on this machine."""

    program: str
    folder: Path

    def call(
        self, *calls: PageCall, origin: str = "localhost", hosts: Sequence[tuple[str, int]] = ()
    ) -> list[PageAnswer]:
        """The answers that a page of a host gets. `hosts` are names and the local ports that serve them."""
        page = _PAGE.replace("CALLS", json.dumps([asdict(call) for call in calls]))
        with _serve(page) as (port, reports):
            names = [f"MAP {name}:80 127.0.0.1:{served}" for name, served in hosts]
            rules = ", ".join([*names, f"MAP {origin} 127.0.0.1"])
            switches = (*_SWITCHES, f"--user-data-dir={self.folder}", f"--host-resolver-rules={rules}")
            command = [self.program, *switches, f"http://{origin}:{port}/"]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
                try:
                    return [PageAnswer(**one) for one in json.loads(reports.get(timeout=_SECONDS))]
                finally:
                    running.terminate()


def find_browser(folder: Path) -> Browser:
    """The installed Chromium; skips the test where there is none."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip(f"no Chromium on this machine ({', '.join(_NAMES)}); apt-get install chromium brings one")
    return Browser(program, folder)


@contextmanager
def _serve(page: str) -> Iterator[tuple[int, queue.Queue[bytes]]]:
    """Serve a page that reports to its own origin."""
    reports: queue.Queue[bytes] = queue.Queue()

    class Requests(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200 if self.path == "/" else 404, page.encode())

        def do_POST(self) -> None:
            reports.put(self.rfile.read(int(self.headers["content-length"])))
            self._send(200, b"")

        def log_message(self, *_arguments: Any) -> None:  # noqa: ANN401 - as in the base class
            pass

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server.server_address[1], reports
    finally:
        server.shutdown()
        server.server_close()
