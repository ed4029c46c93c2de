"""`make invoke` where nothing can be run; with a built package, CI runs it over every event."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Final

import pytest

from lambda_emulator.__main__ import main

TOOLS: Final = ("--python", "python3", "--emulator", "aws-lambda-rie")


def test_a_missing_build_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TOOLS, "--build", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"invoke: {tmp_path}/template.yaml is missing: run `make build`\n"


def test_a_package_for_another_machine_is_not_started(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = "arm64" if platform.machine() == "x86_64" else "x86_64"
    report = build / "EngineLayer/engine-build.json"
    report.write_text(json.dumps({"architecture": other}), encoding="utf-8")
    assert main([*TOOLS, "--build", str(build)]) == 1
    assert f"is for {other}, not for this machine: run `make build`" in capsys.readouterr().err


def test_emulator_and_python_have_to_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([])
    assert "--python, --emulator" in capsys.readouterr().err
