"""Archiving, restoring and purging, seen by a reader."""

from __future__ import annotations

from typing import Any

import pytest

from knowledge.errors import InvalidRequestError, StorageUnavailableError
from knowledge.store.schema import BASE, PASSAGE, PUBLISHED, row_key
from publish_knowledge.doctor import examine
from publish_knowledge.publishing.catalog import list_items, list_revisions
from publish_knowledge.publishing.lifecycle import archive_base, archive_item, purge_scope, restore_base, restore_item
from tests.support.datasets import ANA, BEN, Location, document, embedding, item, put, put_one, run_in_store
from tests.support.publishing import A_ID, B_ID, HARBOUR, RIVER, open_tables, publish_two, run
from tests.support.reading import find_items, read_text, search_scope


def test_an_archived_item_cannot_be_read_at_any_revision(location: Location) -> None:
    async def story() -> None:
        first = await put_one(location, ANA, "notes", document("a.md", RIVER))
        await put(location, ANA, "notes", {"a.md": HARBOUR, "b.md": HARBOUR})
        done = await run_in_store(location, archive_item, ANA, A_ID)
        assert (done.changed, done.item_ids) == (True, (A_ID,))
        assert await read_text(location, ANA, A_ID) is None
        assert await read_text(location, ANA, A_ID, first.revision_id) is None
        assert [hit for hit, _ in await find_items(location, ANA, "harbour boats")] == [B_ID]
        assert not (await run_in_store(location, archive_item, ANA, A_ID)).changed

    run(story())


def test_a_restored_item_is_what_it_was_and_needs_no_model(location: Location) -> None:
    async def story() -> None:
        await publish_two(location)
        before = await search_scope(location, ANA, "river boats harbour")
        await run_in_store(location, archive_item, ANA, A_ID)
        embedded = embedding().embedded
        assert (await run_in_store(location, restore_item, ANA, A_ID)).changed
        assert embedding().embedded == embedded
        assert await search_scope(location, ANA, "river boats harbour") == before
        again = await run_in_store(location, restore_item, ANA, A_ID)
        assert (again.changed, again.detail) == (False, "The item is not archived.")

    run(story())


def test_restoring_a_base_leaves_items_archived_that_were_archived_on_their_own(location: Location) -> None:
    async def story() -> None:
        await publish_two(location)
        await put(location, ANA, "notes", {"c.md": "A draft."}, draft=True)
        await run_in_store(location, archive_item, ANA, B_ID)
        archived = await run_in_store(location, archive_base, ANA, "notes")
        assert (archived.changed, archived.item_ids) == (True, (A_ID,))
        assert await read_text(location, ANA, A_ID) is None
        assert not (await run_in_store(location, archive_base, ANA, "notes")).changed
        restored = await run_in_store(location, restore_base, ANA, "notes")
        assert (restored.changed, restored.item_ids) == (True, (A_ID,))
        assert await read_text(location, ANA, A_ID) == RIVER
        assert await read_text(location, ANA, B_ID) is None
        assert await find_items(location, ANA, "draft harbour boats") != []
        assert not (await run_in_store(location, restore_base, ANA, "notes")).changed
        assert await run_in_store(location, examine) == ()

    run(story())


def test_archiving_one_base_leaves_the_others(folder: Location) -> None:
    async def story() -> None:
        await publish_two(folder)
        await put(folder, ANA, "other", {"a.md": RIVER})
        await run_in_store(folder, archive_base, ANA, "notes")
        assert await read_text(folder, ANA, item(ANA, "other", "a.md")) == RIVER
        entries = await run_in_store(folder, list_items, ANA)
        assert [(entry.head.base_id, entry.base_archived) for entry in entries] == [
            ("notes", True),
            ("notes", True),
            ("other", False),
        ]

    run(story())


def test_an_item_restored_in_an_archived_base_comes_back_with_the_base(location: Location) -> None:
    async def story() -> None:
        await publish_two(location)
        await run_in_store(location, archive_item, ANA, A_ID)
        await run_in_store(location, archive_base, ANA, "notes")
        done = await run_in_store(location, restore_item, ANA, A_ID)
        assert "when the base is restored" in done.detail
        assert await read_text(location, ANA, A_ID) is None
        assert await run_in_store(location, examine) == ()
        await run_in_store(location, restore_base, ANA, "notes")
        assert await read_text(location, ANA, A_ID) == RIVER

    run(story())


def test_a_draft_can_be_archived_and_is_a_draft_again_when_restored(folder: Location) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"a.md": RIVER}, draft=True)
        for work, state in ((archive_item, "archived"), (restore_item, "draft")):
            await run_in_store(folder, work, ANA, A_ID)
            [entry] = await run_in_store(folder, list_items, ANA)
            assert entry.head.state == state
            assert await read_text(folder, ANA, A_ID) is None

    run(story())


def test_a_base_that_is_half_archived_is_completed_by_the_same_command(folder: Location) -> None:
    async def story() -> None:
        await publish_two(folder)
        tables = await open_tables(folder)
        await run_in_store(folder, archive_base, ANA, "notes")
        await tables.current.set_states([row_key(BASE, "notes")], PUBLISHED)
        await run_in_store(folder, restore_base, ANA, "notes")
        assert await read_text(folder, ANA, A_ID) == RIVER
        await run_in_store(folder, archive_base, ANA, "notes")
        await run_in_store(folder, restore_base, ANA, "notes")
        await tables.current.set_states([row_key(BASE, "notes")], "archived")
        assert (await run_in_store(folder, archive_base, ANA, "notes")).changed
        assert await tables.current.count_rows({"kind": PASSAGE}) == 0

    run(story())


@pytest.mark.parametrize("work", [archive_item, restore_item, archive_base, restore_base, list_revisions])
@pytest.mark.parametrize("known", [False, True])
def test_an_unknown_id_is_refused_with_the_command_that_lists_ids(folder: Location, work: Any, *, known: bool) -> None:  # noqa: ANN401
    async def story() -> None:
        await put(folder, ANA if known else BEN, "notes", {"a.md": RIVER})
        with pytest.raises(InvalidRequestError, match=r"has no (item|base) 'nothing'. `knowledge list`"):
            await run_in_store(folder, work, ANA, "nothing")

    run(story())


@pytest.mark.parametrize("work", [archive_item, restore_item, archive_base, restore_base, list_revisions])
def test_without_a_dataset_nothing_is_made(folder: Location, work: Any) -> None:  # noqa: ANN401 - any command
    async def story() -> None:
        with pytest.raises(StorageUnavailableError, match="There is no dataset at"):
            await run_in_store(folder, work, ANA, "nothing")
        async with folder.store() as store:
            assert await store.list_tables() == ()

    run(story())


def test_purging_a_scope_leaves_no_text_of_it_and_all_of_the_others(location: Location) -> None:
    async def story() -> None:
        await publish_two(location)
        await put(location, BEN, "notes", {"a.md": RIVER})
        assert (await run_in_store(location, purge_scope, ANA)).changed
        assert await read_text(location, ANA, A_ID) is None
        assert await find_items(location, ANA, "river boats") == []
        assert await read_text(location, BEN, item(BEN, "notes", "a.md")) == RIVER
        assert not (await run_in_store(location, purge_scope, ANA)).changed
        assert await run_in_store(location, list_items, ANA) == ()
        await publish_two(location)
        assert await read_text(location, ANA, A_ID) == RIVER

    run(story())
