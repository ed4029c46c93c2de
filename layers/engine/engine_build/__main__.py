"""Build the layer: `python3.13 -m engine_build --architecture arm64 --output FOLDER`; run by the Makefile here."""

from __future__ import annotations

import argparse
import compileall
import json
import shutil
import subprocess
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Final

from engine_build.files import ELF_MACHINES, BuildError, check_architecture, list_files
from engine_build.lazy import make_lazy
from engine_build.pack import pack
from engine_build.prune import prune, select_groups
from engine_build.report import find_owners, measure_sizes

HERE: Final = Path(__file__).resolve().parent.parent
PYTHON: Final = "3.13"
"""The function's Python version; only the same version compiles its bytecode."""
WHEELS: Final = {"x86_64": "x86_64", "arm64": "aarch64"}
PLATFORMS: Final = ("manylinux_2_28", "manylinux_2_24", "manylinux_2_17", "manylinux2014")
"""Platform tags that run on Amazon Linux 2023, whose C library is 2.34."""
OWN_MODULES: Final = ("lazy_imports.py", "native_loader.py")


def build(architecture: str, models: Collection[str], output: Path) -> None:
    """Fill `output` with what Lambda shows under /opt; raises `BuildError`."""
    check_python(sys.version_info)
    groups = select_groups(models)
    site = output / "python"
    _install(site, architecture)
    owner_of = find_owners(site)
    before = measure_sizes(site, owner_of)
    prune(site, groups)
    check_architecture(site, list_files(site), architecture)
    for name in OWN_MODULES:
        shutil.copy(HERE / name, site)
    for line in make_lazy(site):
        sys.stderr.write(f"engine_build: {line}\n")
    pack(site, architecture, PYTHON)
    _compile(site)
    report = {"architecture": architecture, "downloaded": before, "shipped": measure_sizes(site, owner_of)}
    (output / "engine-build.json").write_text(json.dumps(report, indent=1), encoding="utf-8")


def check_python(version: Sequence[object]) -> None:
    """Raise `BuildError` unless a version is the function's."""
    found = f"{version[0]}.{version[1]}"
    if found != PYTHON:
        raise BuildError(f"the engine layer is built with Python {PYTHON}, the function's own; this is {found}")


def _install(site: Path, architecture: str) -> None:
    platforms = [f"--platform={name}_{WHEELS[architecture]}" for name in PLATFORMS]
    command = [
        *(sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-input", "--no-compile"),
        *("--root-user-action=ignore", "--no-deps", "--require-hashes", "--only-binary=:all:"),
        *("--implementation=cp", f"--python-version={PYTHON}", *platforms),
        *(f"--target={site}", f"--requirement={HERE / 'requirements.txt'}"),
    ]
    if subprocess.run(command, check=False).returncode:  # noqa: S603 - spelled out above
        raise BuildError("pip could not install the engine's packages; its message is above")


def _compile(site: Path) -> None:
    # /opt is read-only: modules without bytecode would be compiled again at every cold start.
    # Unchecked hashes, because unpacking the layer changes the files' times.
    if not compileall.compile_dir(
        site,
        quiet=2,
        workers=2,
        stripdir=site,
        prependdir="/opt/python",
        invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
    ):
        raise BuildError("some module of the engine does not compile")


def main() -> None:
    """Read the command line, build, and report an expected fault in one line."""
    parser = argparse.ArgumentParser(prog="engine_build", description="Build the engine layer.")
    parser.add_argument("--architecture", choices=sorted(ELF_MACHINES), required=True)
    parser.add_argument("--models", nargs="*", default=["local"], help="embedding models in the layer (%(default)s)")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    try:
        build(options.architecture, options.models, options.output)
    except BuildError as error:
        sys.exit(f"engine_build: {error}")


if __name__ == "__main__":
    main()
