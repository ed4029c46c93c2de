"""The project's own source as the architecture tests see it: files, module names, syntax trees and imports."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
IMPORT_ROOTS: Final = ("functions", "layers/engine", "layers/knowledge", "tools")
SHIPPED: Final = ("functions", "layers", "tools")


@dataclass(frozen=True, slots=True)
class Module:
    """One source file: its dotted name, whether it is a package's `__init__`, and its text."""

    name: str
    is_package: bool
    text: str

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)


def module(name: str, text: str, *, is_package: bool = False) -> Module:
    """A made-up module for showing that a checker catches an offence."""
    return Module(name, is_package, text)


@cache
def own_modules() -> tuple[Module, ...]:
    """Every module below the import roots, sorted by name."""
    found = [_read(path, ROOT / root) for root in IMPORT_ROOTS for path in sorted((ROOT / root).rglob("*.py"))]
    return tuple(sorted(found, key=lambda one: one.name))


def shipped_files() -> Iterator[tuple[str, str]]:
    """Path and text of every Python file that is shipped, the engine layer's included."""
    for folder in SHIPPED:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def tracked_texts() -> Iterator[tuple[str, str]]:
    """Path and text of every tracked file, and of every new one that is not ignored; binary files are left out."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in sorted(filter(None, listed.split("\0"))):
        data = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b""
        if b"\0" not in data:
            yield name, data.decode("utf-8", errors="replace")


def imported_names(one: Module) -> set[str]:
    """Absolute dotted names that a module imports, wherever in it; `from a import b` gives both `a` and `a.b`."""
    names: set[str] = set()
    for node in ast.walk(one.tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(one, node)
            names.add(base)
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return names


def top(name: str) -> str:
    """The outermost package of a dotted name."""
    return name.partition(".")[0]


def _read(path: Path, root: Path) -> Module:
    parts = path.relative_to(root).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    return Module(".".join(parts[:-1] if is_package else parts), is_package, path.read_text(encoding="utf-8"))


def _absolute(one: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = one.name.split(".")
    kept = parts[: len(parts) - node.level + one.is_package]
    return ".".join([*kept, node.module] if node.module else kept)
