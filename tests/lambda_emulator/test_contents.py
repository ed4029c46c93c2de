"""Files that a package must not have."""

from __future__ import annotations

from pathlib import Path

import pytest
from backports import zstd

from lambda_emulator.artifact import find_function
from lambda_emulator.contents import find_faults
from tests.support.engine import make_library


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
    assert find_faults(find_function(build), "x86_64") == []
    (build / "KnowledgeLayer/python" / path).parent.mkdir(parents=True)
    (build / "KnowledgeLayer/python" / path).touch()
    (found,) = find_faults(find_function(build), "x86_64")
    assert found.startswith(f"KnowledgeLayer/python/{path}: ")


def test_a_library_for_another_machine_is_found_packed_or_not(build: Path) -> None:
    python = build / "EngineLayer/python"
    (python / "plain.so").write_bytes(make_library("arm64"))
    (python / "packed.so.1.zst").write_bytes(zstd.compress(make_library("arm64")))
    assert len(find_faults(find_function(build), "x86_64")) == 2
    assert find_faults(find_function(build), "arm64") == []
