"""Addresses of sources, as a command line has them: a path, `-`, `s3://bucket/prefix`, `git+https://host/repo@ref`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import unquote, urlsplit

STANDARD_INPUT: Final = "-"
_S3: Final = "s3://"
_GIT: Final = "git+"
_GIT_SCHEMES: Final = frozenset({"file", "https", "ssh"})
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
# What git itself allows in names, without what it gives a meaning in a list of refs: colons, ranges, patterns.
_REF: Final = re.compile(r"[^-\s:~^?*\[\\\x00-\x1f\x7f][^\s:~^?*\[\\\x00-\x1f\x7f]{0,254}")
_SUBFOLDER: Final = "subdirectory="


class AddressError(ValueError):
    """An address that names no source; the message says how to write it."""


@dataclass(frozen=True, slots=True)
class BucketAddress:
    """Objects of a bucket. `prefix` ends with a slash, or is empty for the whole bucket."""

    bucket: str
    prefix: str

    @property
    def name(self) -> str:
        """The folder that the paths of its items begin with."""
        return PurePosixPath(self.prefix).name or self.bucket

    def __str__(self) -> str:
        return f"{_S3}{self.bucket}/{self.prefix}"


@dataclass(frozen=True, slots=True)
class GitAddress:
    """A repository, a branch, tag or commit of it (`HEAD` where none is named), and a folder in it, "" for all."""

    url: str
    ref: str
    folder: str

    @property
    def name(self) -> str:
        """The name of the repository."""
        name = unquote(PurePosixPath(urlsplit(self.url).path).name).removesuffix(".git")
        return "repository" if name in ("", ".", "..") else name

    def __str__(self) -> str:
        return f"{_GIT}{self.url}@{self.ref}"


Address = Path | BucketAddress | GitAddress


def parse_address(text: str) -> Address:
    """Parse the address of a source other than standard input; raises `AddressError`."""
    if text.startswith(_S3):
        return _parse_bucket(text)
    if text.startswith(_GIT):
        return _parse_repository(text)
    if "://" in text:
        raise AddressError(
            f"{text.partition('://')[0]}:// is no source. Give a folder, a file, s3://bucket/prefix, or "
            "git+https://host/repository@revision."
        )
    return Path(text)


def _parse_bucket(text: str) -> BucketAddress:
    bucket, _, prefix = text.removeprefix(_S3).partition("/")
    if not _BUCKET.fullmatch(bucket):
        raise AddressError(f"{text} names no bucket. Write s3://bucket/prefix.")
    if prefix.strip("/") and (PurePosixPath(prefix).name in (".", "..") or "//" in prefix):
        raise AddressError(f"{text} has a prefix that is no folder. Write s3://bucket/folder.")
    # Only whole folders: the prefix `docs` does not mean `docs-old` as well.
    return BucketAddress(bucket, f"{prefix.rstrip('/')}/" if prefix.strip("/") else "")


def _parse_repository(text: str) -> GitAddress:
    parts = urlsplit(text.removeprefix(_GIT))
    if parts.scheme not in _GIT_SCHEMES:
        schemes = ", ".join(f"git+{scheme}" for scheme in sorted(_GIT_SCHEMES))
        raise AddressError(f"git+{parts.scheme}:// is not read. Use one of {schemes}.")
    if parts.password is not None or (parts.scheme == "https" and parts.username is not None):
        raise AddressError("The address of the repository holds credentials. Leave them to git's credential helper.")
    if parts.query or (parts.netloc or "").startswith("-") or (parts.username or "").startswith("-"):
        raise AddressError("That is no address of a repository. Write git+https://host/repository@revision.")
    path, at, ref = parts.path.rpartition("@") if "@" in parts.path else (parts.path, "", "")
    if not path.strip("/") or (parts.scheme != "file" and not parts.hostname):
        raise AddressError("The address names no repository. Write git+https://host/repository@revision.")
    if at and not is_ref(ref):
        raise AddressError(f"{ref!r} is no branch, tag or commit. It must not begin with a dash, nor hold spaces or :.")
    url = f"{parts.scheme}://{parts.netloc}{path}"
    return GitAddress(url, ref or "HEAD", _parse_subfolder(parts.fragment))


def is_ref(text: str) -> bool:
    """Whether git could take a text for a revision and for nothing else, an option above all."""
    return bool(_REF.fullmatch(text)) and ".." not in text


def _parse_subfolder(fragment: str) -> str:
    folder = unquote(fragment.removeprefix(_SUBFOLDER)).strip("/")
    if fragment and (not fragment.startswith(_SUBFOLDER) or {"..", "."} & {*folder.split("/")}):
        raise AddressError(f"#{fragment} names no folder. Write #subdirectory=docs.")
    return folder
