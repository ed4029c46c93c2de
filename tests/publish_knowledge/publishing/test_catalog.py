"""What a scope holds, as its operator sees it."""

from __future__ import annotations

from publish_knowledge.publishing.catalog import list_items
from publish_knowledge.publishing.lifecycle import archive_item
from tests.support.datasets import ANA, BEN, Location, put, run_in_store
from tests.support.publishing import B_ID, HARBOUR, RIVER, publish_two, run


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
        assert len(await run_in_store(folder, list_items, ANA, "atlas")) == 1
        assert await run_in_store(folder, list_items, BEN) == ()

    run(story())
