"""Find the files of a batch, in a stable order, and the path that identifies each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from publish_knowledge.sources.file_errors import FileError, RootError
from publish_knowledge.sources.search import KINDS, PassedOver, Search, SourceFile, search_folder, take_named_file
from publish_knowledge.sources.selection import Selection

__all__ = ["KINDS", "FoundFiles", "PassedOver", "RootError", "SourceFile", "find_files"]


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The files found, ordered by path, and those that cannot be published.

    `folders` are the paths that were searched whole, each with a slash at its end; "" is the root itself. Of what is
    below `unseen`, also folders, nothing is known. `links` are links to folders, which are not followed. `siblings` are
    the paths in the folders of files that were given one by one, by folder.
    """

    files: tuple[SourceFile, ...]
    errors: tuple[FileError, ...]
    folders: tuple[str, ...]
    links: tuple[FileError, ...] = ()
    unseen: tuple[str, ...] = ()
    passed_over: tuple[PassedOver, ...] = ()
    siblings: Mapping[str, frozenset[str]] = field(default_factory=dict)


def find_files(paths: Sequence[Path], root: Path | None = None, selection: Selection | None = None) -> FoundFiles:
    """Find the files of folders, at any depth, and files given one by one; raises `RootError` and `PatternError`.

    Links to folders are not followed, so that the search ends even in a loop of links; a link to a file is read as that
    file where that is below the root, too. Without a root a folder keeps its name (`docs` gives `docs/install.md`), so
    that two folders published into one base stay apart; files keep the name of the innermost folder that contains all
    of them. File names that differ in their Unicode form alone are one path.
    """
    given = [_make_absolute(path) for path in paths]
    common = _find_common_folder([path for path in given if not path.is_dir()])
    search = Search(selection or Selection())
    folders: set[str] = set()
    for path in given:
        own_root = _make_absolute(root) if root else (path if path.is_dir() else common).parent
        if path.is_dir():
            folders.add(search_folder(search, path, own_root, own_root if root else path))
        else:
            take_named_file(search, path, own_root, own_root if root else common)
    return FoundFiles(
        files=tuple(search.files[path] for path in sorted(search.files)),
        errors=tuple(search.errors.values()),
        folders=tuple(sorted(folders)),
        links=tuple(search.links),
        unseen=tuple(sorted(search.unseen)),
        passed_over=tuple(search.passed_over[path] for path in sorted(search.passed_over)),
        siblings=search.siblings,
    )


def _find_common_folder(files: Sequence[Path]) -> Path:
    """The innermost folder that holds all files; unused where there are none."""
    try:
        return Path(os.path.commonpath([file.parent for file in files])) if files else Path()
    except ValueError as error:
        raise RootError("The paths have no folder in common. Publish them one after the other.") from error


def _make_absolute(path: Path) -> Path:
    # Links are not resolved: a folder is identified by the name its user gives it.
    return Path(os.path.normpath(path.absolute()))
