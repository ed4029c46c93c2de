"""A dataset hands out snapshots, reads once more where a version was cleaned away, and can be closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.errors import DatasetMismatchError, StorageUnavailableError
from knowledge.store.dataset import Dataset
from knowledge.store.faults import StaleVersionError
from knowledge.store.schema import MARKER_TABLE
from knowledge.store.scope_cache import CachedSnapshot
from knowledge.store.snapshot import Snapshot, TableSnapshot
from tests.support.datasets import ANA, BEN, SUPPORT, Location, embedding, put

pytestmark = pytest.mark.anyio


def dataset_at(where: Location) -> Dataset:
    model = embedding()
    return Dataset(where.uri, model=model.model, dimensions=model.dimensions, storage_options=where.options)


async def counts(snapshots: list[Snapshot]) -> list[tuple[str, int]]:
    return [(one.scope.name, await one.count_passages()) for one in snapshots]


async def same(snapshots: list[Snapshot]) -> list[Snapshot]:
    return snapshots


async def test_work_gets_a_snapshot_of_each_scope_that_has_tables_in_order(location: Location) -> None:
    await put(location, SUPPORT, "notes", {"a.md": "Text.", "b.md": "Text."})
    await put(location, ANA, "notes", {"a.md": "Text."})
    dataset = dataset_at(location)
    for searching in (False, True):
        found = await dataset.run([SUPPORT, BEN, ANA], counts, searching=searching)
        assert found == [(SUPPORT.name, 2), (ANA.name, 1)]
    assert await dataset.run([BEN], counts) == []
    assert await dataset.snapshot(BEN) is None


async def test_only_a_search_loads_a_scope(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    dataset = dataset_at(folder)
    assert isinstance(await dataset.snapshot(ANA), TableSnapshot)
    assert isinstance((await dataset.run([ANA], same, searching=True))[0], CachedSnapshot)
    assert isinstance((await dataset.run([ANA], same))[0], CachedSnapshot)


async def test_a_version_that_was_cleaned_away_is_read_once_more_from_new_handles(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    dataset, seen = dataset_at(folder), list[object]()

    async def work(snapshots: list[Snapshot]) -> list[tuple[str, int]]:
        seen.append(snapshots[0])
        if len(seen) == 1:
            await put(folder, ANA, "notes", {"b.md": "Text."})
            raise StaleVersionError
        return await counts(snapshots)

    assert await dataset.run([ANA], work) == [(ANA.name, 2)]

    async def fail(_snapshots: list[Snapshot]) -> None:
        raise StaleVersionError

    with pytest.raises(StaleVersionError):
        await dataset.run([ANA], fail)


async def test_a_dataset_without_its_marker_or_of_another_model_is_refused(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    with pytest.raises(DatasetMismatchError):
        await Dataset(folder.uri, model="another", dimensions=512).open()
    marker = Path(folder.uri) / f"{MARKER_TABLE}.lance"
    marker.rename(folder.uri + "-marker")
    with pytest.raises(StorageUnavailableError):
        await dataset_at(folder).run([ANA], counts)


async def test_the_marker_is_checked_again_after_closing_and_not_before(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    dataset = dataset_at(folder)
    await dataset.open()
    marker = Path(folder.uri) / f"{MARKER_TABLE}.lance"
    marker.rename(folder.uri + "-marker")
    await dataset.open()
    assert await dataset.run([ANA], counts) == [(ANA.name, 1)]
    await dataset.close()
    with pytest.raises(StorageUnavailableError):
        await dataset.open()
