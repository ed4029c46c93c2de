"""Find the files of a batch, in a stable order, and the path that identifies each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from publish_knowledge.passages.markdown_blocks import TextKind
from publish_knowledge.sources.file_errors import FileError, UnusableFileError

KINDS: Final[dict[str, TextKind]] = {".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".txt": "plain"}
"""File name extensions that are published, in either case."""


class RootError(ValueError):
    """The given paths are not below the given root, or have no folder in common."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file. `path` is relative to the root, with forward slashes, and identifies the item."""

    file: Path
    path: str
    kind: TextKind
    root: Path


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The files found, ordered by path, and those that cannot be published.

    `folders` are the paths that were searched whole, each with a slash at its end; "" is the root itself.
    """

    files: tuple[SourceFile, ...]
    errors: tuple[FileError, ...]
    folders: tuple[str, ...]


def find_files(paths: Sequence[Path], root: Path | None = None) -> FoundFiles:
    """Find the files of folders, at any depth, and files given one by one; raises `RootError`.

    Hidden entries and links to folders are skipped, so that the search ends even in a loop of links; a link to a file
    is read as that file. Without a root a folder keeps its name (`docs` gives `docs/install.md`), so that two folders
    published into one base stay apart; files keep the name of the innermost folder that contains all of them.
    """
    given = [_make_absolute(path) for path in paths]
    roots = _find_roots(given, root)
    files: dict[str, SourceFile] = {}
    errors: dict[Path, FileError] = {}
    for path in given:
        for file in _list_files(path):
            try:
                _add_file(files, _make_source_file(file, roots[path]))
            except UnusableFileError as error:
                errors[file] = FileError(_printable(file.name), str(error))
    searched = {_make_relative(path, roots[path]) for path in given if path.is_dir()}
    folders = sorted(f"{folder}/" if folder != "." else "" for folder in searched)
    return FoundFiles(tuple(files[path] for path in sorted(files)), tuple(errors.values()), tuple(folders))


def _find_roots(given: Sequence[Path], root: Path | None) -> dict[Path, Path]:
    if root is not None:
        return dict.fromkeys(given, _make_absolute(root))
    files = [path for path in given if not path.is_dir()]
    return {path: (path.parent if path.is_dir() else _find_common_folder(files).parent) for path in given}


def _find_common_folder(files: Sequence[Path]) -> Path:
    try:
        return Path(os.path.commonpath([file.parent for file in files]))
    except ValueError as error:
        raise RootError("The paths have no folder in common. Publish them one after the other.") from error


def _add_file(files: dict[str, SourceFile], source: SourceFile) -> None:
    if files.setdefault(source.path, source).file != source.file:
        other = _printable(str(files[source.path].file))
        raise UnusableFileError(f"{other} is known as {source.path} too. Give --root, or publish them into two bases.")


def _list_files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for current, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and _find_kind(name):
                yield Path(current, name)


def _make_source_file(file: Path, root: Path) -> SourceFile:
    kind = _find_kind(file.name)
    if kind is None:
        raise UnusableFileError(f"Only {', '.join(KINDS)} files can be published.")
    path = _make_relative(file, root)
    if path != _printable(path):
        raise UnusableFileError("Its name is not valid UTF-8. Rename it.")
    return SourceFile(file, path, kind, root)


def _make_relative(path: Path, root: Path) -> str:
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        raise RootError(f"{_printable(str(path))} does not lie under the root {_printable(str(root))}.") from None


def _find_kind(name: str) -> TextKind | None:
    return KINDS.get(Path(name).suffix.lower())


def _make_absolute(path: Path) -> Path:
    # Links are not resolved: a folder is identified by the name its user gives it.
    return Path(os.path.normpath(path.absolute()))


def _printable(name: str) -> str:
    """A file name that any output can encode: bytes that are not UTF-8 are replaced."""
    return os.fsencode(name).decode("utf-8", "replace")
