"""Small built packages, run by an emulator of a few lines."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from lambda_emulator.artifact import FUNCTION, find_function
from lambda_emulator.sandbox import Machine, SandboxError, start_function

ANSWERING: Final = """
import http.server, json, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if event == "stop":
            os._exit(1)
        seen = {"event": event, "environment": dict(os.environ), "arguments": sys.argv,
                "opt": sorted(os.listdir("/opt")), "writable": os.access("/opt/python", os.W_OK), "pid": os.getpid()}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(seen).encode())
if "EXIT" not in os.environ:
    print("listening", flush=True)
    address = sys.argv[1].rpartition(":")[2]
    http.server.HTTPServer(("127.0.0.1", int(address)), Handler).serve_forever()
print("not today")
"""


@pytest.fixture
def emulator(tmp_path: Path) -> Path:
    path = tmp_path / "emulator"
    path.write_text(f"#!{sys.executable}\n{ANSWERING}", encoding="utf-8")
    path.chmod(0o755)
    return path


def run(build: Path, machine: Machine, folder: Path, **settings: str) -> dict[str, Any]:
    """Run the function once and return what it sees of its surroundings."""
    folder.mkdir()
    with start_function(find_function(build), machine, settings, folder) as running:
        seen: dict[str, Any] = running.invoke({"an": "event"})
    return {**seen, "isolated": running.is_isolated}


@pytest.mark.slow
def test_a_function_runs_in_surroundings_like_lambda_s(build: Path, emulator: Path, tmp_path: Path) -> None:
    seen = run(build, Machine(emulator, Path(sys.executable)), tmp_path / "run", EMBEDDING="local")
    assert seen["event"] == {"an": "event"}
    assert seen["arguments"][-3:] == ["-m", "awslambdaric", "tool.app.handler"]
    assert "PATH" in seen["environment"]
    assert not {"HOME", "VIRTUAL_ENV", "PYTEST_CURRENT_TEST"} & set(seen["environment"])
    assert {seen["environment"][name] for name in ("PLAIN", "EMBEDDING")} == {"1", "local"}
    if seen["isolated"]:
        assert seen["environment"]["PYTHONPATH"] == "/var/task:/opt/python"
        assert seen["opt"] == ["engine-build.json", "python"]
        assert not seen["writable"]


def test_a_python_that_the_namespace_would_hide_runs_it_without_one(
    build: Path, emulator: Path, tmp_path: Path
) -> None:
    seen = run(build, Machine(emulator, Path("/opt/python/bin/python")), tmp_path / "run")
    assert not seen["isolated"]
    roots = [build / FUNCTION, build / "EngineLayer/python", build / "KnowledgeLayer/python"]
    assert seen["environment"]["PYTHONPATH"] == ":".join(map(str, roots))
    with pytest.raises(ProcessLookupError):
        os.kill(seen["pid"], 0)


def test_an_emulator_that_ends_is_reported_with_its_log(build: Path, emulator: Path, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="not today"):
        run(build, Machine(emulator, Path(sys.executable)), tmp_path / "run", EXIT="now")


def test_a_function_that_dies_is_reported_with_its_log(build: Path, emulator: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with (
        start_function(find_function(build), Machine(emulator, Path(sys.executable)), {}, tmp_path / "run") as running,
        pytest.raises(SandboxError, match="listening"),
    ):
        running.invoke("stop")
