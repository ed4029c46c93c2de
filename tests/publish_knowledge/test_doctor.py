"""The doctor: each fault is made in a real dataset, found, and repaired where it can be."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pytest

from knowledge.errors import StorageUnavailableError
from knowledge.scopes import Scope
from knowledge.store.schema import HISTORY, MARKER_TABLE, PASSAGE, current_schema, head_address
from publish_knowledge import doctor
from publish_knowledge.doctor import examine, repair
from publish_knowledge.publishing.consistency import fill_passages
from publish_knowledge.publishing.lifecycle import archive_item, purge_scope
from publish_knowledge.store.arrow_rows import build_base_rows
from publish_knowledge.store.database import Store
from publish_knowledge.store.records import ItemHead
from publish_knowledge.store.scope_tables import ScopeTables, address_of, ensure_scope, open_scope
from tests.support.datasets import ANA, BEN, SUPPORT, Location, embedding, item, put, run_in_store
from tests.support.reading import read_text

RIVER = "# Rivers\n\n" + "The river carries boats to the harbour. " * 60
HARBOUR = "# Harbours\n\nThe harbour shelters boats from storms.\n"
A_ID, B_ID = item(ANA, "notes", "a.md"), item(ANA, "notes", "b.md")

Damage = Callable[[Store, ScopeTables], Awaitable[None]]


async def publish_two_items(where: Location) -> None:
    await put(where, ANA, "notes", {"a.md": HARBOUR, "b.md": HARBOUR})
    await put(where, ANA, "notes", {"a.md": RIVER})


async def inflict(damage: Damage, where: Location) -> None:
    async with where.store() as store:
        await damage(store, await ensure_scope(store, ANA))


async def codes(where: Location) -> list[str]:
    return [finding.code for finding in await run_in_store(where, examine)]


async def without_passages(_store: Store, tables: ScopeTables) -> None:
    await tables.current.delete({"kind": PASSAGE, "item_id": A_ID})


async def with_one_passage_less(_store: Store, tables: ScopeTables) -> None:
    await tables.current.delete({"kind": PASSAGE, "item_id": A_ID, "ordinal": 1})


async def with_passages_of_an_archived_base(_store: Store, tables: ScopeTables) -> None:
    await tables.current.merge(build_base_rows(ANA, tables.current_schema, "notes", archived=True))


async def without_a_head(_store: Store, tables: ScopeTables) -> None:
    await tables.current.delete({"kind": "head", "item_id": A_ID})


async def without_the_archive_of_the_current_revision(_store: Store, tables: ScopeTables) -> None:
    head = await tables.find_head(A_ID)
    assert head is not None
    await tables.revisions.delete({"place": [address_of(head).row_addresses]})


async def half_published(_store: Store, tables: ScopeTables) -> None:
    await tables.current.delete({"kind": ["head", PASSAGE, HISTORY], "item_id": A_ID})


async def without_an_index(_store: Store, tables: ScopeTables) -> None:
    await tables.current.drop_index("terms_idx")


async def without_revisions(store: Store, _tables: ScopeTables) -> None:
    await store.drop_table(ANA.revisions_table)


async def without_current(store: Store, _tables: ScopeTables) -> None:
    await store.drop_table(ANA.current_table)


async def without_a_marker(store: Store, _tables: ScopeTables) -> None:
    await store.drop_table(MARKER_TABLE)


REPAIRED = [
    (without_passages, ["missing-passages"], RIVER),
    (with_one_passage_less, ["missing-passages"], RIVER),
    (without_the_archive_of_the_current_revision, ["archive-gap"], RIVER),
    (without_a_head, ["stray-passages", "missing-head"], None),
    (half_published, ["unfinished-publish"], None),
    (without_an_index, ["missing-index"], RIVER),
    (without_a_marker, ["missing-marker"], RIVER),
    (without_current, ["missing-twin"], None),
]


@pytest.mark.parametrize(("damage", "expected", "text"), REPAIRED)
def test_a_fault_is_found_and_repaired(folder: Location, damage: Damage, expected: list[str], text: str | None) -> None:
    async def story() -> None:
        await publish_two_items(folder)
        assert await codes(folder) == []
        await inflict(damage, folder)
        findings = await run_in_store(folder, examine)
        assert [finding.code for finding in findings] == expected
        assert all(finding.repairable for finding in findings)
        assert await run_in_store(folder, repair) == ()
        assert await read_text(folder, ANA, A_ID) == text
        # Whatever was lost, publishing the sources again brings it back.
        await put(folder, ANA, "notes", {"a.md": RIVER, "b.md": HARBOUR})
        assert await read_text(folder, ANA, A_ID) == RIVER
        assert await read_text(folder, ANA, B_ID) == HARBOUR
        assert await codes(folder) == []

    asyncio.run(story())


def test_passages_of_an_archived_base_are_found_and_removed(folder: Location) -> None:
    async def story() -> None:
        await publish_two_items(folder)
        await inflict(with_passages_of_an_archived_base, folder)
        assert await codes(folder) == ["stray-passages", "stray-passages"]
        assert await run_in_store(folder, repair) == ()

    asyncio.run(story())


def test_an_item_whose_text_is_lost_is_archived_until_it_is_published_again(folder: Location) -> None:
    async def story() -> None:
        await publish_two_items(folder)
        await inflict(without_the_archive_of_the_current_revision, folder)
        await inflict(with_one_passage_less, folder)
        assert await codes(folder) == ["lost-text"]
        left = await run_in_store(folder, repair)
        assert [(finding.code, finding.repairable) for finding in left] == [("archive-gap", False)]
        assert await read_text(folder, ANA, A_ID) is None
        await put(folder, ANA, "notes", {"a.md": RIVER})
        assert await read_text(folder, ANA, A_ID) == RIVER
        assert await codes(folder) == []

    asyncio.run(story())


def test_a_partial_revision_in_the_archive_is_replaced_when_its_source_is_published_again(folder: Location) -> None:
    async def story() -> None:
        await publish_two_items(folder)
        await run_in_store(folder, archive_item, ANA, A_ID)

        async def tear(_store: Store, tables: ScopeTables) -> None:
            head = await tables.find_head(A_ID)
            assert head is not None
            await tables.revisions.delete({"place": [address_of(head).row_addresses], "ordinal": 0})

        await inflict(tear, folder)
        assert await codes(folder) == ["archive-gap"]
        await put(folder, ANA, "notes", {"a.md": RIVER})
        assert await read_text(folder, ANA, A_ID) == RIVER
        assert await codes(folder) == []

    asyncio.run(story())


def test_a_missing_archive_is_rebuilt_from_current_and_the_rest_is_reported(folder: Location) -> None:
    async def story() -> None:
        await publish_two_items(folder)
        await inflict(without_revisions, folder)
        assert await codes(folder) == ["missing-twin"]
        left = await run_in_store(folder, repair)
        assert [(finding.code, finding.repairable) for finding in left] == [("archive-gap", False)]
        assert "nothing else has it" in left[0].detail
        assert await read_text(folder, ANA, A_ID) == RIVER

    asyncio.run(story())


def test_an_interrupted_publish_is_kept_as_a_draft(folder: Location) -> None:
    async def story() -> None:
        await publish_two_items(folder)
        await inflict(half_published, folder)
        await run_in_store(folder, repair)
        async with folder.store() as store:
            tables = await open_scope(store, ANA)
            assert tables is not None
            head = await tables.find_head(A_ID)
            assert head is not None
            assert (head.state, head.revision_id) == ("draft", "")
            assert await tables.current.count_rows({"place": head_address(A_ID)}) == 1

    asyncio.run(story())


def test_another_embedding_model_is_reported_and_nothing_is_touched(folder: Location) -> None:
    async def story() -> None:
        await publish_two_items(folder)
        other = Store(folder.uri, "another-model", embedding().dimensions)
        for work in (examine, repair):
            [finding] = await work(other)
            assert (finding.code, finding.repairable) == ("wrong-model", False)
            assert "another-model" in finding.detail
        await run_in_store(folder, _without_marker)
        assert [finding.code for finding in await examine(other)] == ["missing-marker", "wrong-schema"]

    asyncio.run(story())


async def _without_marker(store: Store) -> None:
    await store.drop_table(MARKER_TABLE)


def test_a_missing_dataset_is_reported(folder: Location) -> None:
    async def story() -> None:
        for work in (examine, repair):
            [finding] = await run_in_store(folder, work)
            assert (finding.code, finding.repairable) == ("missing-marker", False)

    asyncio.run(story())


def test_a_table_of_another_scope_under_this_name_is_reported(folder: Location) -> None:
    async def story() -> None:
        await publish_two_items(folder)
        model = embedding()
        async with folder.store() as store:
            await store.create_table(BEN.current_table, current_schema(ANA, model.model, model.dimensions))
            await store.create_table("somebody_elses", pa.schema([pa.field("x", pa.int64())]))
            findings = await examine(store)
        assert [(finding.code, finding.where) for finding in findings] == sorted(
            [("strange-table", BEN.current_table), ("strange-table", "somebody_elses")], key=lambda pair: pair[1]
        )

    asyncio.run(story())


def test_rows_outside_the_indexes_are_reported_and_indexed(folder: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        await publish_two_items(folder)
        monkeypatch.setattr("publish_knowledge.doctor.MAX_UNINDEXED", 1)
        assert await codes(folder) == ["unindexed-rows", "unindexed-rows"]
        assert await run_in_store(folder, repair) == ()

    asyncio.run(story())


def test_a_scope_with_one_table_is_completed_by_the_next_publish(folder: Location) -> None:
    async def story() -> None:
        await put(folder, BEN, "notes", {"a.md": RIVER})
        async with folder.store() as store:
            await ensure_scope(store, ANA)
        shutil.rmtree(Path(folder.uri) / f"{ANA.current_table}.lance")
        await publish_two_items(folder)
        assert await read_text(folder, ANA, A_ID) == RIVER
        assert await codes(folder) == []

    asyncio.run(story())


def lose_data(where: Location, scope: Scope) -> None:
    """Remove the data files of a scope's `current` table, as a purge beside an older publisher did."""
    shutil.rmtree(Path(where.uri) / f"{scope.current_table}.lance" / "data")


def lose_archive_too(where: Location, scope: Scope) -> None:
    """Leave one of the two tables, and nothing of its data."""
    lose_data(where, scope)
    shutil.rmtree(Path(where.uri) / f"{scope.revisions_table}.lance")


def damage_manifests(where: Location, scope: Scope) -> None:
    """Leave manifests that cannot be parsed."""
    for file in (Path(where.uri) / f"{scope.current_table}.lance" / "_versions").glob("*.manifest"):
        file.write_bytes(b"not a manifest")


def damage_data(where: Location, scope: Scope) -> None:
    """Leave data files that cannot be parsed."""
    for file in (Path(where.uri) / f"{scope.current_table}.lance" / "data").iterdir():
        file.write_bytes(b"not data")


@pytest.mark.parametrize("damage_files", [lose_data, lose_archive_too, damage_manifests, damage_data])
def test_a_scope_that_cannot_be_repaired_is_said_to_be_so_and_the_others_are_repaired(
    folder: Location, damage_files: Callable[[Location, Scope], None]
) -> None:
    async def story() -> None:
        await publish_two_items(folder)
        for scope in (BEN, SUPPORT):
            await put(folder, scope, "notes", {"a.md": RIVER})
        # Names decide the order of scopes: one is before the damaged one, one after it.
        damage_files(folder, BEN)
        await inflict(without_passages, folder)
        async with folder.store() as store:
            tables = await ensure_scope(store, SUPPORT)
            await tables.current.delete({"kind": PASSAGE})
        found = await run_in_store(folder, examine)
        assert {finding.repairable for finding in found if "missing-passages" in finding.code} == {True}
        broken = [finding for finding in found if finding.code != "missing-passages"]
        assert [finding.repairable for finding in broken] == [False] * len(broken)
        assert len(broken) >= 1
        assert await run_in_store(folder, repair) == tuple(broken)
        assert await read_text(folder, ANA, A_ID) == RIVER
        assert await read_text(folder, SUPPORT, item(SUPPORT, "notes", "a.md")) == RIVER
        # What the finding advises helps.
        await run_in_store(folder, purge_scope, BEN)
        await put(folder, BEN, "notes", {"a.md": RIVER})
        assert await codes(folder) == []

    asyncio.run(story())


def test_a_repair_that_fails_is_reported_and_the_others_are_repaired(
    folder: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        await publish_two_items(folder)
        await put(folder, BEN, "notes", {"a.md": RIVER})
        await inflict(without_passages, folder)
        async with folder.store() as store:
            tables = await ensure_scope(store, BEN)
            await tables.current.delete({"kind": PASSAGE})

        async def fail(tables: ScopeTables, heads: Iterable[ItemHead]) -> None:
            if tables.scope == BEN:
                raise StorageUnavailableError("The text is not stored in full.")
            await fill_passages(tables, heads)

        with monkeypatch.context() as patch:
            patch.setattr(doctor, "fill_passages", fail)
            left = await run_in_store(folder, repair)
        assert {finding.where for finding in left} == {BEN.name}
        assert {finding.repairable for finding in left} == {False}
        assert left[-1].code == "repair-failed"
        assert left[-1].detail == "The text is not stored in full."
        assert await read_text(folder, ANA, A_ID) == RIVER

    asyncio.run(story())
