"""Which files a batch holds, in a stable order, and the path by which each is known."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from publish_knowledge.sources.documents import TextKind
from publish_knowledge.sources.file_errors import Problem, UnusableFileError

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
    root: Path


@dataclass(frozen=True, slots=True)
class Sources:
    """The files found, ordered by path, and those that cannot be taken.

    `folders` are the paths below which everything was looked at, each with a slash at its end; "" is the root itself.
    """

    files: tuple[Source, ...]
    problems: tuple[Problem, ...]
    folders: tuple[str, ...]


def find(paths: Sequence[Path], root: Path | None = None) -> Sources:
    """Find the files of folders, at any depth, and files given one by one; raises `RootError`.

    Hidden entries and links to folders are passed over, so that a loop of links cannot hold the search up; a link to
    a file is read as that file. Without a root a folder keeps its name (`docs` gives `docs/install.md`), so that two
    folders published into one base stay apart; files keep that of the innermost folder that holds all of them.
    """
    given = [_absolute(path) for path in paths]
    roots = _roots(given, root)
    files: dict[str, Source] = {}
    problems: dict[Path, Problem] = {}
    for file, known in ((file, roots[path]) for path in given for file in _files([path])):
        try:
            source = _source(file, known)
            _keep(files, source)
        except UnusableFileError as error:
            problems[file] = Problem(_shown(file.name), str(error))
    folders = [_relative(path, roots[path]) for path in given if path.is_dir()]
    below = tuple(sorted({f"{folder}/" if folder != "." else "" for folder in folders}))
    return Sources(tuple(files[path] for path in sorted(files)), tuple(problems.values()), below)


def _roots(given: Sequence[Path], root: Path | None) -> dict[Path, Path]:
    if root is not None:
        return dict.fromkeys(given, _absolute(root))
    files = [path for path in given if not path.is_dir()]
    return {path: (path.parent if path.is_dir() else _innermost(files).parent) for path in given}


def _innermost(files: Sequence[Path]) -> Path:
    try:
        return Path(os.path.commonpath([file.parent for file in files]))
    except ValueError as error:
        raise RootError("The paths have no folder in common. Publish them one after the other.") from error


def _keep(files: dict[str, Source], source: Source) -> None:
    if files.setdefault(source.path, source).file != source.file:
        other = _shown(str(files[source.path].file))
        raise UnusableFileError(f"{other} is known as {source.path} too. Give --root, or publish them into two bases.")


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
    path = _relative(file, root)
    if path != _shown(path):
        raise UnusableFileError("Its name is not valid UTF-8. Rename it.")
    return Source(file, path, kind, root)


def _relative(path: Path, root: Path) -> str:
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        raise RootError(f"{_shown(str(path))} does not lie under the root {_shown(str(root))}.") from None


def _kind(name: str) -> TextKind | None:
    return KINDS.get(Path(name).suffix.lower())


def _absolute(path: Path) -> Path:
    # Links are left as they are: a folder is known by the name its user gives it.
    return Path(os.path.normpath(path.absolute()))


def _shown(name: str) -> str:
    """A file name that any output can carry: bytes that are no UTF-8 replaced."""
    return os.fsencode(name).decode("utf-8", "replace")
