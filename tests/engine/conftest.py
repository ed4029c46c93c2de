from __future__ import annotations

from pathlib import Path
from shutil import copy

import pytest

from engine_build.lazy import make_lazy
from tests.support.engine import FRONT, LAZY_IMPORTS


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with a lazy package `shop`, whose modules print their names when they are imported."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/__init__.py").write_text(FRONT, encoding="utf-8")
    (tmp_path / "shop/tills.py").write_text("print('tills')\nclass Till: ...\nclass Drawer: ...\n", encoding="utf-8")
    (tmp_path / "shop/goods.py").write_text("print('goods')\nclass Apple: ...\n", encoding="utf-8")
    (tmp_path / "shop/torn.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
    copy(LAZY_IMPORTS, tmp_path)
    assert make_lazy(tmp_path, {"shop/__init__.py": "shop"}) == []
    return tmp_path
