"""Packages with a subject: at most thirteen modules in one, and a test file for each module where one looks for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath
from typing import Final

from tests.architecture.source import ROOT, shipped_files
from tests.conftest import LONGEST

MODULES: Final = 13
"""More than about a dozen names are searched, not seen."""

TESTED_SHARE: Final = 0.95

MIRROR: Final = {"functions": "tests", "layers/knowledge": "tests", "layers/engine": "tests/engine", "tools": "tests"}
"""Folder of tests by import root; the path below is the same."""

WITHOUT_A_TEST_FILE: Final[dict[str, str]] = {}
"""Modules that are tested elsewhere, each with the reason."""


def crowded_packages(paths: Iterable[str]) -> list[str]:
    modules = (PurePosixPath(path) for path in paths)
    counted = Counter(str(path.parent) for path in modules if path.name != "__init__.py")
    return [f"{package}: {count} modules" for package, count in sorted(counted.items()) if count > MODULES]


def mirrored_test(path: str) -> str:
    """Where the tests of a module belong."""
    root = next(root for root in MIRROR if path.startswith(f"{root}/"))
    below = PurePosixPath(path).relative_to(root)
    return str(PurePosixPath(MIRROR[root]) / below.parent / f"test_{below.stem.strip('_')}.py")


def untested_modules(paths: Iterable[str], tests: Collection[str]) -> list[str]:
    modules = (path for path in paths if not path.endswith("__init__.py"))
    return [path for path in modules if mirrored_test(path) not in tests]


def shipped_paths() -> list[str]:
    return [path for path, _ in shipped_files()]


def files_of_tests() -> set[str]:
    return {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")}


def missing_files(ends: Iterable[str], tests: Collection[str]) -> list[str]:
    return [end for end in ends if f"tests/{end}" not in tests]


def test_no_package_is_crowded() -> None:
    assert crowded_packages(shipped_paths()) == []


def test_a_crowded_package_is_caught() -> None:
    paths = [f"tools/full/module_{number}.py" for number in range(MODULES + 1)]
    assert crowded_packages([*paths, "tools/full/__init__.py", "tools/small/one.py"]) == ["tools/full: 14 modules"]


def test_every_module_has_a_test_file_or_a_reason() -> None:
    assert sorted(untested_modules(shipped_paths(), files_of_tests())) == sorted(WITHOUT_A_TEST_FILE)


def test_modules_with_a_reason_are_few() -> None:
    modules = [path for path in shipped_paths() if not path.endswith("__init__.py")]
    assert len(WITHOUT_A_TEST_FILE) <= (1 - TESTED_SHARE) * len(modules)


def test_a_module_without_a_test_file_is_caught() -> None:
    paths = ["functions/authorizer/app.py", "layers/engine/engine_build/pack.py", "tools/local_gateway/__main__.py"]
    tests = {"tests/authorizer/test_app.py", "tests/local_gateway/test_main.py"}
    assert untested_modules(paths, tests) == ["layers/engine/engine_build/pack.py"]


def test_the_files_that_go_first_exist() -> None:
    assert missing_files(LONGEST, files_of_tests()) == []


def test_a_file_that_was_moved_is_caught() -> None:
    assert missing_files(["a/test_one.py", "test_two.py"], {"tests/test_two.py"}) == ["a/test_one.py"]
