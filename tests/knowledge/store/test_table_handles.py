"""Handles stay at their version for a while, and no table is used that belongs to something else."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from knowledge.errors import DatasetMismatchError, StorageUnavailableError
from knowledge.scopes import Scope
from knowledge.store import table_handles
from knowledge.store.faults import MissingTableError
from knowledge.store.schema import MARKER_TABLE
from knowledge.store.table_handles import TableHandles
from local_s3.moto_server import S3Server
from publish_knowledge.publishing.lifecycle import purge_scope
from tests.support.datasets import ANA, BEN, Location, embedding, put, run_in_store
from tests.support.reading import open_handles

pytestmark = pytest.mark.anyio


async def test_a_handle_is_kept_until_it_is_too_old(folder: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    handles = open_handles(folder)
    monkeypatch.setattr(table_handles, "REFRESH_SECONDS", 3600.0)
    first = await handles.open_current(ANA, searching=False)
    assert first is not None
    await put(folder, ANA, "notes", {"b.md": "Text."})
    assert await handles.open_current(ANA, searching=True) is first
    monkeypatch.setattr(table_handles, "REFRESH_SECONDS", 0.0)
    second = await handles.open_current(ANA, searching=True)
    assert second is not None
    assert await second.handle.version() > await first.handle.version()


async def test_the_handle_for_loading_is_opened_beside_the_first_one_for_a_search_alone(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    for searching in (True, False):
        table = await open_handles(folder).open_current(ANA, searching=searching)
        assert table is not None
        assert (table.loader is not None) is searching


async def test_the_archive_can_be_reopened_whatever_its_age(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    handles = open_handles(folder)
    first = await handles.open_revisions(ANA, fresh=False)
    assert await handles.open_revisions(ANA, fresh=False) is first
    assert await handles.open_revisions(ANA, fresh=True) is not first


async def test_a_scope_without_tables_is_remembered_too(s3_server: S3Server, bucket: Location) -> None:
    await put(bucket, ANA, "notes", {"a.md": "Text."})
    handles = open_handles(bucket)
    assert await handles.open_current(BEN, searching=True) is None
    with s3_server.record_requests() as requests:
        assert await handles.open_current(BEN, searching=True) is None
    assert requests == []


async def test_no_more_handles_are_kept_than_the_limit(folder: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_handles, "MAX_HANDLES", 2)
    monkeypatch.setattr(table_handles, "REFRESH_SECONDS", 3600.0)
    scopes = [Scope("team", name) for name in "abc"]
    for scope in scopes:
        await put(folder, scope, "notes", {"a.md": "Text."})
    handles = open_handles(folder)
    kept = [await handles.open_current(scope, searching=False) for scope in scopes]
    assert await handles.open_current(scopes[2], searching=False) is kept[2]
    assert await handles.open_current(scopes[1], searching=False) is kept[1]
    assert await handles.open_current(scopes[0], searching=False) is not kept[0]


async def test_a_table_of_another_scope_is_refused(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    tables = Path(folder.uri)
    (tables / f"{ANA.current_table}.lance").rename(tables / f"{BEN.current_table}.lance")
    with pytest.raises(StorageUnavailableError):
        await open_handles(folder).open_current(BEN, searching=False)


async def test_a_table_of_another_model_is_refused_with_what_to_do(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    handles = TableHandles(folder.uri, "another", embedding().dimensions, None)
    for work in (handles.check_marker(), handles.open_current(ANA, searching=False)):
        with pytest.raises(DatasetMismatchError, match=r"embedding_model = .* expects 'another'.* set EMBEDDING"):
            await work


async def test_a_dataset_that_lost_its_marker_is_an_outage_and_no_empty_scope(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    (Path(folder.uri) / f"{MARKER_TABLE}.lance").rename(folder.uri + "-marker")
    handles = open_handles(folder)
    with pytest.raises(StorageUnavailableError):
        await handles.check_marker()
    with pytest.raises(StorageUnavailableError):
        await handles.open_current(BEN, searching=False)


async def test_a_mistyped_path_is_an_outage_and_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailableError):
        await open_handles(Location(str(tmp_path / "missing"))).connect()
    assert not (tmp_path / "missing").exists()


async def test_a_table_that_is_missing_cannot_be_opened_for_loading(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    with pytest.raises(MissingTableError):
        await open_handles(folder).open_loader("nope")


async def test_after_closing_everything_is_opened_again(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    handles = open_handles(folder)
    first, connection = await handles.open_current(ANA, searching=False), await handles.connect()
    assert await handles.connect() is connection
    handles.close()
    assert await handles.open_current(ANA, searching=False) is not first
    assert await handles.connect() is not connection


async def count_by_method(server: S3Server, work: Callable[[], Awaitable[object]]) -> dict[str, int]:
    with server.record_requests() as requests:
        await work()
    return Counter("LIST" if request.query.startswith("list-type") else request.method for request in requests)


async def test_an_unchanged_scope_is_asked_for_by_head_and_keeps_its_handle(
    s3_server: S3Server, bucket: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(bucket, ANA, "notes", {"a.md": "Text."})
    monkeypatch.setattr(table_handles, "REFRESH_SECONDS", 0.0)
    handles = open_handles(bucket)
    first = await handles.open_current(ANA, searching=False)
    found = []

    async def look() -> None:
        found.append(await handles.open_current(ANA, searching=True))

    assert await count_by_method(s3_server, look) == {"HEAD": 2}
    assert found == [first]
    await put(bucket, ANA, "notes", {"a.md": "Another text."})
    await look()
    assert found[1] is not first


async def test_a_scope_without_tables_is_known_by_the_marker_until_it_is_created_and_after_it_is_purged(
    s3_server: S3Server, bucket: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(bucket, ANA, "notes", {"a.md": "Text."})
    monkeypatch.setattr(table_handles, "REFRESH_SECONDS", 0.0)
    handles = open_handles(bucket)
    assert await handles.open_current(BEN, searching=False) is None
    assert await count_by_method(s3_server, lambda: handles.open_current(BEN, searching=False)) == {"HEAD": 1}
    await put(bucket, BEN, "notes", {"a.md": "Text."})
    for _ in range(9):
        await put(bucket, BEN, "notes", {"a.md": f"Text {_}."})
    before = await handles.open_current(BEN, searching=False)
    assert before is not None
    await run_in_store(bucket, purge_scope, BEN)
    assert await handles.open_current(BEN, searching=False) is None
    # The new table's versions begin at 1 again.
    await put(bucket, BEN, "notes", {"b.md": "Text."})
    after = await handles.open_current(BEN, searching=False)
    assert after is not None
    assert after.version < before.version


async def test_after_a_minute_by_either_clock_tables_are_opened_again(
    s3_server: S3Server, bucket: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(bucket, ANA, "notes", {"a.md": "Text."})
    monkeypatch.setattr(table_handles, "REFRESH_SECONDS", 0.0)
    for name, step in (("monotonic", 61.0), ("time", 61.0), ("time", -1.0)):
        handles = open_handles(bucket)
        await handles.open_current(ANA, searching=False)
        clock = getattr(time, name)
        monkeypatch.setattr(time, name, lambda clock=clock, step=step: clock() + step)
        counts = await count_by_method(s3_server, partial(handles.open_current, ANA, searching=False))
        assert counts["LIST"] == 2, name  # the table and the marker
        monkeypatch.setattr(time, name, clock)


async def test_where_a_missing_object_is_refused_tables_are_opened_again(
    s3_server: S3Server, bucket: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(bucket, ANA, "notes", {"a.md": "Text."})
    monkeypatch.setattr(table_handles, "REFRESH_SECONDS", 0.0)
    handles = open_handles(bucket)
    await handles.open_current(ANA, searching=False)
    with s3_server.hook_requests(lambda method, _path: 403 if method == "HEAD" else None):
        await put(bucket, ANA, "notes", {"a.md": "Another text."})
        table = await handles.open_current(ANA, searching=False)
    assert table is not None
    assert table.version == await table.handle.version()
