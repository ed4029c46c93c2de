"""Find the files of any sources: what is elsewhere is fetched into a temporary folder and searched there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from publish_knowledge.sources.file_errors import FileError, UnusableFileError
from publish_knowledge.sources.files import FoundFiles, find_files
from publish_knowledge.sources.loading import MAX_BYTES, IdSource, LoadedFiles, load_documents
from publish_knowledge.sources.remote.addresses import (
    STANDARD_INPUT,
    AddressError,
    BucketAddress,
    GitAddress,
    parse_address,
)
from publish_knowledge.sources.remote.buckets import BucketFolder, RemoteObject, list_bucket, merge_objects
from publish_knowledge.sources.remote.repositories import fetch_repository
from publish_knowledge.sources.selection import Selection

_INPUT: Final = "input"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What sources are reached with: a folder to fetch into, the environment, S3 options, and standard input."""

    folder: Path
    environ: Mapping[str, str]
    storage_options: Mapping[str, str]
    standard_input: BinaryIO


@dataclass(slots=True)
class Sources:
    """Sources that were opened. `failed` are those of which nothing is known, with the reason."""

    paths: list[Path] = field(default_factory=list)
    buckets: list[BucketFolder] = field(default_factory=list)
    failed: list[FileError] = field(default_factory=list)
    input_root: Path | None = None
    has_repositories: bool = False

    @property
    def objects(self) -> dict[str, RemoteObject]:
        """Objects of buckets by the paths of their items."""
        return merge_objects(self.buckets)

    def find(self, root: Path | None, selection: Selection) -> FoundFiles:
        """Find the files of all; raises as `find_files`. A failed source hides everything that is published."""
        found = find_files(self.paths, self.input_root or root, selection) if self.paths else FoundFiles((), (), ())
        refused = [error for bucket in self.buckets for error in bucket.errors]
        return replace(
            found,
            errors=(*found.errors, *self.failed, *refused),
            unseen=("",) if self.failed else found.unseen,
            # The temporary folder of standard input says nothing about what else there is.
            siblings={} if self.input_root is not None else found.siblings,
        )

    def load(
        self, found: FoundFiles, language: str | None, ids: IdSource, unchanged: Collection[str] = ()
    ) -> LoadedFiles:
        """Read all files but those that are known to be unchanged; fetches objects first."""
        files = [source for source in found.files if source.path not in unchanged]
        failed: dict[str, FileError] = {}
        for bucket in self.buckets:
            failed |= bucket.fetch([source.path for source in files], MAX_BYTES)
        readable = tuple(source for source in files if source.path not in failed)
        return load_documents(replace(found, files=readable, errors=(*found.errors, *failed.values())), language, ids)


def open_sources(texts: Sequence[str], surroundings: Surroundings, name: str | None = None) -> Sources:
    """Open sources by their addresses; raises `AddressError`. One that cannot be reached is only noted.

    `name` is the path of what standard input holds, for the address `-`.
    """
    opened = Sources()
    if STANDARD_INPUT in texts and len(texts) > 1:
        raise AddressError("Standard input is published alone: give - and no other source.")
    for number, text in enumerate(dict.fromkeys(texts)):
        if text == STANDARD_INPUT:
            opened.paths.append(_read_input(surroundings, name))
            opened.input_root = surroundings.folder / _INPUT
            continue
        address = parse_address(text)
        into = surroundings.folder / str(number)
        try:
            if isinstance(address, Path):
                opened.paths.append(_require_path(address))
            elif isinstance(address, GitAddress):
                into.mkdir()
                opened.has_repositories = True
                opened.paths.append(fetch_repository(address, into, surroundings.environ))
            else:
                _open_bucket(opened, address, into, surroundings)
        except UnusableFileError as error:
            opened.failed.append(FileError(str(address), str(error)))
    if name is not None and opened.input_root is None:
        raise AddressError("--name is the path of standard input. Give - as the source, or leave out --name.")
    return opened


def _open_bucket(opened: Sources, address: BucketAddress, into: Path, surroundings: Surroundings) -> None:
    into.mkdir()
    bucket = list_bucket(address, into, surroundings.storage_options)
    opened.buckets.append(bucket)
    opened.paths.append(bucket.folder)


def _require_path(path: Path) -> Path:
    if not path.exists() and not path.is_symlink():
        raise AddressError(f"Path {str(path)!r} does not exist.")
    return path


def _read_input(surroundings: Surroundings, name: str | None) -> Path:
    """Standard input as a file; one byte more than the limit is kept, so that it is refused as a file would be."""
    parts = PurePosixPath(name or "").parts
    if not parts or ".." in parts or parts[0] == "/" or "\0" in str(name):
        raise AddressError("Give the path that standard input gets as its item, as --name notes/today.md.")
    file = surroundings.folder / _INPUT / PurePosixPath(*parts)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(surroundings.standard_input.read(MAX_BYTES + 1))
    return file
