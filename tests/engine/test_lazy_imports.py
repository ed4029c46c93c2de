"""Deferred imports of a package, in an interpreter of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(folder: Path, code: str) -> str:
    """The output of a Python with this folder and the installed packages, and the last line of its errors."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    return done.stdout + "".join(done.stderr.splitlines()[-1:])


def test_nothing_is_imported_before_it_is_used(shop: Path) -> None:
    assert run(shop, "import shop; print('now'); shop.Till; shop.Till; print(shop.__doc__)") == "now\ntills\nA shop.\n"


def test_every_name_is_the_real_one(shop: Path) -> None:
    code = "from shop import Till, Box, Chest, Apple, dumps\nimport shop.tills as t, shop.goods as g\n"
    code += "print(Till is t.Till, Box is Chest is t.Drawer, Apple is g.Apple, dumps(1))"
    assert run(shop, code).splitlines()[-1] == "True True True 1"


def test_a_submodule_is_found_as_it_was_after_the_import(shop: Path) -> None:
    assert run(shop, "import shop; print(shop.tills.Drawer.__name__)") == "tills\nDrawer\n"


def test_a_name_that_is_none_is_an_attribute_error(shop: Path) -> None:
    assert run(shop, "import shop; shop.pear").endswith("AttributeError: module 'shop' has no attribute 'pear'")
    assert run(shop, "import shop; print(hasattr(shop, '__wrapped__'))") == "False\n"
    assert "ImportError: cannot import name 'Pear'" in run(shop, "from shop import Pear")


def test_a_fault_inside_a_submodule_shows_itself(shop: Path) -> None:
    assert run(shop, "import shop; shop.torn") == "ModuleNotFoundError: No module named 'nothing_of_this_name'"
