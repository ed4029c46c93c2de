"""Documents are converted in processes that are replaced when they are late, dead or worn."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from publish_knowledge.conversion import processes
from publish_knowledge.conversion.processes import ConversionPool, Worker, limit_seconds
from publish_knowledge.conversion.protocol import ConversionError


def test_documents_are_converted_side_by_side() -> None:
    with ConversionPool(2) as pool:
        results = [pool.submit(pool.convert, ".csv", f"a\n{number}\n".encode()) for number in range(20)]
        assert [result().text for result in results] == [f"| a |\n| --- |\n| {number} |\n" for number in range(20)]


def test_an_error_leaves_the_worker_for_the_next_document() -> None:
    with ConversionPool(1) as pool:
        with pytest.raises(ConversionError, match="It is empty"):
            pool.convert(".csv", b"")
        assert pool.convert(".csv", b"a\n1\n").text


def test_a_document_that_takes_too_long_is_refused_and_the_next_one_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    with ConversionPool(1) as pool:
        monkeypatch.setattr(processes, "SECONDS", 0.0)
        with pytest.raises(ConversionError, match="takes longer than 0 seconds"):
            pool.convert(".csv", b"a\n1\n" * 1_000)
        monkeypatch.setattr(processes, "SECONDS", 30.0)
        assert pool.convert(".csv", b"a\n1\n").text


def test_a_worker_that_died_is_replaced() -> None:
    worker = Worker()
    try:
        assert worker.convert(".csv", b"a\n", 30).text
        os.kill(worker._process.pid, signal.SIGKILL)  # noqa: SLF001 - what the system does at the limit of memory
        with pytest.raises(ConversionError, match="ended the process"):
            worker.convert(".csv", b"a\n" * 100_000, 30)
        assert worker.is_worn
    finally:
        worker.close()


def test_a_worn_worker_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "RECYCLED_AFTER", 1)
    with ConversionPool(1) as pool:
        assert [pool.convert(".csv", b"a\n").text for _ in range(2)] == ["| a |\n| --- |\n"] * 2


def test_nothing_beside_the_documents_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "csv.py").write_text("raise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    tools = Path(processes.__file__).parents[2]
    folders = [tools, tools.parent / "layers" / "knowledge"]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, folders)))
    with ConversionPool(1) as pool:
        assert pool.convert(".csv", b"a\n").text


def test_the_limit_grows_with_the_size() -> None:
    assert limit_seconds(0) < limit_seconds(10_000_000)
