"""Small scopes in memory: which are loaded, which version of them, and for how long."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from knowledge.errors import StorageUnavailableError
from knowledge.scopes import Scope
from knowledge.store import scope_cache
from knowledge.store.schema import BASE, HEAD, HISTORY, PASSAGE
from knowledge.store.scope_cache import (
    COLUMNS,
    CachedItems,
    CachedSnapshot,
    ScopeCache,
    cache_row_limit,
    cache_rows,
)
from knowledge.store.snapshot import SMALL_SCOPE_ROWS, Snapshot, TableSnapshot
from tests.support.datasets import ANA, Location, put
from tests.support.reading import open_handles, open_snapshot

pytestmark = pytest.mark.anyio

SCOPES = [Scope("team", name) for name in "abc"]


def table_of(*rows: dict[str, object]) -> pa.Table:
    """Rows as they are loaded; what is not given is empty."""
    blank: dict[str, object] = {**dict.fromkeys(COLUMNS, ""), "scope": ANA.name, "start": None, "total_chars": 0}
    return pa.Table.from_pylist([{**blank, "_rowid": len(rows) - at, **row} for at, row in enumerate(rows)])


def memory_of(snapshot: Snapshot) -> object:
    """The cached scope behind a snapshot; `None` for one of the tables."""
    return snapshot.cached if isinstance(snapshot, CachedSnapshot) else None


def test_the_more_scopes_a_call_has_the_smaller_are_those_that_it_loads() -> None:
    assert [cache_row_limit(scopes) for scopes in (0, 1, 5, 50)] == [SMALL_SCOPE_ROWS] * 3 + [2_000]


def test_rows_are_found_by_row_id_by_passage_and_by_item() -> None:
    scope = cache_rows(
        table_of(
            {"kind": PASSAGE, "item_id": "i", "start": 0, "text": "first"},
            {"kind": PASSAGE, "item_id": "i", "start": 5, "text": "second"},
            {"kind": HEAD, "item_id": "i", "base_id": "notes", "state": "published"},
            {"kind": HEAD, "item_id": "j", "base_id": "drafts", "state": "draft"},
            {"kind": BASE, "base_id": "old", "state": "archived"},
            {"kind": BASE, "base_id": "back", "state": "published"},
            {"kind": HISTORY, "item_id": "i", "base_id": "history", "state": "published"},
        ),
        ANA.name,
    )
    assert scope.passages == 2
    assert scope.archived_bases == {"old"}
    assert scope.published_bases == {"notes"}
    ids = pa.chunked_array([[6, 7]], pa.uint64())
    assert scope.rows_by_id(ids, ["text"]) == [{"text": "second"}, {"text": "first"}]
    found = scope.rows_of_passages([("i", 5), ("i", 9), ("unknown", 0)])
    assert [(row["kind"], row["text"]) for row in found] == [(HEAD, ""), (PASSAGE, "second")]
    assert sorted(row["kind"] for row in scope.rows_of_item("i")) == [HEAD, PASSAGE, PASSAGE]
    assert scope.rows_of_item("unknown") == []


@pytest.mark.parametrize("row_id", [0, 1, 99])
def test_a_row_id_that_is_not_in_memory_is_an_outage(row_id: int) -> None:
    rows = table_of({"kind": HEAD, "_rowid": 2}, {"kind": HISTORY, "_rowid": 1}, {"kind": HEAD, "_rowid": 3})
    with pytest.raises(StorageUnavailableError):
        cache_rows(rows, ANA.name).rows_by_id(pa.chunked_array([np.array([row_id], np.uint64)]), ["kind"])


def test_one_row_of_another_scope_is_an_outage() -> None:
    with pytest.raises(StorageUnavailableError):
        cache_rows(table_of({"kind": HEAD}, {"kind": HISTORY, "scope": "owner:ben"}), ANA.name)


async def load(cache: ScopeCache, where: Location, scope: Scope = ANA) -> tuple[TableSnapshot, Snapshot]:
    tables = await open_snapshot(open_handles(where), scope)
    return tables, await cache.load(tables, SMALL_SCOPE_ROWS)


async def test_a_scope_is_loaded_once_for_searches_and_reads_use_it(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    cache = ScopeCache()
    tables = await open_snapshot(open_handles(folder), ANA)
    assert await cache.find(tables) is tables
    loaded = await cache.load(tables, SMALL_SCOPE_ROWS)
    again, again_loaded = await load(cache, folder)
    assert again is not tables
    assert memory_of(again_loaded) is memory_of(loaded) is not None
    read = await cache.find(again)
    assert isinstance(read, CachedItems)
    assert memory_of(read) is memory_of(loaded)
    assert await read.archived_bases() == frozenset()
    cache.clear()
    assert await cache.find(tables) is tables


async def test_a_larger_scope_stays_on_the_tables(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    tables, cache = await open_snapshot(open_handles(folder), ANA), ScopeCache()
    rows = await tables.count_rows()
    assert await cache.load(tables, rows - 1) is tables
    assert memory_of(await cache.load(tables, rows)) is not None


async def test_after_a_publish_the_new_version_takes_the_place_of_the_old_one(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    cache = ScopeCache()
    old, first = await load(cache, folder)
    await put(folder, ANA, "notes", {"b.md": "Text."})
    new = await open_snapshot(open_handles(folder), ANA)
    assert await cache.find(new) is new
    _, second = await load(cache, folder)
    assert await second.count_passages() == await first.count_passages() + 1
    assert await cache.find(old) is old


async def test_the_least_recently_used_scopes_go_first_and_the_last_one_always_stays(
    folder: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    for scope in SCOPES:
        await put(folder, scope, "notes", {"a.md": "Text."})
    sizes = [(await load(ScopeCache(), folder, scope))[1] for scope in SCOPES]
    largest = max(one.cached.rows.nbytes for one in sizes if isinstance(one, CachedSnapshot))
    monkeypatch.setattr(scope_cache, "SCOPE_CACHE_BYTES", 2 * largest)
    assert await cached_after(folder, SCOPES) == SCOPES[1:]
    assert await cached_after(folder, [SCOPES[0], SCOPES[1], SCOPES[0], SCOPES[2]]) == [SCOPES[0], SCOPES[2]]
    monkeypatch.setattr(scope_cache, "SCOPE_CACHE_BYTES", 1)
    assert await cached_after(folder, SCOPES) == SCOPES[2:]


async def cached_after(where: Location, scopes: list[Scope]) -> list[Scope]:
    """The scopes that are in a cache after these were loaded one after the other."""
    cache = ScopeCache()
    tables = [(await load(cache, where, scope))[0] for scope in scopes]
    found = [one.scope for one in tables if memory_of(await cache.find(one)) is not None]
    return sorted(set(found))
