"""The pair of tables of one scope."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pyarrow as pa
import pytest

from knowledge.errors import StorageUnavailableError
from knowledge.store.schema import archive_address
from publish_knowledge.doctor import examine
from publish_knowledge.publishing.catalog import list_items
from publish_knowledge.publishing.lifecycle import archive_base
from publish_knowledge.store.scope_tables import (
    CURRENT_INDEXES,
    REVISIONS_INDEXES,
    Address,
    address_of,
    ensure_scope,
    find_scopes,
    open_scope,
    require_scope,
)
from tests.support.datasets import ANA, BEN, SUPPORT, Location, put, run_in_store
from tests.support.publishing import A_ID, open_tables, publish_two


@pytest.mark.parametrize("item_id", ["ki_1", "ki_2"])
def test_an_address_covers_the_rows_of_its_revision_and_of_no_other(item_id: str) -> None:
    covered = Address(item_id, "kr_1", 100_000).row_addresses
    assert all(archive_address(item_id, "kr_1", start) in covered for start in (0, 1, 50_000, 100_000))
    assert archive_address(item_id, "kr_2", 0) not in covered
    assert len(Address(item_id, "kr_1", 0).row_addresses) == 1


def test_tables_are_created_once_with_all_indexes(folder: Location) -> None:
    async def story() -> None:
        async with folder.store() as store:
            assert await open_scope(store, ANA) is None
            first = await ensure_scope(store, ANA)
            versions = [await first.current.version(), await first.revisions.version()]
            assert sorted((await first.current.read_health()).indexes) == sorted(CURRENT_INDEXES)
            assert sorted((await first.revisions.read_health()).indexes) == sorted(REVISIONS_INDEXES)
            again = await ensure_scope(store, ANA)
            assert [await again.current.version(), await again.revisions.version()] == versions
            opened = await open_scope(store, ANA)
            assert opened is not None
            assert (opened.scope, opened.current.name, opened.current_schema) == (
                ANA,
                ANA.current_table,
                await opened.current.schema(),
            )

    asyncio.run(story())


def test_a_missing_index_is_built_by_the_next_publisher(folder: Location) -> None:
    async def story() -> None:
        async with folder.store() as store:
            tables = await ensure_scope(store, ANA)
            await tables.current.drop_index("terms_idx")
            await ensure_scope(store, ANA)
            assert sorted((await tables.current.read_health()).indexes) == sorted(CURRENT_INDEXES)

    asyncio.run(story())


def test_scopes_are_found_by_their_tables_and_all_other_tables_are_listed(folder: Location) -> None:
    async def story() -> None:
        await put(folder, SUPPORT, "notes", {"a.md": "Text."})
        async with folder.store() as store:
            await ensure_scope(store, ANA)
            await store.drop_table(ANA.revisions_table)
            for name in ("products", "current_products"):
                await store.create_table(name, pa.schema([pa.field("name", pa.string())]))
            listing = await find_scopes(store)
        assert listing.scopes == [ANA, SUPPORT]
        assert listing.unknown_tables == ["current_products", "products"]

    asyncio.run(story())


def test_a_scope_is_opened_only_in_a_dataset(folder: Location) -> None:
    async def story() -> None:
        async with folder.store() as store:
            await ensure_scope(store, ANA)
            with pytest.raises(StorageUnavailableError, match="There is no dataset"):
                await require_scope(store, ANA)

    asyncio.run(story())


def test_heads_history_and_states_of_bases_are_read_at_any_version(folder: Location) -> None:
    async def story() -> None:
        await publish_two(folder)
        tables = await open_tables(folder)
        before = await tables.current.version()
        await put(folder, ANA, "atlas", {"z.md": "Text."})
        await run_in_store(folder, archive_base, ANA, "notes")
        assert await tables.find_heads([]) == {}
        assert list(await tables.find_heads([A_ID, "ki_nothing"])) == [A_ID]
        assert await tables.find_head("ki_nothing") is None
        assert {head.base_id for head in await tables.list_heads("notes")} == {"notes"}
        assert (len(await tables.list_heads(None)), len(await tables.list_heads(None, before))) == (3, 2)
        assert (len(await tables.list_history(None)), len(await tables.list_history(A_ID))) == (3, 1)
        assert await tables.list_archived_bases() == {"notes"}
        assert await tables.list_archived_bases(before) == frozenset()
        assert [await tables.is_base_archived(base_id) for base_id in ("notes", "atlas", "nothing")] == [
            True,
            False,
            False,
        ]

    asyncio.run(story())


def test_many_revisions_are_read_at_once_and_those_that_are_not_there_are_left_out(folder: Location) -> None:
    async def story() -> None:
        texts = {f"{number}.md": f"Text {number}." for number in range(101)}
        await put(folder, ANA, "notes", texts)
        tables = await open_tables(folder)
        addresses = [address_of(head) for head in await tables.list_heads(None)]
        stored = await tables.read_revisions([*addresses, addresses[0], Address("ki_1", "kr_nothing", 100)])
        assert sorted(stored) == sorted(address.revision_id for address in addresses)
        assert all(revision.is_complete for revision in stored.values())
        assert len(await tables.list_stored_metadata()) == len(texts)
        assert [one.key for one in await tables.list_stored_metadata(addresses[0].item_id)] == [
            (addresses[0].item_id, addresses[0].revision_id)
        ]
        assert await tables.read_archive_ranges() == await tables.read_current_ranges("notes")
        assert await tables.read_current_ranges("nothing") == {}

    asyncio.run(story())


def test_a_published_revision_is_the_same_in_current_and_in_the_archive(folder: Location) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"a.md": "A sentence about tides. " * 200})
        tables = await open_tables(folder)
        head = await tables.find_head(A_ID)
        assert head is not None
        visible = await tables.read_visible_revision(head)
        archived = (await tables.read_revisions([address_of(head)]))[head.revision_id]
        assert len(visible.passages) > 1
        assert (visible.info, visible.passages) == (archived.info, archived.passages)
        assert (visible.vectors == archived.vectors).all()

    asyncio.run(story())


def test_a_table_under_the_wrong_name_is_refused(folder: Location) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"a.md": "Text."})
        source = Path(folder.uri)
        for mine, other in ((ANA.current_table, BEN.current_table), (ANA.revisions_table, BEN.revisions_table)):
            (source / f"{mine}.lance").rename(source / f"{other}.lance")
        with pytest.raises(StorageUnavailableError, match="does not belong to owner:ben"):
            await put(folder, BEN, "notes", {"a.md": "Text."})
        with pytest.raises(StorageUnavailableError, match="does not belong to owner:ben"):
            await run_in_store(folder, list_items, BEN)
        assert {finding.code for finding in await run_in_store(folder, examine)} == {"strange-table"}

    asyncio.run(story())


def test_half_a_pair_is_refused_for_reading(folder: Location) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"a.md": "Text."})
        async with folder.store() as store:
            await store.drop_table(ANA.revisions_table)
            await store.drop_table(ANA.revisions_table)
            with pytest.raises(StorageUnavailableError, match=r"is missing\. Run `knowledge doctor`"):
                await open_scope(store, ANA)

    asyncio.run(story())
