"""Ask an object store whether a table has a later version than the one known: one HEAD request instead of a LIST.

A table's versions are numbered without gaps, and each is a manifest whose name follows from its number. So a later
version exists if the next one does, unless that has been removed already: old versions are kept for a day, and an
answer here counts for a minute at most (`table_handles.LIST_SECONDS`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from obstore.auth.boto3 import Boto3CredentialProvider
    from obstore.store import S3Config, S3Store

_SCHEME: Final = "s3://"
_LAST_NUMBER: Final = 2**64 - 1
_TIMEOUT: Final = "2s"
"""Shorter than those of reads: whatever goes wrong here, the table is opened as without the question."""

_CONFIG_OPTIONS: Final = ("region", "endpoint", "aws_access_key_id", "aws_secret_access_key", "aws_session_token")


class VersionProbe:
    """Asks for the next version of the tables of one dataset. Connects on first use."""

    def __init__(self, uri: str, storage_options: Mapping[str, str]) -> None:
        self._uri = uri
        self._options = storage_options
        self._store: S3Store | None = None

    @property
    def is_possible(self) -> bool:
        """Whether the dataset is in S3; on disk opening a table costs no request."""
        return self._uri.startswith(_SCHEME)

    async def is_latest(self, table: str, version: int) -> bool:
        """Whether a version of a table is known to be its latest; false too where the store gives no clear answer."""
        from obstore import head_async  # noqa: PLC0415 - the first call of a process does without it
        from obstore.exceptions import BaseError  # noqa: PLC0415 - as above

        try:
            await head_async(self._connect(), name_manifest(table, version + 1))
        except FileNotFoundError:
            return True
        except (BaseError, OSError, ValueError):
            # Refused, out of reach, or not understood: opening the table tells what is wrong.
            return False
        return False

    def _connect(self) -> S3Store:
        if self._store is None:
            from obstore.store import S3Store  # noqa: PLC0415 - as above

            bucket, _, prefix = self._uri.removeprefix(_SCHEME).partition("/")
            config = {name: self._options[name] for name in _CONFIG_OPTIONS if name in self._options}
            self._store = S3Store(
                bucket,
                prefix=prefix.strip("/") or None,
                config=cast("S3Config", config),
                client_options={
                    "timeout": _TIMEOUT,
                    "connect_timeout": _TIMEOUT,
                    "allow_http": "allow_http" in self._options,
                },
                retry_config={"max_retries": 0},
                credential_provider=_find_credentials(self._options),
            )
        return self._store


def _find_credentials(options: Mapping[str, str]) -> Boto3CredentialProvider | None:
    """Credentials as botocore finds them: the client itself finds none in a function restored from a snapshot."""
    if "aws_access_key_id" in options:
        return None
    from obstore.auth.boto3 import Boto3CredentialProvider  # noqa: PLC0415 - as above

    return Boto3CredentialProvider()


def name_manifest(table: str, version: int) -> str:
    """Path of a version's manifest below the dataset: numbers descend, so that the latest version is listed first."""
    return f"{table}.lance/_versions/{_LAST_NUMBER - version:020}.manifest"
