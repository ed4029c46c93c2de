"""Build the wheel, install it into an empty environment, and publish and search with it: `make wheel`.

What is tested elsewhere is the source tree; this is what users install. The dependencies are those of the lock.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.architecture.source import ROOT

LOCK: Final = "requirements/publish.txt"
TEXTS: Final = {
    "refunds.md": "# Refunds\n\nRefunds are paid within five working days after the goods have arrived.\n",
    "install.md": "# Install\n\nRun the installer with the usual rights.\n",
}
TARGET: Final = ("--uri", "dataset", "--team", "support", "--embedding", "local-small", "--json")


def build_wheel(folder: Path) -> Path:
    """Build with the locked hatchling of this environment."""
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def assert_complete(wheel: Path) -> None:
    """Every file of the packages that the wheel is declared to have is in it, data beside code, and nothing else."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    sources = [ROOT / path for path in declared["targets"]["wheel"]["packages"]]
    files = (file.relative_to(source.parent) for source in sources for file in source.rglob("*") if file.is_file())
    expected = {file.as_posix() for file in files if "__pycache__" not in file.parts}
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == expected, sorted(packed ^ expected)
    assert any(name.endswith(".npy") for name in packed)


def install(wheel: Path, python: str, folder: Path) -> Path:
    """Make an environment of the locked packages and the wheel alone; returns its folder of programs."""
    run([python, "-m", "venv", folder], ROOT)
    programs = folder / "bin"
    pip: list[str | Path] = [
        programs / "python",
        "-m",
        "pip",
        "install",
        "-qq",
        "--disable-pip-version-check",
        "--no-input",
    ]
    run([*pip, "--require-hashes", "--only-binary", ":all:", "--requirement", ROOT / LOCK], ROOT)
    run([*pip, "--no-deps", wheel], ROOT)
    run([programs / "python", "-m", "pip", "check", "--disable-pip-version-check"], ROOT)
    return programs


def assert_works(programs: Path, folder: Path) -> None:
    """Publish two texts with the installed command, and find the one that a query is about."""
    for name, text in TEXTS.items():
        path = folder / "docs" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    report = knowledge(programs, folder, "publish", "docs", "--base", "handbook")
    assert report["counts"] == {"created": len(TEXTS), "problems": 0}, report
    answer = knowledge(programs, folder, "search", "when are refunds paid")
    assert answer["results"][0]["source"]["uri"] == "docs/refunds.md", answer


def knowledge(programs: Path, folder: Path, *arguments: str) -> Any:  # noqa: ANN401 - a JSON document
    """The document that a command prints."""
    return json.loads(run([programs / "knowledge", *arguments, *TARGET], folder))


def run(command: Sequence[str | Path], folder: Path) -> str:
    """Run a command without the settings of this process; returns its standard output."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "KNOWLEDGE_"))}
    environ |= {"KNOWLEDGE_CACHE_DIR": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=folder, env=environ, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="interpreter of the empty environment")
    python = parser.parse_args().python
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build_wheel(folder / "dist")
        assert_complete(wheel)
        programs = install(wheel, python, folder / "venv")
        work = folder / "work"
        work.mkdir()
        assert_works(programs, work)
        version = run([programs / "python", "--version"], work).strip()
        print(f"{wheel.name} published and searched under {version}")


if __name__ == "__main__":
    main()
