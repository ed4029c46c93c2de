"""Whether an address without a dataset may get one: never a folder that holds something else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePath, PurePosixPath
from typing import Final

from knowledge.errors import StorageUnavailableError
from knowledge.store.options import is_local

_TABLE: Final = ".lance"
_INCIDENTAL: Final = frozenset(
    {".DS_Store", ".gitignore", ".gitkeep", ".keep", "Thumbs.db", "desktop.ini", "lost+found"}
)
"""Files that systems and tools put into folders that are otherwise empty."""

_S3: Final = "s3://"
_NAMED: Final = 3
_SCANNED: Final = 10_000
_LISTED: Final = 100
"""Entries of a folder, and of a bucket, that are looked at: enough to find one that does not belong."""


async def refuse_other_files(uri: str, storage_options: Mapping[str, str]) -> None:
    """Raise `StorageUnavailableError` where the address is a file, or holds files or objects of something else."""
    if is_local(uri):
        others = await asyncio.to_thread(_find_other_files, Path(uri))
    elif uri.startswith(_S3):
        others = await asyncio.to_thread(_find_other_objects, uri, storage_options)
    else:
        return
    if others:
        raise StorageUnavailableError(
            f"{uri} holds other files ({', '.join(map(repr, others))}), so no dataset is made there. "
            "Check the address, or choose a new or empty folder."
        )


def _find_other_objects(uri: str, storage_options: Mapping[str, str]) -> list[str]:
    import boto3  # noqa: PLC0415 - only a new dataset on S3 needs it, and importing it takes half a second
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - as above

    bucket, _, prefix = uri.removeprefix(_S3).rstrip("/").partition("/")
    below = f"{prefix}/" if prefix else ""
    try:
        client = boto3.client(
            "s3",
            region_name=storage_options.get("region"),
            endpoint_url=storage_options.get("endpoint"),
            aws_access_key_id=storage_options.get("aws_access_key_id"),
            aws_secret_access_key=storage_options.get("aws_secret_access_key"),
            aws_session_token=storage_options.get("aws_session_token"),
        )
        page = client.list_objects_v2(Bucket=bucket, Prefix=below, Delimiter="/", MaxKeys=_LISTED)
    except (BotoCoreError, ClientError):
        # Credentials that only the storage library finds, for instance: its own error is the one to report.
        return []
    keys = [
        *(one.get("Prefix", "") for one in page.get("CommonPrefixes", ())),
        *(one["Key"] for one in page.get("Contents", ())),
    ]
    names = [PurePosixPath(key.removeprefix(below)) for key in keys if key != below]
    return [*islice(_list_others(names), _NAMED)]


def _find_other_files(folder: Path) -> list[str]:
    if not folder.exists():
        return []
    if not folder.is_dir():
        raise StorageUnavailableError(f"{folder} is a file, not a folder. Check the address.")
    try:
        return sorted(islice(_list_others(islice(folder.iterdir(), _SCANNED)), _NAMED))
    except OSError as error:
        raise StorageUnavailableError(f"{folder} cannot be listed: {error.strerror}. Check the address.") from error


def _list_others(entries: Iterable[PurePath]) -> Iterator[str]:
    return (entry.name for entry in entries if entry.suffix != _TABLE and entry.name not in _INCIDENTAL)
