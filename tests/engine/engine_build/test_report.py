"""Bytes by distribution."""

from __future__ import annotations

from pathlib import Path

from engine_build.report import find_owners, measure_sizes
from tests.support.engine import write_files


def test_bytes_are_counted_for_the_distribution_that_brought_the_file(tmp_path: Path) -> None:
    site = write_files(tmp_path, "a/a.so", "b_module.py", "own.json")
    write_files(site, "A_Dist-1.0.dist-info/RECORD", data=b"a/a.so,sha256=x,4\n")
    write_files(site, "b-2.dist-info/RECORD", data=b"b_module.py,,\n")
    owner_of = find_owners(site)
    (site / "a/a.so").rename(site / "a/a.so.zst")
    for record in site.rglob("RECORD"):
        record.unlink()
    write_files(site, "__pycache__/b_module.cpython-313.pyc", "a/a.py", "a/__pycache__/a.cpython-313.pyc")
    assert measure_sizes(site, owner_of) == {"a-dist": 12, "b": 8, "native_loader": 4}
