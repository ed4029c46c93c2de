"""Front modules rewritten at build time."""

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

from engine_build.lazy import FRONTS, UnexpectedError, make_lazy, rewrite_front
from tests.support.engine import LAZY_IMPORTS


@pytest.mark.parametrize(
    ("text", "reason"),
    [("import json\n", "imports nothing from"), ("from shop.tills import Till\nclass Big(Till): ...\n", "uses Till")],
)
def test_a_front_module_of_another_kind_stays_as_it_is(tmp_path: Path, text: str, reason: str) -> None:
    front = tmp_path / "shop/__init__.py"
    front.parent.mkdir()
    front.write_text(text, encoding="utf-8")
    (reported,) = make_lazy(tmp_path, {"shop/__init__.py": "shop"})
    assert reason in reported
    assert front.read_text(encoding="utf-8") == text


def test_a_missing_front_module_stops_nothing(tmp_path: Path) -> None:
    (reported,) = make_lazy(tmp_path, {"shop/__init__.py": "shop"})
    assert reported.startswith("shop/__init__.py stays as it is")


def test_only_imports_from_below_the_package_wait() -> None:
    with pytest.raises(UnexpectedError):
        rewrite_front("from .. import tills\nfrom shopping.tills import Till\n", "shop.inner", "shop")


NAMES: Final = """
import importlib, json, sys
module = importlib.import_module(sys.argv[1])
wanted = sys.argv[2:] or [name for name in vars(module) if not name.startswith("_")]
found = {name: getattr(module, name) for name in wanted}
print(json.dumps({name: f"{getattr(one, '__module__', '')}:{getattr(one, '__qualname__', type(one))}"
                  for name, one in found.items()}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("front", FRONTS)
def test_the_engine_s_lazy_packages_offer_what_the_installed_ones_do(tmp_path: Path, front: str) -> None:
    package = front.removesuffix("/__init__.py").replace("/", ".")
    spec = find_spec(package.partition(".")[0])
    assert spec is not None
    source = Path(str(spec.origin)).parent
    copytree(source, tmp_path / "site" / source.name)
    copy(LAZY_IMPORTS, tmp_path / "site")
    plain = json.loads(names(tmp_path, package))
    assert make_lazy(tmp_path / "site", {front: FRONTS[front]}) == []
    assert json.loads(names(tmp_path / "site", package, *plain)) == plain


def names(folder: Path, package: str, *wanted: str) -> str:
    """The names that a package offers, and where each comes from, as JSON."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", NAMES, package, *wanted]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
