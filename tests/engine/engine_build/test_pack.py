"""Native libraries packed for the layer; tests/engine/test_native_loader.py unpacks them."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_build.files import BuildError
from engine_build.pack import Pack, pack
from tests.support.engine import write_files


@pytest.mark.parametrize("files", [[], ["a/x.1.so", "a/x.2.so"], ["a/x.1.so"]])
def test_a_library_that_moved_stops_the_build(tmp_path: Path, files: list[str]) -> None:
    site = write_files(tmp_path, "other", *files)
    with pytest.raises(BuildError, match=r"a\.x is not where it was"):
        pack(site, "arm64", "3.13", [Pack("a.x", "a/x.*.so", ("a/lib*",))])
