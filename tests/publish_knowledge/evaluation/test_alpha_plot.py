"""The plot of an alpha sweep: what is drawn, and what prevents it."""

from __future__ import annotations

from pathlib import Path

import pytest

from publish_knowledge.evaluation import alpha_plot
from publish_knowledge.evaluation.alpha_plot import PlotError, check_plot, draw_plot
from publish_knowledge.evaluation.metrics import Metrics
from publish_knowledge.evaluation.report import Report
from publish_knowledge.evaluation.runs import Evaluation, Setting

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
SWEEP = tuple(Setting("hybrid", alpha) for alpha in (0.0, 0.5, 1.0))


def make_report(queries: int) -> Report:
    rows = {setting: [Metrics(setting.alpha, 1.0, 1.0)] * queries for setting in SWEEP}
    return Report(Evaluation(rows), SWEEP[1], (), SWEEP)


@pytest.mark.parametrize("queries", [1, 20], ids=["without_intervals", "with_intervals"])
def test_a_plot_is_a_png_of_readable_size(tmp_path: Path, queries: int) -> None:
    file = tmp_path / "sweep.png"
    check_plot(file)
    draw_plot(make_report(queries), file)
    data = file.read_bytes()
    assert data.startswith(PNG_SIGNATURE)
    assert (int.from_bytes(data[16:20]), int.from_bytes(data[20:24])) == (840, 480)


def test_a_folder_that_does_not_exist_is_found_out_before(tmp_path: Path) -> None:
    with pytest.raises(PlotError, match=r"does not exist\. Make it first"):
        check_plot(tmp_path / "nowhere/sweep.png")


def test_a_missing_library_is_found_out_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alpha_plot, "NEEDED", "a_library_that_is_not_there")
    with pytest.raises(PlotError, match=r"install search-knowledge\[eval\]"):
        check_plot(tmp_path / "sweep.png")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(PlotError, match="cannot be written"):
        draw_plot(make_report(2), tmp_path)
