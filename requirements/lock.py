"""Compile the dependency tables of `pyproject.toml`, and the `.in` files beside this one, into hashed locks.

Run it by `make lock`; options go on to uv, `--upgrade` above all. Each lock begins with a digest of what it was made
from, so that a test can tell, without a network, that a lock is behind its source.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MARK = "# made from dependency tables: "
# `dev` holds the other two, so it is resolved first and constrains them: one version of a package everywhere.
LOCKS = {
    "dev": ["--extra", "eval", "--extra", "fast", "--extra", "formats", "--extra", "publish", "--group", "dev"],
    "publish": ["--extra", "publish", "--constraint", "requirements/dev.txt"],
    "run": ["--constraint", "requirements/dev.txt"],
}
# Locks of their own, by source: tools whose pins are not the project's, what only the authorizer carries, and the
# engine layer, which has the run-time dependencies but for those that Lambda brings. They are for Lambda's Python.
SIDE_LOCKS = {
    "requirements/engine.in": (
        "layers/engine/requirements.txt",
        [
            *("pyproject.toml", "--constraint", "requirements/dev.txt"),
            *(f"--no-emit-package={name}" for name in ("boto3", "botocore", "s3transfer")),
        ],
    ),
    "requirements/lambda.in": ("requirements/lambda.txt", ["--constraint", "requirements/dev.txt"]),
    "requirements/deploy.in": ("requirements/deploy.txt", []),
    "requirements/audit.in": ("requirements/audit.txt", []),
    "requirements/rivals.in": ("requirements/rivals.txt", []),
    "requirements/authorizer.in": ("functions/authorizer/requirements.txt", ["--constraint", "requirements/dev.txt"]),
}
UV = [
    *("uv", "pip", "compile", "--quiet", "--universal"),
    # One version for every Python, so that what is tested on one is what runs on the other.
    *("--fork-strategy", "fewest"),
    # No index is named: any mirror serves, and the hashes vouch for it.
    *("--generate-hashes", "--no-emit-index-url", "--no-emit-find-links"),
    *("--annotation-style", "line", "--custom-compile-command", "make lock"),
]


def dependency_digest(pyproject: dict[str, Any]) -> str:
    """Digest what the locks are resolved from: dependencies, extras, groups and the Python range."""
    project = pyproject["project"]
    tables = [
        project["requires-python"],
        project["dependencies"],
        project["optional-dependencies"],
        pyproject["dependency-groups"],
    ]
    return hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()


def source_digest(text: str) -> str:
    """Digest the requirements of an `.in` file, its comments left aside."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return hashlib.sha256("\n".join(filter(None, lines)).encode()).hexdigest()


def compile_lock(source: str, lock: str, digest: str, options: list[str]) -> None:
    """Write one lock, keeping the pins it has unless the options say otherwise."""
    subprocess.run([*UV, source, *options, "--output-file", lock], cwd=ROOT, check=True)
    path = ROOT / lock
    path.write_text(f"{MARK}{digest}\n{path.read_text()}")


def main(options: list[str]) -> None:
    """Compile every lock, in order."""
    digest = dependency_digest(tomllib.loads((ROOT / "pyproject.toml").read_text()))
    for name, own in LOCKS.items():
        python = ["--python-version", "3.11"]
        compile_lock("pyproject.toml", f"requirements/{name}.txt", digest, [*python, *own, *options])
    for source, (lock, own) in SIDE_LOCKS.items():
        python = ["--python-version", "3.13"]
        compile_lock(source, lock, source_digest((ROOT / source).read_text()), [*python, *own, *options])


if __name__ == "__main__":
    main(sys.argv[1:])
