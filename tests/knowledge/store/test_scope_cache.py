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
    CALL_BYTES,
    COLUMNS,
    CachedItems,
    CachedScope,
    CachedSnapshot,
    LoadAllowance,
    ScopeCache,
    cache_rows,
    load_scope,
    select_rows,
)
from knowledge.store.snapshot import Snapshot, TableSnapshot
from tests.support.datasets import ANA, Location, embedding, put
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


def cache_table(rows: pa.Table) -> CachedScope:
    """A cached scope from rows that come in batches of two."""
    return cache_rows([select_rows(batch, ANA.name) for batch in rows.to_batches(max_chunksize=2)])


def test_rows_are_found_by_row_id_by_passage_and_by_item() -> None:
    scope = cache_table(
        table_of(
            {"kind": PASSAGE, "item_id": "i", "start": 0, "text": "first"},
            {"kind": PASSAGE, "item_id": "i", "start": 5, "text": "second"},
            {"kind": HEAD, "item_id": "i", "base_id": "notes", "state": "published"},
            {"kind": HEAD, "item_id": "j", "base_id": "drafts", "state": "draft"},
            {"kind": BASE, "base_id": "old", "state": "archived"},
            {"kind": BASE, "base_id": "back", "state": "published"},
            {"kind": HISTORY, "item_id": "i", "base_id": "history", "state": "published"},
        )
    )
    assert scope.passages == 2
    assert scope.archived_bases == {"old"}
    assert scope.published_bases == {"notes"}
    ids = pa.chunked_array([[6, 7]], pa.uint64())
    assert scope.rows_by_id(ids, ["text"]) == [{"text": "second"}, {"text": "first"}]
    found = scope.rows_of_passages([("i", 5), ("i", 9), ("unknown", 0)])
    assert [(row["kind"], row["text"]) for row in found] == [(HEAD, ""), (PASSAGE, "second")]
    assert [row["item_id"] for row in scope.rows_of_passages([("j", 0), ("i", 0)])] == ["j", "i", "i"]
    assert sorted(row["kind"] for row in scope.rows_of_item("i")) == [HEAD, PASSAGE, PASSAGE]
    assert scope.rows_of_item("unknown") == []


@pytest.mark.parametrize("row_id", [0, 1, 99])
def test_a_row_id_that_is_not_in_memory_is_an_outage(row_id: int) -> None:
    rows = table_of({"kind": HEAD, "_rowid": 2}, {"kind": HISTORY, "_rowid": 1}, {"kind": HEAD, "_rowid": 3})
    with pytest.raises(StorageUnavailableError):
        cache_table(rows).rows_by_id(pa.chunked_array([np.array([row_id], np.uint64)]), ["kind"])


def test_one_row_of_another_scope_is_an_outage() -> None:
    with pytest.raises(StorageUnavailableError):
        cache_table(table_of({"kind": HEAD}, {"kind": HISTORY, "scope": "owner:ben"}))


async def load(cache: ScopeCache, where: Location, scope: Scope = ANA) -> tuple[TableSnapshot, Snapshot]:
    tables = await open_snapshot(open_handles(where), scope)
    return tables, await cache.load(tables, LoadAllowance())


async def test_a_scope_is_loaded_once_for_searches_and_reads_use_it(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    cache = ScopeCache()
    tables = await open_snapshot(open_handles(folder), ANA)
    assert await cache.find(tables) is tables
    loaded = await cache.load(tables, LoadAllowance())
    again, again_loaded = await load(cache, folder)
    assert again is not tables
    assert memory_of(again_loaded) is memory_of(loaded) is not None
    read = await cache.find(again)
    assert isinstance(read, CachedItems)
    assert memory_of(read) is memory_of(loaded)
    assert await read.archived_bases() == frozenset()
    cache.clear()
    assert await cache.find(tables) is tables


async def test_a_scope_with_more_rows_stays_on_the_tables(folder: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    tables, cache = await open_snapshot(open_handles(folder), ANA), ScopeCache()
    rows = await tables.count_rows()
    monkeypatch.setattr(scope_cache, "SMALL_SCOPE_ROWS", rows - 1)
    assert await cache.load(tables, LoadAllowance()) is tables
    monkeypatch.setattr(scope_cache, "SMALL_SCOPE_ROWS", rows)
    assert memory_of(await cache.load(tables, LoadAllowance())) is not None


async def test_the_bytes_on_disk_are_known_before_anything_is_loaded(folder: Location) -> None:
    text = "".join(f"Sentence {number} of a text that does not repeat: {number**7}. " for number in range(9_000))
    await put(folder, ANA, "notes", {"a.md": text})
    tables = await open_snapshot(open_handles(folder), ANA)
    size, passages = await tables.size(), await tables.count_passages()
    assert len(text) < scope_cache.ROW_GROWTH * size.rows < 20 * len(text)
    # Two thousand passages have a vector index, of two bytes a number.
    assert passages < 2_000 or size.vector_index > passages * 2 * embedding().dimensions
    assert size.text_index > 10_000
    assert size.other_indexes > 1_000


@pytest.mark.parametrize("name", ["CALL_BYTES", "SCOPE_CACHE_BYTES", "INDEX_SHARE_BYTES"])
async def test_a_scope_of_too_many_bytes_stays_on_the_tables(
    folder: Location, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    await put(folder, ANA, "notes", {"a.md": "Text."})
    tables, cache = await open_snapshot(open_handles(folder), ANA), ScopeCache()
    with monkeypatch.context() as patch:
        patch.setattr(scope_cache, name, 1)
        assert await cache.load(tables, LoadAllowance()) is tables
    assert memory_of(await cache.load(tables, LoadAllowance())) is not None


async def test_rows_that_turn_out_larger_than_expected_are_let_go_of_and_not_tried_again(
    folder: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(folder, ANA, "notes", {"a.md": "The same again. " * 2_000})
    tables, cache = await open_snapshot(open_handles(folder), ANA), ScopeCache()
    with monkeypatch.context() as patch:
        patch.setattr(scope_cache, "ROW_GROWTH", 0)
        patch.setattr(scope_cache, "_LEAST_LIMIT", 1)
        assert await cache.load(tables, LoadAllowance()) is tables
    assert await cache.load(tables, LoadAllowance()) is tables
    await put(folder, ANA, "notes", {"b.md": "Text."})
    assert memory_of((await load(cache, folder))[1]) is not None


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


async def test_one_call_loads_only_as_much_as_it_may(folder: Location) -> None:
    for scope in SCOPES:
        await put(folder, scope, "notes", {"a.md": "Text."})
    tables = [await open_snapshot(open_handles(folder), scope) for scope in SCOPES]
    expected = scope_cache.ROW_GROWTH * (await tables[0].size()).rows
    cache = ScopeCache()
    assert await loaded_by(cache, tables, expected * 5 // 2) == [True, True, False]
    # The next call has what is cached for nothing, and loads the others.
    assert await loaded_by(cache, tables, expected * 3 // 2) == [True, True, True]


async def test_scopes_that_do_not_fit_together_are_served_in_the_same_way_by_every_call(
    folder: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    for scope in SCOPES:
        await put(folder, scope, "notes", {"a.md": "Text."})
    tables = [await open_snapshot(open_handles(folder), scope) for scope in SCOPES]
    expected = scope_cache.ROW_GROWTH * (await tables[0].size()).rows
    actual = (await load_scope_of(tables[0])).nbytes
    monkeypatch.setattr(scope_cache, "SCOPE_CACHE_BYTES", expected + actual * 3 // 2)
    cache = ScopeCache()
    for order in (tables, tables, tables[::-1]):
        assert sorted(await loaded_by(cache, order, CALL_BYTES)) == [False, True, True]
    kept = [memory_of(await cache.find(one)) for one in tables]
    assert [one is not None for one in kept] == [True, True, False]
    monkeypatch.setattr(scope_cache, "KEEP_SECONDS", -1.0)
    cache.touch([SCOPES[0]])
    assert await loaded_by(cache, tables[2:], CALL_BYTES) == [True]
    # Only the least recently used one had to go.
    assert [memory_of(await cache.find(one)) is not None for one in tables] == [True, False, True]


async def load_scope_of(tables: TableSnapshot) -> CachedScope:
    cached = await load_scope(tables, CALL_BYTES)
    assert cached is not None
    return cached


async def loaded_by(cache: ScopeCache, tables: list[TableSnapshot], allowed: int) -> list[bool]:
    """Which of the tables are in memory for a call that may load so many bytes."""
    allowance = LoadAllowance(allowed)
    return [memory_of(await cache.load(one, allowance)) is not None for one in tables]
