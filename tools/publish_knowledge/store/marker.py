"""The dataset marker: without it nothing is read, and only the first publish writes it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa

from knowledge.embedding.providers import find_name
from knowledge.errors import DatasetMismatchError, StorageUnavailableError
from knowledge.store.schema import (
    MARKER_TABLE,
    META_DIMENSIONS,
    META_MODEL,
    META_SCHEMA,
    Mismatch,
    find_mismatch,
    marker_schema,
    read_metadata,
)
from publish_knowledge.store.addresses import refuse_other_files

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store


def current_time() -> str:
    """The time as the schema writes it: ISO 8601 in UTC, whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def explain_missing(uri: str) -> str:
    """Say that there is no dataset at an address."""
    return f"There is no dataset at {uri}. Check the address, or publish something there first."


async def require_dataset(store: Store) -> None:
    """Check the marker. Raises `StorageUnavailableError` without one, `DatasetMismatchError` for another model."""
    table = await store.open_table(MARKER_TABLE)
    if table is None:
        raise StorageUnavailableError(explain_missing(store.uri))
    check_schema(store, await table.schema())


async def dataset_exists(store: Store) -> bool:
    """Whether there is a dataset that fits; false where the address is empty. Raises as `ensure_dataset`."""
    if await store.open_table(MARKER_TABLE) is not None:
        await require_dataset(store)
        return True
    names = await store.list_tables()
    if set(names) - {MARKER_TABLE} and MARKER_TABLE not in names:
        msg = (
            f"{store.uri} holds tables but no dataset marker, so it is not a dataset of this tool. "
            "Check the address, or choose an empty place."
        )
        raise StorageUnavailableError(msg)
    if MARKER_TABLE not in names:
        await refuse_other_files(store.uri, store.storage_options)
    return False


async def ensure_dataset(store: Store) -> None:
    """Check the marker, or write it where the address is still empty.

    Raises `StorageUnavailableError` for an address with other tables or files, `DatasetMismatchError` for another
    model.
    """
    if not await dataset_exists(store):
        table = await store.create_table(MARKER_TABLE, marker_schema(store.model, store.dimensions, current_time()))
        check_schema(store, await table.schema())


async def announce_scope(store: Store) -> None:
    """Commit a version of the marker: readers that know a scope to have no tables look for them again."""
    table = await store.open_table(MARKER_TABLE)
    if table is not None:
        await table.commit_nothing()


def check_schema(store: Store, schema: pa.Schema) -> None:
    """Raise `DatasetMismatchError` where a table was written for another schema version or embedding model."""
    metadata = read_metadata(schema)
    if (wrong := find_mismatch(metadata, store.model, store.dimensions)) is not None:
        raise DatasetMismatchError(_explain_mismatch(store.uri, wrong, metadata))


def _explain_mismatch(uri: str, wrong: Mismatch, metadata: Mapping[str, str]) -> str:
    says = f"The dataset at {uri} says {wrong.name} = {wrong.found!r}, but {wrong.expected!r} is set here."
    if wrong.name == META_SCHEMA:
        return f"{says} Use the version of this program that it was made with, or publish to a new address."
    name = find_name(metadata.get(META_MODEL, ""), metadata.get(META_DIMENSIONS, ""))
    option = f", --embedding {name} (or EMBEDDING={name})" if name else ""
    return f"{says} Set the embedding that it was made with{option}, or publish to a new address."
