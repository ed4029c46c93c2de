"""The build as a command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine_build.__main__ import check_python
from engine_build.files import BuildError


def test_another_python_than_the_function_s_is_refused() -> None:
    check_python((3, 13, 0))
    with pytest.raises(BuildError, match=r"built with Python 3\.13, the function's own; this is 3\.12"):
        check_python((3, 12, 9))


def test_an_expected_fault_is_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "engine_build", "--architecture=arm64", "--models=lokal", f"--output={tmp_path}"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith("engine_build: ")
    assert len(ended.stderr.splitlines()) == 1
