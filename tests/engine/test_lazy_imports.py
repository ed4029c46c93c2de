"""Front modules that import later: made-up ones, and the real ones that the engine layer makes lazy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import copy, copytree
from typing import Final

import pytest

import lazy_imports
from engine_build.lazy import FRONTS, UnexpectedError, lazy, make_lazy

HERE: Final = Path(lazy_imports.__file__)
FRONT: Final = '''"""A shop."""

from shop.tills import (
    Till,
    Drawer as Box,
)
from .goods import Apple
from json import dumps

Chest = Box

def weigh(what: Apple) -> Till: ...
'''


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with a package `shop`, made lazy, whose modules say when they are imported."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/__init__.py").write_text(FRONT, encoding="utf-8")
    (tmp_path / "shop/tills.py").write_text("print('tills')\nclass Till: ...\nclass Drawer: ...\n", encoding="utf-8")
    (tmp_path / "shop/goods.py").write_text("print('goods')\nclass Apple: ...\n", encoding="utf-8")
    (tmp_path / "shop/torn.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
    copy(HERE, tmp_path)
    assert make_lazy(tmp_path, {"shop/__init__.py": "shop"}) == []
    return tmp_path


def run(folder: Path, code: str) -> str:
    """What a Python that sees only this folder and the installed packages prints, its last error line included."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    return done.stdout + "".join(done.stderr.splitlines()[-1:])


def test_nothing_is_imported_before_it_is_asked_for(shop: Path) -> None:
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


@pytest.mark.parametrize(
    ("text", "reason"),
    [("import json\n", "imports nothing from"), ("from shop.tills import Till\nclass Big(Till): ...\n", "uses Till")],
)
def test_a_front_module_of_another_kind_stays_as_it_is(tmp_path: Path, text: str, reason: str) -> None:
    front = tmp_path / "shop/__init__.py"
    front.parent.mkdir()
    front.write_text(text, encoding="utf-8")
    (told,) = make_lazy(tmp_path, {"shop/__init__.py": "shop"})
    assert reason in told
    assert front.read_text(encoding="utf-8") == text


def test_a_front_module_that_is_gone_stops_nothing(tmp_path: Path) -> None:
    (told,) = make_lazy(tmp_path, {"shop/__init__.py": "shop"})
    assert told.startswith("shop/__init__.py stays as it is")


def test_only_imports_from_below_the_package_wait() -> None:
    with pytest.raises(UnexpectedError):
        lazy("from .. import tills\nfrom shopping.tills import Till\n", "shop.inner", "shop")


NAMES: Final = """
import importlib, json, sys
module = importlib.import_module(sys.argv[1])
wanted = sys.argv[2:] or [name for name in vars(module) if not name.startswith("_")]
found = {name: getattr(module, name) for name in wanted}
print(json.dumps({name: f"{getattr(one, '__module__', '')}:{getattr(one, '__qualname__', type(one))}"
                  for name, one in found.items()}))
"""


@pytest.mark.parametrize("front", FRONTS)
def test_the_engine_s_lazy_packages_offer_what_the_installed_ones_do(tmp_path: Path, front: str) -> None:
    package = front.removesuffix("/__init__.py").replace("/", ".")
    spec = find_spec(package.partition(".")[0])
    assert spec is not None
    source = Path(str(spec.origin)).parent
    copytree(source, tmp_path / "site" / source.name)
    copy(HERE, tmp_path / "site")
    plain = json.loads(names(tmp_path, package))
    assert make_lazy(tmp_path / "site", {front: FRONTS[front]}) == []
    assert json.loads(names(tmp_path / "site", package, *plain)) == plain


def names(folder: Path, package: str, *wanted: str) -> str:
    """What names a package offers, and where each comes from."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", NAMES, package, *wanted]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
