"""What looks at a built package and runs it, on small packages made here and with an emulator of a few lines."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from backports import zstd

from engine_build.files import ELF_MACHINES
from lambda_emulator import size
from lambda_emulator.answers import differences, readable, sample
from lambda_emulator.artifact import FUNCTION, ArtifactError, function, functions
from lambda_emulator.contents import faults
from lambda_emulator.sandbox import Machine, SandboxError, started
from lambda_emulator.storage import BUCKET, s3_server

TEMPLATE: Final = f"""
Resources:
  {FUNCTION}:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: {FUNCTION}
      Handler: tool.app.handler
      Layers: [{{Ref: EngineLayer}}, {{Ref: KnowledgeLayer}}]
      Environment:
        Variables: {{PLAIN: "1", MADE: {{"Fn::Sub": "x"}}}}
  EngineLayer:
    Type: AWS::Serverless::LayerVersion
    Properties: {{ContentUri: EngineLayer}}
"""
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
def build(tmp_path: Path) -> Path:
    """A built package of one function and two layers, for x86_64."""
    folder = tmp_path / "build"
    for path in (f"{FUNCTION}/tool/app.py", "EngineLayer/python/engine.py", "KnowledgeLayer/python/knowledge.py"):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text("x = 1\n", encoding="utf-8")
    (folder / "template.yaml").write_text(TEMPLATE, encoding="utf-8")
    noted = {
        "architecture": "x86_64",
        "downloaded": {"big": 9_000_000, "a": 5, "b": 6},
        "shipped": {"big": 2_000_000, "a": 3},
    }
    (folder / "EngineLayer/engine-build.json").write_text(json.dumps(noted), encoding="utf-8")
    manifest = {"bytes_of": {"big.so": 7_000_000}}
    (folder / "EngineLayer/python/native_loader.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


@pytest.fixture
def emulator(tmp_path: Path) -> Path:
    path = tmp_path / "emulator"
    path.write_text(f"#!{sys.executable}\n{ANSWERING}", encoding="utf-8")
    path.chmod(0o755)
    return path


def library(architecture: str) -> bytes:
    return b"\x7fELF\x02\x01\x01" + bytes(11) + ELF_MACHINES[architecture].to_bytes(2, "little") + bytes(44)


def run(build: Path, machine: Machine, folder: Path, **settings: str) -> dict[str, Any]:
    """What the function sees of its surroundings."""
    folder.mkdir()
    with started(function(build), machine, settings, folder) as running:
        seen: dict[str, Any] = running.invoke({"an": "event"})
    return {**seen, "isolated": running.isolated}


def test_a_built_template_tells_the_function_s_parts(build: Path) -> None:
    found = function(build)
    assert found.folder == build / FUNCTION
    assert [layer.name for layer in found.layers] == ["EngineLayer", "KnowledgeLayer"]
    assert (found.handler, found.environment) == ("tool.app.handler", {"PLAIN": "1"})


def test_a_missing_build_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="run `make build`"):
        functions(tmp_path)


def test_another_function_s_name_is_told(build: Path) -> None:
    with pytest.raises(ArtifactError, match="has no function Other"):
        function(build, "Other")


@pytest.mark.parametrize(
    "path",
    [
        "publish_knowledge/cli.py",
        "local_gateway/x.py",
        "numpy/tests/test_a.py",
        "pandas/__init__.py",
        "boto3/session.py",
    ],
)
def test_what_must_not_be_shipped_is_found(build: Path, path: str) -> None:
    assert faults(function(build), "x86_64") == []
    (build / "KnowledgeLayer/python" / path).parent.mkdir(parents=True)
    (build / "KnowledgeLayer/python" / path).touch()
    (found,) = faults(function(build), "x86_64")
    assert found.startswith(f"KnowledgeLayer/python/{path}: ")


def test_a_library_for_another_machine_is_found_packed_or_not(build: Path) -> None:
    python = build / "EngineLayer/python"
    (python / "plain.so").write_bytes(library("arm64"))
    (python / "packed.so.1.zst").write_bytes(zstd.compress(library("arm64")))
    assert len(faults(function(build), "x86_64")) == 2
    assert faults(function(build), "arm64") == []


def test_the_table_shows_before_after_and_what_is_left(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert size.main([str(build)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["big", "9,000,000", "2,000,000"] in lines
    assert ["2", "smaller", "ones", "11", "3"] in lines
    assert lines[-2][-1] == "7,000,000"


@pytest.mark.parametrize("place", ["EngineLayer/python/big.bin", f"{FUNCTION}/big.bin"])
def test_a_package_over_the_limit_fails(build: Path, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    with (build / place).open("wb") as sparse:
        sparse.truncate(size.LIMIT_BYTES)
    assert size.main([str(build)]) == 1
    assert "over the limit of 250,000,000" in capsys.readouterr().err


def test_too_much_for_the_temporary_folder_fails(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = {"bytes_of": {"big.so": size.TEMPORARY_BYTES + 1}}
    (build / "EngineLayer/python/native_loader.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert size.main([str(build)]) == 1
    assert "unpacks 450,000,001 bytes" in capsys.readouterr().err


def test_weighing_nothing_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert size.main([str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("size: ")


def test_a_function_runs_in_a_place_like_lambda_s(build: Path, emulator: Path, tmp_path: Path) -> None:
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


def test_a_python_that_the_place_would_hide_runs_it_by_its_paths(build: Path, emulator: Path, tmp_path: Path) -> None:
    seen = run(build, Machine(emulator, Path("/opt/python/bin/python")), tmp_path / "run")
    assert not seen["isolated"]
    roots = [build / FUNCTION, build / "EngineLayer/python", build / "KnowledgeLayer/python"]
    assert seen["environment"]["PYTHONPATH"] == ":".join(map(str, roots))
    with pytest.raises(ProcessLookupError):
        os.kill(seen["pid"], 0)


def test_an_emulator_that_ends_is_told_with_its_log(build: Path, emulator: Path, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="not today"):
        run(build, Machine(emulator, Path(sys.executable)), tmp_path / "run", EXIT="now")


def test_a_function_that_dies_is_told_with_its_log(build: Path, emulator: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with (
        started(function(build), Machine(emulator, Path(sys.executable)), {}, tmp_path / "run") as running,
        pytest.raises(SandboxError, match="listening"),
    ):
        running.invoke("stop")


def test_the_s3_server_has_one_empty_bucket_and_ends() -> None:
    with s3_server() as settings:
        bucket = f"{settings['AWS_ENDPOINT_URL']}/{BUCKET}"
        with urlopen(bucket, timeout=10) as listed:  # noqa: S310 - http, on this machine
            body = listed.read()
    assert b"<Name>knowledge</Name>" in body
    assert b"<Contents>" not in body
    with pytest.raises(URLError, match="refused"):
        urlopen(bucket, timeout=10)  # noqa: S310 - as above


@pytest.mark.parametrize(
    ("expected", "found", "lines"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, []),
        ({"a": [1]}, {"a": [1, 2]}, []),
        ({"a": {"b": None}}, {"a": {"b": None}}, []),
        ({"a": 1}, {}, ["answer.a is missing"]),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, ["answer.a.b is 2, expected 1"]),
        ([1, 2], [1], ["answer is [1], expected [1, 2]"]),
        ({"a": True}, {"a": 1}, ["answer.a is 1, expected true"]),
        ({"a": {}}, {"a": "text"}, ['answer.a is "text", expected {}']),
    ],
    ids=str,
)
def test_an_answer_must_hold_the_expected_part(expected: object, found: object, lines: list[str]) -> None:
    assert list(differences(expected, found)) == lines


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"body": '{"a": 1}'}, {"body": {"a": 1}}),
        ({"body": ""}, {"body": None}),
        ({"body": "plain"}, {"body": "plain"}),
        ({"errorMessage": "x"}, {"errorMessage": "x"}),
        (None, None),
    ],
    ids=str,
)
def test_a_body_is_read_as_json_where_it_is(answer: object, expected: object) -> None:
    assert readable(answer) == expected


def test_every_event_file_can_be_read() -> None:
    paths = sorted((Path(__file__).parents[2] / "events").glob("*.json"))
    assert paths
    assert all(sample(path).expected["statusCode"] for path in paths)
