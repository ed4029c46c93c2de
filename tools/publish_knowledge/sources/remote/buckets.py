"""Objects of a bucket as files: listed first, and fetched only where their bytes are needed.

Every object gets an empty file in a temporary folder, so that patterns, formats and names are decided as in any
folder; then the files that are to be read are filled.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from publish_knowledge.sources.documents import normalize_path
from publish_knowledge.sources.file_errors import FileError, UnusableFileError
from publish_knowledge.sources.remote.addresses import BucketAddress
from publish_knowledge.sources.selection import IGNORE_FILE, MAX_IGNORE_BYTES

MAX_OBJECTS: Final = 200_000
"""Objects below one prefix: a listing takes a request for each thousand."""

_CONNECTIONS: Final = 16
_MAX_NAME_BYTES: Final = 255
_MAX_PATH_BYTES: Final = 3_000


@dataclass(frozen=True, slots=True)
class RemoteObject:
    """An object as the listing has it. `uri` is its address; another `etag` means other bytes."""

    uri: str
    key: str
    etag: str
    size: int


@dataclass(slots=True)
class BucketFolder:
    """The objects below an address by the paths of their items, each with an empty file below `folder`."""

    address: BucketAddress
    folder: Path
    client: Any
    objects: dict[str, RemoteObject] = field(default_factory=dict)
    errors: list[FileError] = field(default_factory=list)

    def fetch(self, paths: Collection[str], limit: int) -> dict[str, FileError]:
        """Fill the files of some paths; returns those that cannot be, by path. Other paths are ignored."""
        wanted = sorted(path for path in paths if path in self.objects)
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            reasons = pool.map(lambda path: self._fetch_one(self.objects[path], limit), wanted)
            pairs = zip(wanted, reasons, strict=True)
            return {path: FileError(path, reason) for path, reason in pairs if reason is not None}

    def _fetch_one(self, one: RemoteObject, limit: int) -> str | None:
        from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError  # noqa: PLC0415 - as in `connect`

        if one.size > limit:
            return f"It has {one.size:,} bytes; {limit:,} is the limit. Split it into several files."
        try:
            # Exactly the bytes that were listed: their ETag is what the next run compares with.
            answer = self.client.get_object(Bucket=self.address.bucket, Key=one.key, IfMatch=one.etag)
            data = answer["Body"].read(limit + 1)
        except (BotoCoreError, ClientError, HTTPClientError) as error:
            return f"The object cannot be read: {error}. Run the same command again, or leave it out with --exclude."
        (self.folder / one.key.removeprefix(self.address.prefix)).write_bytes(data)
        return None


def connect(options: Mapping[str, str]) -> Any:  # noqa: ANN401 - boto3 makes its classes at run time
    """A client for the region and the endpoint of the environment; credentials are found by boto3."""
    import boto3  # noqa: PLC0415 - only sources on S3 need it, and importing it takes half a second
    from botocore.config import Config  # noqa: PLC0415 - as above

    return boto3.client(
        "s3",
        region_name=options.get("region"),
        endpoint_url=options.get("endpoint"),
        config=Config(max_pool_connections=_CONNECTIONS, retries={"mode": "standard", "max_attempts": 5}),
    )


def list_bucket(address: BucketAddress, into: Path, options: Mapping[str, str]) -> BucketFolder:
    """List all objects below an address; raises `UnusableFileError` where any of it cannot be listed."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - as in `connect`

    try:
        found = BucketFolder(address, into / address.name, connect(options))
        found.folder.mkdir()
        for one in _list_objects(found.client, address):
            _add(found, one)
    except (BotoCoreError, ClientError) as error:
        raise UnusableFileError(
            f"The bucket cannot be listed: {error}. Check the address, and that the credentials allow s3:ListBucket."
        ) from None
    found.fetch([path for path in found.objects if path.rpartition("/")[2] == IGNORE_FILE], MAX_IGNORE_BYTES)
    return found


def _list_objects(client: Any, address: BucketAddress) -> Iterator[RemoteObject]:  # noqa: ANN401 - as above
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=address.bucket, Prefix=address.prefix)
    count = 0
    for page in pages:
        for one in page.get("Contents", ()):
            count += 1
            if count > MAX_OBJECTS:
                raise UnusableFileError(f"It has more than {MAX_OBJECTS:,} objects. Give a longer prefix.")
            uri = f"s3://{address.bucket}/{one['Key']}"
            yield RemoteObject(uri, one["Key"], one["ETag"], one["Size"])


def _add(found: BucketFolder, one: RemoteObject) -> None:
    inner = one.key.removeprefix(found.address.prefix)
    if inner.endswith("/") or not inner:
        return  # consoles make such an object for an empty folder
    path = f"{found.address.name}/{inner}"
    reason = None if is_file_path(inner) else "Its key is no path of a file: empty, `.`, `..` or too long parts."
    if reason is None:
        try:
            place = found.folder / inner
            place.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError:
            reason = "Another object has a key that makes a folder of this one."
    if reason is not None:
        found.errors.append(FileError(path, f"{reason} Rename the object, or leave it out."))
        return
    found.objects[normalize_path(path)] = one


def is_file_path(inner: str) -> bool:
    """Whether a key could be the path of a file below a folder, and of none elsewhere."""
    parts = inner.split("/")
    long = any(len(part.encode("utf-8", "surrogatepass")) > _MAX_NAME_BYTES for part in parts)
    return not long and "\0" not in inner and not {"", ".", ".."} & {*parts} and len(inner.encode()) <= _MAX_PATH_BYTES


def merge_objects(folders: Iterable[BucketFolder]) -> dict[str, RemoteObject]:
    """The objects of several addresses by path."""
    return {path: one for folder in folders for path, one in folder.objects.items()}
