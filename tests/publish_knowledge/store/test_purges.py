"""Purges as writers see them: the record in the marker, tables of before a purge, and a guard's two checks."""

from __future__ import annotations

import pyarrow as pa
import pytest

from knowledge.store.schema import MARKER_TABLE
from publish_knowledge.publishing.lifecycle import purge_scope
from publish_knowledge.store.purges import (
    PurgedError,
    PurgeRecord,
    digest_of,
    find_digest,
    is_leftover,
    label_schema,
    purge_tables,
    read_record,
    wait_for_purge,
)
from publish_knowledge.store.scope_tables import ensure_scope, open_scope
from tests.support.datasets import ANA, BEN, Location, run_in_store
from tests.support.publishing import publish_two, run


def test_a_record_tells_the_latest_purge_and_those_that_have_not_ended() -> None:
    assert (PurgeRecord().number, PurgeRecord().unfinished) == (0, frozenset())
    record = PurgeRecord(frozenset({"9:a", "10:b"}), frozenset({"9:a", "8:c"}))
    assert (record.number, record.unfinished) == (10, frozenset({"10:b"}))


def test_names_of_tables_have_the_digest_and_others_none() -> None:
    assert find_digest(ANA.current_table) == find_digest(ANA.revisions_table) == digest_of(ANA) != digest_of(BEN)
    assert find_digest(MARKER_TABLE) == ""


def test_a_purge_is_recorded_once_and_says_nothing_of_whose_it_is(location: Location) -> None:
    async def story() -> None:
        await publish_two(location)
        for number in (1, 2):
            await run_in_store(location, purge_scope, ANA)
            record = await run_in_store(location, read_record, digest_of(ANA))
            assert (record.number, record.unfinished, len(record.begun)) == (number, frozenset(), 1)
        assert await run_in_store(location, read_record, digest_of(BEN)) == PurgeRecord()
        async with location.store() as store:
            table = await store.open_table(MARKER_TABLE)
            assert table is not None
            assert not any("ana" in key for key in await table.read_column("key"))

    run(story())


def test_what_is_in_the_marker_and_is_no_purge_is_ignored(folder: Location) -> None:
    async def story() -> None:
        await publish_two(folder)
        async with folder.store() as store:
            table = await store.open_table(MARKER_TABLE)
            assert table is not None
            await table.insert_missing(pa.table({"key": ["", "abc", "abc 1:0f sometimes", "abc x begun"]}))
            assert await read_record(store, "abc") == PurgeRecord()

    run(story())


def test_tables_carry_the_number_of_the_purge_before_them(folder: Location) -> None:
    async def story() -> None:
        await publish_two(folder)
        async with folder.store() as store:
            before = await (await ensure_scope(store, ANA)).current.schema()
            await purge_scope(store, ANA)
            record = await read_record(store, digest_of(ANA))
            assert is_leftover(before, record)
            after = await (await ensure_scope(store, ANA)).current.schema()
            assert not is_leftover(after, record)
            assert label_schema(before, record).metadata == after.metadata
            assert label_schema(before, PurgeRecord()) is before

    run(story())


def test_a_guard_refuses_after_a_purge_of_its_own_scope_only(location: Location) -> None:
    async def story() -> None:
        await publish_two(location)
        async with location.store() as store:
            guard, other = await wait_for_purge(store, ANA), await wait_for_purge(store, BEN)
            await guard.check()
            await purge_tables(store, digest_of(ANA))
            with pytest.raises(PurgedError, match="owner:ana was purged meanwhile"):
                await guard.check()
            await other.check()
            await (await wait_for_purge(store, ANA)).check_after_write()

    run(story())


def test_a_check_after_a_write_removes_what_the_write_made(folder: Location) -> None:
    async def story() -> None:
        await publish_two(folder)
        async with folder.store() as store:
            guard = await wait_for_purge(store, ANA)
            await purge_tables(store, digest_of(ANA))
            await ensure_scope(store, ANA)
            with pytest.raises(PurgedError):
                await guard.check_after_write()
            assert await store.list_tables() == (MARKER_TABLE,)
            assert await open_scope(store, ANA) is None

    run(story())


def test_without_a_marker_nothing_is_recorded_and_tables_are_removed(folder: Location) -> None:
    async def story() -> None:
        await publish_two(folder)
        async with folder.store() as store:
            await store.drop_table(MARKER_TABLE)
            await (await wait_for_purge(store, ANA)).check()
            assert await purge_tables(store, digest_of(ANA))
            assert not await purge_tables(store, digest_of(ANA))
            assert await store.list_tables() == ()

    run(story())
