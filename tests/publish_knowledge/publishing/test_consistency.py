"""Rare turns of publishing and restoring, each made for real."""

from __future__ import annotations

import asyncio

import pytest

from knowledge.errors import StorageUnavailableError
from publish_knowledge.doctor import examine
from publish_knowledge.publishing import consistency
from publish_knowledge.publishing.lifecycle import archive_base, archive_item, restore_base, restore_item
from publish_knowledge.store import commits
from publish_knowledge.store.scope_tables import address_of, open_scope
from tests.support.datasets import ANA, Location, item, put, run_in_store
from tests.support.publishing import A_ID
from tests.support.reading import read_text


@pytest.mark.parametrize("left", [0, 1])
def test_an_item_whose_text_is_lost_is_not_brought_back_empty(folder: Location, left: int) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"a.md": "A sentence about tides. " * 100})
        await run_in_store(folder, archive_item, ANA, A_ID)
        async with folder.store() as store:
            tables = await open_scope(store, ANA)
            assert tables is not None
            head = await tables.find_head(A_ID)
            assert head is not None
            await tables.revisions.delete({"place": [address_of(head).row_addresses], "ordinal": list(range(left, 50))})
        with pytest.raises(StorageUnavailableError, match="not stored in full"):
            await run_in_store(folder, restore_item, ANA, A_ID)
        assert await read_text(folder, ANA, A_ID) is None

    asyncio.run(story())


def test_a_large_base_comes_back_in_several_commits(folder: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        monkeypatch.setattr(commits, "COMMIT_CHARS", 30)
        texts = {f"{number}.md": f"Text number {number}." for number in range(5)}
        await put(folder, ANA, "notes", texts)
        await run_in_store(folder, archive_base, ANA, "notes")
        await run_in_store(folder, restore_base, ANA, "notes")
        for path, text in texts.items():
            assert await read_text(folder, ANA, item(ANA, "notes", path)) == text
        assert await run_in_store(folder, examine) == ()

    asyncio.run(story())


def test_a_base_that_never_comes_to_rest_is_reported(folder: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        monkeypatch.setattr(consistency, "ROUNDS", 0)
        await put(folder, ANA, "notes", {"a.md": "Text."})
        with pytest.raises(StorageUnavailableError, match="Run the same command again when they are done"):
            await run_in_store(folder, archive_base, ANA, "notes")

    asyncio.run(story())
