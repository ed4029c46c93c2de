"""`make bench`: its table, its JSON and its parts, on made-up figures."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benchmarks import bench
from benchmarks.bench import PARTS, Run, measure_part, parse_run, run
from benchmarks.support.figures import Figure, format_number, format_spread, format_table

SLOW = Figure("warm", "query over bare", 1.25, 1.3, "×", "n=9")
RECALL = Figure("growth", "recall@10", 0.95, 0.95, "", "1,000 passages", at_most=False)
SIZE = Figure("memory", "peak", None, 512.25, "MB", "100,000 passages")


def test_a_figure_keeps_its_target_or_falls_short_or_is_only_reported() -> None:
    assert [figure.passes for figure in (SLOW, RECALL, SIZE)] == [False, True, None]


def test_the_table_has_a_line_for_each_figure() -> None:
    lines = [line.split("  ") for line in format_table([SLOW, RECALL, SIZE]).splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert cells == [
        ["part", "figure", "target", "measured", "sizes and spread"],
        ["warm", "query over bare", "≤ 1.25", "1.3 ×", "n=9", "falls short"],
        ["growth", "recall@10", "≥ 0.95", "0.95", "1,000 passages", "pass"],
        ["memory", "peak", "512 MB", "100,000 passages"],
    ]


def test_a_number_of_any_kind_goes_into_json() -> None:
    kept = Figure("growth", "recall@10", 0.9, np.float32(0.5), "", "n=9").as_dict()  # type: ignore[arg-type]
    assert json.loads(json.dumps(kept))["measured"] == 0.5


def test_numbers_keep_three_digits() -> None:
    assert [format_number(value) for value in (0.01234, 1.256, 17, 99.95, 123456.7)] == [
        "0.0123",
        "1.26",
        "17",
        "100",
        "123,457",
    ]


def test_a_spread_gives_the_median_and_the_middle_half() -> None:
    assert format_spread([1, 2, 3, 4, 5, 6, 7]) == "4 ms (2…6, n=7)"


def test_a_run_prints_the_machine_and_the_table_and_keeps_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.json"
    run(Run(("warm",), tmp_path / "new", kept), lambda part, folder: [SLOW] if folder.is_dir() and part else [])
    said = capsys.readouterr().out
    assert "cores" in said
    assert format_table([SLOW]) in said
    figures = json.loads(kept.read_text(encoding="utf-8"))["figures"]
    assert [(figure["name"], figure["passes"]) for figure in figures] == [("query over bare", False)]


def test_a_part_that_breaks_falls_short_and_says_why(tmp_path: Path) -> None:
    (figure,) = measure_part("absent", tmp_path)
    assert figure.passes is False
    assert "KeyError" in figure.detail


def test_some_parts_can_be_asked_for(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bench, "PARTS", dict.fromkeys(("warm", "s3", "cold"), ""))
    assert parse_run(["--only", "s3,warm"]).parts == ("s3", "warm")
    assert parse_run([]).parts == ("warm", "s3", "cold")
    with pytest.raises(SystemExit):
        parse_run(["--only", "tepid"])
    assert "there is no part 'tepid'; there are warm, s3, cold" in capsys.readouterr().err


def test_every_part_has_a_module_and_a_place_in_the_guide() -> None:
    guide = (Path(bench.__file__).parent / "README.md").read_text(encoding="utf-8")
    assert [part for part, module in PARTS.items() if not find_spec(module) or f"\n## {part}\n" not in guide] == []
