"""Which files a batch holds, in a stable order, and the path by which each is known."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from publish_knowledge.documents import TextKind
from publish_knowledge.problems import Problem, UnusableFileError

KINDS: Final[dict[str, TextKind]] = {".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".txt": "plain"}
"""File name endings that are published, whatever their case."""


class RootError(ValueError):
    """The given paths do not lie under the given root."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file. `path` is relative to the root, with forward slashes, and is what the item is known by."""

    file: Path
    path: str
    kind: TextKind


@dataclass(frozen=True, slots=True)
class Sources:
    """The files found under one root, ordered by path, and those that cannot be taken."""

    root: Path
    files: tuple[Source, ...]
    problems: tuple[Problem, ...]


def find(paths: Sequence[Path], root: Path | None = None) -> Sources:
    """Find the files of folders, at any depth, and files given one by one; raises `RootError`.

    Hidden entries and links to folders are passed over, so that a loop of links cannot hold the search up; a link to
    a file is read as that file. Without a root the paths relate to the innermost folder that holds all of them.
    """
    known = common_root(paths) if root is None else root.absolute()
    known = Path(os.path.normpath(known))
    files: dict[str, Source] = {}
    problems: list[Problem] = []
    for file in _files(paths):
        try:
            source = _source(file, known)
        except UnusableFileError as error:
            problems.append(Problem(_shown(file.name), str(error)))
        else:
            files[source.path] = source
    return Sources(known, tuple(files[path] for path in sorted(files)), tuple(problems))


def common_root(paths: Sequence[Path]) -> Path:
    """The folder itself for one folder, a file's folder for one file, their innermost common folder for several."""
    folders = [path if path.is_dir() else path.parent for path in map(_absolute, paths)]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError as error:
        raise RootError("The paths have no folder in common. Publish them one after the other.") from error


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in map(_absolute, paths):
        if path.is_dir():
            yield from _walk(path)
        else:
            yield path


def _walk(folder: Path) -> Iterator[Path]:
    for current, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and _kind(name):
                yield Path(current, name)


def _source(file: Path, root: Path) -> Source:
    kind = _kind(file.name)
    if kind is None:
        raise UnusableFileError(f"Only {', '.join(KINDS)} files can be published.")
    try:
        path = file.relative_to(root).as_posix()
    except ValueError:
        raise RootError(f"{_shown(str(file))} does not lie under the root {_shown(str(root))}.") from None
    if path != _shown(path):
        raise UnusableFileError("Its name is not valid UTF-8. Rename it.")
    return Source(file, path, kind)


def _kind(name: str) -> TextKind | None:
    return KINDS.get(Path(name).suffix.lower())


def _absolute(path: Path) -> Path:
    # Links are left as they are: a folder is known by the name its user gives it.
    return Path(os.path.normpath(path.absolute()))


def _shown(name: str) -> str:
    """A file name that any output can carry: bytes that are no UTF-8 replaced."""
    return os.fsencode(name).decode("utf-8", "replace")
