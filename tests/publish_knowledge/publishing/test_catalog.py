"""What a scope contains, as its operator sees it."""

from __future__ import annotations

import pytest

from knowledge.errors import InvalidRequestError, StorageUnavailableError
from publish_knowledge.publishing.catalog import list_items, list_revisions, require_item
from publish_knowledge.publishing.lifecycle import archive_base, archive_item
from tests.support.datasets import ANA, BEN, Location, document, put, put_one, run_in_store
from tests.support.publishing import A_ID, B_ID, HARBOUR, RIVER, publish_two, run
from tests.support.reading import read_text


def test_items_are_listed_in_every_state_with_the_drafts_that_wait(folder: Location) -> None:
    async def story() -> None:
        await publish_two(folder)
        await put(folder, ANA, "notes", {"a.md": HARBOUR, "c.md": RIVER}, draft=True)
        await put(folder, ANA, "atlas", {"z.md": RIVER})
        await run_in_store(folder, archive_item, ANA, B_ID)
        entries = await run_in_store(folder, list_items, ANA)
        assert [
            (entry.head.base_id, entry.head.info.source_uri, entry.head.state, len(entry.drafts)) for entry in entries
        ] == [
            ("atlas", "z.md", "published", 0),
            ("notes", "a.md", "published", 1),
            ("notes", "b.md", "archived", 0),
            ("notes", "c.md", "draft", 1),
        ]
        assert [entry.is_readable for entry in entries] == [True, True, False, False]
        assert len(await run_in_store(folder, list_items, ANA, "atlas")) == 1
        assert await run_in_store(folder, list_items, BEN) == ()

    run(story())


def test_items_of_an_archived_base_are_listed_but_not_readable(folder: Location) -> None:
    async def story() -> None:
        await publish_two(folder)
        await put(folder, ANA, "atlas", {"z.md": RIVER})
        await run_in_store(folder, archive_base, ANA, "notes")
        entries = await run_in_store(folder, list_items, ANA)
        assert [
            (entry.head.base_id, entry.head.state, entry.base_archived, entry.is_readable) for entry in entries
        ] == [
            ("atlas", "published", False, True),
            ("notes", "published", True, False),
            ("notes", "published", True, False),
        ]

    run(story())


def test_revisions_are_listed_latest_first_and_all_are_readable(location: Location) -> None:
    async def story() -> None:
        given = [("River", RIVER), ("River", HARBOUR), ("River", RIVER), ("Stream", RIVER)]
        made = [await put_one(location, ANA, "notes", document("a.md", text, title=title)) for title, text in given]
        ids = [outcome.revision_id for outcome in made]
        assert [await read_text(location, ANA, A_ID, revision) for revision in ids] == [text for _, text in given]
        entries = await run_in_store(location, list_revisions, ANA, A_ID)
        assert [entry.info.revision_id for entry in entries] == ids[::-1]
        assert [entry.previous_id for entry in entries] == [ids[2], ids[1], ids[0], ""]
        assert [entry.sequence for entry in entries] == [4, 3, 2, 1]
        assert [entry.info.title for entry in entries] == ["Stream", "River", "River", "River"]
        assert [entry.state for entry in entries] == ["current", "earlier", "earlier", "earlier"]
        assert [entry.at for entry in entries] == [entry.info.published_at for entry in entries]

    run(story())


def test_drafts_are_listed_before_what_was_published(folder: Location) -> None:
    async def story() -> None:
        await publish_two(folder)
        draft = await put_one(folder, ANA, "notes", document("a.md", HARBOUR), draft=True)
        first, *rest = await run_in_store(folder, list_revisions, ANA, A_ID)
        assert (first.info.revision_id, first.state, first.sequence) == (draft.revision_id, "draft", 0)
        assert first.at.endswith("Z")
        assert [entry.state for entry in rest] == ["current"]

    run(story())


def test_an_item_is_required_in_a_dataset_and_in_its_scope(folder: Location) -> None:
    async def story() -> None:
        with pytest.raises(StorageUnavailableError, match="There is no dataset"):
            await run_in_store(folder, require_item, ANA, A_ID)
        await publish_two(folder)
        tables, head = await run_in_store(folder, require_item, ANA, A_ID)
        assert (tables.scope, head.item_id, head.state) == (ANA, A_ID, "published")
        for scope, item_id in ((ANA, "ki_nothing"), (BEN, A_ID)):
            with pytest.raises(InvalidRequestError, match=f"{scope.name} has no item '{item_id}'") as refused:
                await run_in_store(folder, require_item, scope, item_id)
            assert refused.value.field == "item_id"

    run(story())
