"""Find what must not be in a package: the publisher, tests, libraries of publishing alone, foreign machine code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from backports import zstd

from engine_build.files import HEADER_BYTES, is_library, list_files, read_architecture
from lambda_emulator.artifact import ENGINE, ArtifactError, Function

UNWANTED: Final = {
    "another part of the project": (
        "publish_knowledge",
        "local_gateway",
        "local_s3",
        "lambda_emulator",
        "engine_build",
        "benchmarks",
    ),
    "test code": ("tests", "conftest.py", "pytest", "_pytest", "hypothesis", "moto"),
    "not used by the function": ("pandas", "polars", "py3langid", "rich", "markdown_it", "platformdirs", "yaml"),
    "part of Lambda's run time": ("boto3", "botocore", "awslambdaric"),
}
_REASON: Final = {name: reason for reason, names in UNWANTED.items() for name in names}


def find_faults(function: Function, architecture: str) -> list[str]:
    """Return what is wrong with a function's package, one line each."""
    found: list[str] = []
    for folder in (function.folder, *function.layers):
        paths = list_files(folder)
        found += [f"{folder.name}/{path}: {reason}" for path, reason in _find_unwanted(paths)]
        found += [
            f"{folder.name}/{path}: not for {architecture}" for path in _find_foreign(folder, paths, architecture)
        ]
    return found


def count_unpacked_bytes(layer: Path) -> int:
    """Return how many bytes the engine layer unpacks into the temporary folder; 0 for another layer."""
    return sum(_read_manifest(layer).get("bytes_of", {}).values())


def read_build_report(build: Path) -> dict[str, Any]:
    """Read the report of the engine's build: `architecture`, and bytes by distribution, `downloaded` and `shipped`.

    Raises `ArtifactError`.
    """
    path = build / ENGINE / "engine-build.json"
    if not path.is_file():
        raise ArtifactError(f"{path} is missing: run `make build`")
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return report


def _find_unwanted(paths: list[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        for part in path.split("/"):
            if part in _REASON:
                yield path, _REASON[part]


def _find_foreign(folder: Path, paths: list[str], architecture: str) -> Iterator[str]:
    for path in filter(is_library, paths):
        opened = zstd.open(folder / path) if path.endswith(".zst") else (folder / path).open("rb")
        with opened as library:
            if read_architecture(library.read(HEADER_BYTES)) != architecture:
                yield path


def _read_manifest(layer: Path) -> dict[str, Any]:
    path = layer / "python/native_loader.json"
    manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return manifest
