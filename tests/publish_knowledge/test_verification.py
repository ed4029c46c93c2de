"""The deep examination: damage that the doctor's usual one does not see is found and named by scope."""

from __future__ import annotations

import asyncio
from pathlib import Path

from knowledge.store.schema import PASSAGE
from publish_knowledge.verification import examine_deeply
from tests.support.datasets import ANA, BEN, Location, item, put, run_in_store

A_ID = item(ANA, "notes", "a.md")


async def deep_codes(where: Location) -> list[tuple[str, str]]:
    return [(one.code, one.where) for one in await run_in_store(where, examine_deeply)]


def test_an_intact_dataset_has_no_findings(location: Location) -> None:
    async def story() -> None:
        await put(location, ANA, "notes", {"a.md": "The harbour."})
        await put(location, ANA, "notes", {"a.md": "The river."})
        assert await deep_codes(location) == []

    asyncio.run(story())


def test_another_text_than_the_digest_s_is_found_beside_intact_scopes(folder: Location) -> None:
    async def story() -> None:
        for scope in (ANA, BEN):
            await put(folder, scope, "notes", {"a.md": "The harbour."})
        async with folder.store() as store:
            table = await store.open_table(ANA.current_table)
            assert table is not None
            rows = await table.read_rows({"kind": PASSAGE, "item_id": A_ID}, (await table.schema()).names)
            at = rows.column_names.index("text")
            changed = rows.set_column(at, rows.schema.field(at), [["The harbouR."] * rows.num_rows])
            await table.merge(changed)
        assert await deep_codes(folder) == [("damaged-text", ANA.name)]

    asyncio.run(story())


def test_a_lost_version_is_found(folder: Location) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"a.md": "The harbour."})
        await put(folder, ANA, "notes", {"a.md": "The river."})
        manifests = sorted((Path(folder.uri) / f"{ANA.current_table}.lance" / "_versions").glob("*.manifest"))
        manifests[1].unlink()
        assert await deep_codes(folder) == [("missing-version", ANA.current_table)]
        manifests[0].unlink()
        assert await deep_codes(folder) == [
            ("unfinished-publish", ANA.name),
            *[("missing-version", ANA.current_table)] * 2,
        ]

    asyncio.run(story())
