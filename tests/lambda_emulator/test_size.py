"""The table of sizes, and the limits that it holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lambda_emulator import size
from lambda_emulator.artifact import FUNCTION


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
