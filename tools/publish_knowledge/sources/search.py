"""Search folders for files: what is taken, what is passed over, and what could not be looked into."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from publish_knowledge.conversion.formats import FORMATS, find_format
from publish_knowledge.passages.markdown_blocks import TextKind
from publish_knowledge.sources.documents import normalize_path
from publish_knowledge.sources.file_errors import FileError, RootError, UnusableFileError
from publish_knowledge.sources.opening import Entry, follow_link, list_folder, read_bytes
from publish_knowledge.sources.selection import (
    IGNORE_FILE,
    MAX_IGNORE_BYTES,
    PatternError,
    Reason,
    Selection,
    read_ignore_file,
)

KINDS: Final[dict[str, TextKind]] = {".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".txt": "plain"}
"""File name extensions that are published as they are, in either case."""

FormatReason = Literal["format", "not installed"]

MAX_DEPTH: Final = 100
"""Folders within each other. Deeper ones come from a fault, and opening each from the top takes quadratic time."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file. `path` is relative to the root, with forward slashes, and identifies the item.

    It is read as `parts` below `boundary`, where no link is followed any more.
    """

    file: Path
    path: str
    kind: TextKind
    root: Path
    boundary: Path
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A file or folder that is not published, and why: a `Reason`, or what is the matter with its extension.

    "format": it is neither in `KINDS` nor converted; "not installed": what would convert it is missing.
    """

    path: str
    reason: Reason | FormatReason
    is_folder: bool = False


@dataclass(slots=True)
class Search:
    """What was found until now. Paths of folders end with a slash."""

    selection: Selection
    files: dict[str, SourceFile] = field(default_factory=dict)
    errors: dict[str, FileError] = field(default_factory=dict)
    links: list[FileError] = field(default_factory=list)
    unseen: set[str] = field(default_factory=set)
    passed_over: dict[str, PassedOver] = field(default_factory=dict)
    siblings: dict[str, frozenset[str]] = field(default_factory=dict)
    ignore_files: set[Path] = field(default_factory=set)

    def refuse(self, file: Path, shown: str, reason: str) -> None:
        """Report what cannot be published."""
        self.errors.setdefault(str(file), FileError(_make_printable(shown), reason))

    def lose_sight(self, folder: Path, path: str, reason: str) -> None:
        """Report a folder that cannot be looked into: nothing below it counts as gone."""
        self.refuse(folder, path.rstrip("/") or folder.name, reason)
        self.unseen.add(path)

    def pass_over(self, path: str, reason: Reason | FormatReason) -> None:
        """Note what is not published by choice."""
        self.passed_over.setdefault(path, PassedOver(path.rstrip("/"), reason, is_folder=path.endswith("/")))

    def take(self, source: SourceFile) -> None:
        """Take a file, unless another one has its path."""
        first = self.files.setdefault(source.path, source)
        if first.file == source.file:
            return
        if first.root == source.root:
            reason = "Another file here has the same name in another Unicode form (NFC, NFD). Remove one of the two."
            self.refuse(source.file, source.path, reason)
        else:
            other = _make_printable(str(first.file))
            reason = f"{other} is known as {source.path} too. Give --root, or publish them into two bases."
            self.refuse(source.file, source.file.name, reason)


@dataclass(frozen=True, slots=True)
class _Tree:
    """A folder. `base` is its path as items have it; `start` leads to it from `boundary`, without links."""

    folder: Path
    root: Path
    base: str
    boundary: Path
    start: tuple[str, ...]

    def get_parts(self, inner: str) -> tuple[str, ...]:
        """Names on the way from the boundary to a path below the folder."""
        return (*self.start, *PurePosixPath(inner).parts)


def search_folder(search: Search, folder: Path, root: Path, boundary: Path) -> str:
    """Search a folder that was given; returns its path as items have it. Raises `RootError` and `PatternError`."""
    tree = _build_tree(folder, root, boundary)
    base = _find_base(folder, root)
    if tree is None:
        search.lose_sight(folder, base, f"It leads outside the root {root}. Give the folder itself, or another --root.")
        return base
    if folder.is_symlink() and boundary == folder:
        # Perhaps it has become one since the last run: what is there now says nothing about what was.
        search.unseen.add(base)
    _read_outer_ignore_files(search, root, folder)
    pending = [""]
    while pending:
        pending += reversed(_search_level(search, tree, pending.pop()))
    return base


def take_named_file(search: Search, file: Path, root: Path, boundary: Path) -> None:
    """Take a file that was given by its name; raises `RootError` and `PatternError`."""
    path = _make_relative(file, root)
    kind = _find_kind(file.name)
    tree = _build_tree(file.parent, root, boundary)
    if kind is None:
        search.refuse(file, file.name, _explain_format(file.name))
    elif not _is_decodable(path):
        search.refuse(file, file.name, "Its name is not valid UTF-8. Rename it.")
    elif tree is None:
        search.refuse(file, path, f"It lies outside {boundary.name}. Give the file itself, or another --root.")
    else:
        _read_outer_ignore_files(search, root, file)
        _note_siblings(search, tree)
        reason = search.selection.explain(normalize_path(path), is_named=True)
        if reason:
            search.pass_over(normalize_path(path), reason)
        else:
            _take_file(search, tree, file.name, kind)


def _build_tree(folder: Path, root: Path, boundary: Path) -> _Tree | None:
    """`None` where links on the way lead out of the boundary."""
    base = _find_base(folder, root)
    real, real_boundary = Path(os.path.realpath(folder)), Path(os.path.realpath(boundary))
    if not real.is_relative_to(real_boundary):
        return None
    return _Tree(folder, root, base, boundary, real.relative_to(real_boundary).parts)


def _search_level(search: Search, tree: _Tree, inner: str) -> list[str]:
    """Take the entries of one folder, `inner` below the tree's; returns the folders in it, sorted."""
    path = normalize_path(tree.base + inner)
    folder = tree.folder / inner
    if inner.count("/") > MAX_DEPTH:
        search.lose_sight(folder, path, f"It is more than {MAX_DEPTH} folders deep. Nothing in it is published.")
        return []
    try:
        entries = list_folder(tree.boundary, tree.get_parts(inner))
    except OSError as error:
        reason = error.strerror or str(error)
        search.lose_sight(folder, path, f"The folder cannot be listed: {reason}. Nothing in it is published.")
        return []
    if any(entry.name == IGNORE_FILE for entry in entries):
        _read_ignore_file(search, folder, path)
    return [f"{inner}{entry.name}/" for entry in entries if _take_entry(search, tree, inner, entry)]


def _take_entry(search: Search, tree: _Tree, inner: str, entry: Entry) -> bool:
    """Take a file or note why not; true for a folder to search."""
    shown = f"{tree.base}{inner}{entry.name}{'/' if entry.kind in ('folder', 'linked folder') else ''}"
    path = normalize_path(_make_printable(shown))
    reason = search.selection.explain_entry(path, tree.base)
    kind = _find_kind(entry.name)
    if entry.name == IGNORE_FILE:
        return False
    if reason:
        search.pass_over(path, reason)
    elif not _is_decodable(entry.name):
        _refuse_name(search, tree, inner, entry)
    elif entry.kind == "folder":
        return True
    elif entry.kind == "linked folder" or (entry.kind == "broken link" and kind is None):
        _note_link(search, tree, f"{inner}{entry.name}", path)
    elif kind is None:
        search.pass_over(path, _name_format_reason(entry.name))
    else:
        _take_file(search, tree, f"{inner}{entry.name}", kind)
    return False


def _refuse_name(search: Search, tree: _Tree, inner: str, entry: Entry) -> None:
    # With another character set its name was another one: which of the items here it stands for cannot be known.
    search.unseen.add(normalize_path(_make_printable(tree.base + inner)))
    if entry.kind == "file" and _find_kind(entry.name) is None:
        search.pass_over(_make_printable(f"{tree.base}{inner}{entry.name}"), "format")
    else:
        search.refuse(tree.folder / inner / entry.name, entry.name, "Its name is not valid UTF-8. Rename it.")


def _note_link(search: Search, tree: _Tree, inner: str, path: str) -> None:
    """A link to a folder, or one that leads nowhere: without an extension perhaps to a folder that is not mounted."""
    search.unseen.add(f"{path.rstrip('/')}/")
    if PurePosixPath(inner).suffix and not path.endswith("/"):
        search.pass_over(path, "format")
        return
    try:
        follow_link(tree.boundary, tree.get_parts(inner))
    except (OSError, UnusableFileError) as error:
        search.refuse(tree.folder / inner, path.rstrip("/"), str(error))
    else:
        reason = "It is a link to a folder, and is not followed. Put the folder there, or leave it out with --exclude."
        search.links.append(FileError(path.rstrip("/"), reason))


def _take_file(search: Search, tree: _Tree, inner: str, kind: TextKind) -> None:
    path = normalize_path(tree.base + inner)
    parts = tree.get_parts(inner)
    try:
        followed = follow_link(tree.boundary, parts)
        if followed != parts:
            _refuse_left_out(search, tree, followed)
        search.take(SourceFile(tree.folder / inner, path, kind, tree.root, tree.boundary, followed))
    except (OSError, UnusableFileError) as error:
        search.refuse(tree.folder / inner, path, explain_failure(error))


def _refuse_left_out(search: Search, tree: _Tree, parts: tuple[str, ...]) -> None:
    """A link must not bring back what is left out, such as a hidden file of keys."""
    start = len(tree.start)
    inside = parts[:start] == tree.start
    path = normalize_path(tree.base + "/".join(parts[start:]) if inside else "/".join(parts))
    if search.selection.explain(path, tree.base if inside else "") not in (None, "not included"):
        raise UnusableFileError(f"It is a link to {path}, which is left out. Put the file itself there.")


def explain_failure(error: OSError | UnusableFileError) -> str:
    """Why a file cannot be read, as a sentence."""
    return f"It cannot be read: {error.strerror or error}." if isinstance(error, OSError) else str(error)


def _note_siblings(search: Search, tree: _Tree) -> None:
    try:
        entries = list_folder(tree.boundary, tree.start)
    except OSError:
        return  # what is beside the file stays unknown
    paths = (normalize_path(_make_printable(tree.base + entry.name)) for entry in entries)
    search.siblings[tree.base] = frozenset(paths)


def _read_outer_ignore_files(search: Search, root: Path, given: Path) -> None:
    """Those of the root and of the folders on the way to what was given."""
    folder, path = root, ""
    for name in given.relative_to(root).parts:
        _read_ignore_file(search, folder, normalize_path(path))
        folder, path = folder / name, f"{path}{name}/"


def _read_ignore_file(search: Search, folder: Path, path: str) -> None:
    if folder in search.ignore_files:
        return
    search.ignore_files.add(folder)
    try:
        data = read_bytes(folder, [IGNORE_FILE], MAX_IGNORE_BYTES)
        search.selection.ignored.append(read_ignore_file(data.decode("utf-8-sig"), path))
    except FileNotFoundError:
        return
    except UnicodeDecodeError:
        raise PatternError(f"{path}{IGNORE_FILE} is not valid UTF-8. Save it as UTF-8.") from None
    except (OSError, UnusableFileError) as error:
        raise PatternError(f"{path}{IGNORE_FILE}: {explain_failure(error)}") from None


def _find_base(folder: Path, root: Path) -> str:
    base = normalize_path(_make_printable(_make_relative(folder, root)))
    return "" if base == "." else f"{base}/"


def _make_relative(path: Path, root: Path) -> str:
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        message = f"{_make_printable(str(path))} does not lie under the root {_make_printable(str(root))}."
        raise RootError(message) from None


def _find_kind(name: str) -> TextKind | None:
    """How a file's text is split; `None` for a file that cannot be published. Converted files become Markdown."""
    known = find_format(name)
    if known is not None and known.is_available:
        return "markdown"
    return KINDS.get(PurePosixPath(name).suffix.lower())


def _name_format_reason(name: str) -> FormatReason:
    return "format" if find_format(name) is None else "not installed"


def _explain_format(name: str) -> str:
    known = find_format(name)
    if known is None:
        return f"Only {', '.join((*KINDS, *FORMATS))} files can be published."
    return f"{known.name} needs {known.remedy}, and is not published without."


def _is_decodable(name: str) -> bool:
    return name == _make_printable(name)


def _make_printable(name: str) -> str:
    """A file name that any output can encode: bytes that are not UTF-8 are replaced."""
    return os.fsencode(name).decode("utf-8", "replace")
