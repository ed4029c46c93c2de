"""Open files and list folders below a folder without ever leaving it, whatever is replaced by a link meanwhile.

Every step on the way is opened from the folder before it and never through a link; what is read is what was examined,
because both happen on one handle. Works on Linux and macOS.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from publish_knowledge.sources.file_errors import UnusableFileError

EntryKind = Literal["file", "folder", "linked folder", "broken link"]

_CHUNK_BYTES: Final = 1 << 20
_NOT_REGULAR: Final = "It is not a regular file, or a link that leads nowhere. Put a file there, or remove it."

# Linux passes through folders that may be entered and not listed; elsewhere they have to be readable.
_ENTER: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY
_LIST: Final = os.O_RDONLY | os.O_DIRECTORY
# A pipe without a writer would block, and a terminal would become this process's own.
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a folder. A `file` may be a link to one, or no regular file: reading it tells."""

    name: str
    kind: EntryKind


def list_folder(boundary: Path, parts: Sequence[str]) -> list[Entry]:
    """Entries of a folder, by name; raises `OSError` where any of it cannot be seen."""
    with _enter(boundary, parts) as folder:
        handle = os.open(".", _LIST, dir_fd=folder)
        try:
            with os.scandir(handle) as entries:
                found = [Entry(entry.name, _classify(entry, folder)) for entry in entries]
        finally:
            os.close(handle)
    return sorted(found, key=lambda entry: entry.name)


def _classify(entry: os.DirEntry[str], folder: int) -> EntryKind:
    if not entry.is_symlink():
        return "folder" if stat.S_ISDIR(entry.stat(follow_symlinks=False).st_mode) else "file"
    try:
        target = os.stat(entry.name, dir_fd=folder)
    except OSError:
        return "broken link"
    return "linked folder" if stat.S_ISDIR(target.st_mode) else "file"


def read_bytes(boundary: Path, parts: Sequence[str], limit: int) -> bytes:
    """Bytes of a regular file; more than `limit` are an `UnusableFileError`, whatever size the file claims to have.

    No link is followed. Raises `UnusableFileError` and `OSError`.
    """
    with _enter(boundary, parts[:-1]) as folder:
        # Opening a device can have effects of its own, so its kind is looked at before, and again on the handle.
        _require_regular(_examine(folder, parts[-1]))
        handle = os.open(parts[-1], _READ, dir_fd=folder)
        try:
            _require_regular(os.fstat(handle).st_mode)
            return _read_all(handle, limit)
        finally:
            os.close(handle)


def follow_link(boundary: Path, parts: Sequence[str]) -> tuple[str, ...]:
    """Where below `boundary` a link leads, by one step; `parts` themselves for what is no link.

    Raises `UnusableFileError` where it leads outside or to another link, and `OSError`.
    """
    with _enter(boundary, parts[:-1]) as folder:
        if not stat.S_ISLNK(_examine(folder, parts[-1])):
            return tuple(parts)
        target = os.readlink(parts[-1], dir_fd=folder)
    followed = _resolve(boundary, parts, target)
    try:
        with _enter(boundary, followed[:-1]) as folder:
            mode = _examine(folder, followed[-1])
    except OSError:
        raise UnusableFileError(_NOT_REGULAR) from None
    if stat.S_ISLNK(mode):
        raise UnusableFileError(f"It is a link to {_show(target)}, another link. Let it lead to the file itself.")
    return followed


def _resolve(boundary: Path, parts: Sequence[str], target: str) -> tuple[str, ...]:
    real = os.path.realpath(boundary)
    place = os.path.normpath(os.path.join(real, *parts[:-1], target))  # noqa: PTH118 - pathlib would not normalize
    for start in (Path(real), boundary):
        if Path(place).is_relative_to(start) and Path(place) != start:
            return Path(place).relative_to(start).parts
    raise UnusableFileError(
        f"It is a link to {_show(target)}, outside {boundary.name or boundary}, and is not followed. "
        "Put there what it leads to, or leave it out with --exclude."
    )


def _read_all(handle: int, limit: int) -> bytes:
    data = bytearray()
    while chunk := os.read(handle, min(_CHUNK_BYTES, limit + 1 - len(data))):
        data += chunk
        if len(data) > limit:
            size = max(os.fstat(handle).st_size, len(data))
            raise UnusableFileError(f"It has {size:,} bytes; {limit:,} is the limit. Split it into several files.")
    return bytes(data)


def _show(target: str) -> str:
    return os.fsencode(target).decode("utf-8", "replace")


def _require_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise UnusableFileError(_NOT_REGULAR)


def _examine(folder: int, name: str) -> int:
    return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode


@contextmanager
def _enter(boundary: Path, parts: Sequence[str]) -> Iterator[int]:
    """A handle of a folder below `boundary`, which itself may be reached through links: its user named it."""
    folder = os.open(boundary, _ENTER)
    try:
        for name in parts:
            inner = os.open(name, _ENTER | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)
