"""The pair of tables of one scope."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from knowledge.errors import StorageUnavailableError
from publish_knowledge.doctor import examine
from publish_knowledge.publishing.catalog import list_items
from publish_knowledge.store.scope_tables import open_scope
from tests.support.datasets import ANA, BEN, Location, put, run_in_store


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
