"""`make serve`: the command that serves a dataset on this machine."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from functools import partial

import httpx2
import pytest

from local_gateway.__main__ import format_greeting, main
from local_gateway.events import Developer
from local_gateway.front import Front
from tests.support.calls import tool_call
from tests.support.local_front import ANA


def test_the_command_that_is_printed_works(front: Front) -> None:
    text = format_greeting(front.url, ANA)
    found = re.search(r"curl -s (\S+) -H '([^:]+): ([^']+)' -d \\\n\s+'(.+)'\n", text)
    assert found
    url, name, value, data = found.groups()
    answer = httpx2.post(url, headers={name: value}, content=data, timeout=60)
    hit = answer.json()["result"]["structuredContent"]["results"][0]
    assert hit["source"]["uri"] == "handbook/sick-days.md"
    assert "ana (teams: support)" in text
    assert "teams: none" in format_greeting(front.url, Developer("ana"))


def test_the_greeting_shows_the_controls_of_owner_and_teams() -> None:
    text = format_greeting("http://127.0.0.1:1/mcp", Developer("a\x1b[31mna", ("two\nlines", "left\u202e")))
    assert text.splitlines()[0].endswith(
        r"everybody being a\x1b[31mna (teams: two\nlines, left\u202e). Ctrl-C stops it. Try:"
    )
    assert "\x1b" not in text


@pytest.mark.slow
def test_the_command_serves_until_it_is_interrupted(dataset: str) -> None:
    command = [sys.executable, "-m", "local_gateway", "--port", "0", "--uri", dataset, "--embedding", "local-small"]
    # A shell lets background jobs ignore the signal, and the tests inherit that.
    restore_signal = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=restore_signal,  # noqa: PLW1509 - no thread of the tests holds a lock that it needs
    ) as serving:
        assert serving.stdout
        first = serving.stdout.readline()
        url = re.search(r"http://\S+/mcp", first)
        assert url, first
        answer = httpx2.post(url[0], json=tool_call({"query": "Urlaub"}), timeout=60)
        assert answer.json()["result"]["structuredContent"]["type"] == "knowledge_search"
        serving.send_signal(signal.SIGINT)
        rest, log = serving.communicate(timeout=30)
    assert rest.endswith("Stopped.\n")
    assert serving.returncode == 0
    assert json.loads(log.splitlines()[0])["call"]["outcome"] == "ok"


def test_a_port_that_is_taken_is_reported_in_a_sentence(dataset: str, front: Front) -> None:
    taken = str(front.server_port)
    with pytest.raises(SystemExit, match=rf"Port {taken} cannot be used: .+\. Choose another one with --port\."):
        main(["--port", taken, "--uri", dataset, "--embedding", "local-small"])
