"""Which rows of a scope disagree, as values, and how they are reconciled, in a dataset."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest

from knowledge.errors import StorageUnavailableError
from knowledge.store.revision import RevisionInfo
from knowledge.store.schema import ARCHIVED, DRAFT, PASSAGE, PUBLISHED, row_key
from publish_knowledge.doctor import examine
from publish_knowledge.publishing import consistency
from publish_knowledge.publishing.consistency import (
    CurrentRows,
    ScopeSurvey,
    read_current_rows,
    reconcile,
    survey_scope,
)
from publish_knowledge.publishing.lifecycle import archive_base, archive_item, restore_base, restore_item
from publish_knowledge.store import commits
from publish_knowledge.store.records import ItemHead, Range, RevisionKey
from publish_knowledge.store.scope_tables import address_of
from tests.support.datasets import ANA, Location, item, put, run_in_store
from tests.support.publishing import A_ID, B_ID, RIVER, open_tables, publish_two
from tests.support.reading import read_text

INFO = RevisionInfo(ANA, "notes", "ki_1", "kr_1", "Pump", "en", "", "file", "pump.md", 6, "0" * 64)
HEAD = ItemHead(INFO, previous_id="", fingerprint="f", state=PUBLISHED, sequence=1)
WHOLE = [(0, 4), (4, 6)]
EARLIER = ("ki_1", "kr_0")


def make_current(
    head: ItemHead | None = HEAD,
    ranges: Mapping[RevisionKey, list[Range]] = MappingProxyType({HEAD.key: WHOLE}),
    archived: frozenset[str] = frozenset(),
) -> CurrentRows:
    return CurrentRows({head.item_id: head} if head else {}, archived, ranges)


def make_survey(current: CurrentRows, archive: Mapping[RevisionKey, list[Range]], *history: ItemHead) -> ScopeSurvey:
    return ScopeSurvey(ANA.name, current, {row.key: row for row in history}, dict(archive))


def test_rows_that_agree_have_no_findings() -> None:
    survey = make_survey(make_current(), {HEAD.key: WHOLE}, HEAD)
    assert (survey.current.orphan_passages, survey.current.incomplete) == ([], [])
    assert (survey.archive_gaps, survey.lost, survey.items_without_head, survey.unfinished_items) == ([], [], [], [])


@pytest.mark.parametrize(
    "current",
    [
        make_current(head=None),
        make_current(replace(HEAD, state=ARCHIVED)),
        make_current(replace(HEAD, state=DRAFT)),
        make_current(archived=frozenset({"notes"})),
    ],
)
def test_passages_that_no_reader_may_see_are_orphans(current: CurrentRows) -> None:
    assert current.readable == {}
    assert (current.orphan_passages, current.incomplete) == ([HEAD.key], [])


def test_passages_of_an_earlier_revision_are_orphans() -> None:
    assert make_current(ranges={EARLIER: WHOLE, HEAD.key: WHOLE}).orphan_passages == [EARLIER]


@pytest.mark.parametrize("ranges", [{}, {HEAD.key: WHOLE[:1]}, {HEAD.key: WHOLE[1:]}, {EARLIER: WHOLE}])
def test_a_readable_item_needs_passages_that_tile_its_text(ranges: dict[RevisionKey, list[Range]]) -> None:
    current = make_current(ranges=ranges)
    assert current.incomplete == [HEAD]
    assert make_survey(current, {HEAD.key: WHOLE}, HEAD).lost == []
    assert make_survey(current, {HEAD.key: WHOLE[:1]}, HEAD).lost == [HEAD]


def test_every_published_revision_must_be_whole_in_the_archive() -> None:
    earlier = replace(HEAD, info=replace(INFO, revision_id="kr_0"))
    survey = make_survey(make_current(), {HEAD.key: WHOLE}, HEAD, earlier)
    assert (survey.archive_gaps, survey.lost) == ([earlier], [])
    assert make_survey(make_current(), {}).archive_gaps == [HEAD]


def test_items_are_known_by_their_history_or_by_the_archive_alone() -> None:
    without_rows = make_current(head=None, ranges={})
    assert make_survey(without_rows, {HEAD.key: WHOLE}, HEAD).items_without_head == ["ki_1"]
    assert make_survey(without_rows, {HEAD.key: WHOLE}, HEAD).unfinished_items == []
    assert make_survey(without_rows, {HEAD.key: WHOLE}).unfinished_items == ["ki_1"]


def test_reconciling_corrects_both_kinds_once_and_then_changes_nothing(folder: Location) -> None:
    async def story() -> None:
        await publish_two(folder)
        tables = await open_tables(folder)
        assert not await reconcile(tables)
        await tables.current.set_states([row_key("head", B_ID)], ARCHIVED)
        await tables.current.delete({"kind": PASSAGE, "item_id": A_ID})
        assert not await reconcile(tables, "another base")
        assert await reconcile(tables, "notes")
        assert not await reconcile(tables)
        found = await read_current_rows(tables)
        assert [item_id for item_id, _ in found.ranges] == [A_ID]
        assert await read_text(folder, ANA, A_ID) == RIVER

    asyncio.run(story())


def test_rows_are_read_at_one_version_and_a_base_may_count_as_active(folder: Location) -> None:
    async def story() -> None:
        await publish_two(folder)
        tables = await open_tables(folder)
        before = await tables.current.version()
        await run_in_store(folder, archive_base, ANA, "notes")
        assert (await read_current_rows(tables)).readable == {}
        assert [head.item_id for head in (await read_current_rows(tables, as_active=True)).incomplete] == sorted(
            [A_ID, B_ID]
        )
        assert len((await read_current_rows(tables, at=before)).readable) == 2
        assert (await survey_scope(tables)).archive_gaps == []

    asyncio.run(story())


@pytest.mark.parametrize("left", [0, 1])
def test_an_item_whose_text_is_lost_is_not_restored_empty(folder: Location, left: int) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"a.md": "A sentence about tides. " * 100})
        await run_in_store(folder, archive_item, ANA, A_ID)
        tables = await open_tables(folder)
        head = await tables.find_head(A_ID)
        assert head is not None
        await tables.revisions.delete({"place": [address_of(head).row_addresses], "ordinal": list(range(left, 50))})
        with pytest.raises(StorageUnavailableError, match="not stored in full"):
            await run_in_store(folder, restore_item, ANA, A_ID)
        assert await read_text(folder, ANA, A_ID) is None

    asyncio.run(story())


def test_a_large_base_is_restored_in_several_commits(folder: Location, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_base_that_others_keep_changing_is_reported(folder: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        monkeypatch.setattr(consistency, "ROUNDS", 0)
        await put(folder, ANA, "notes", {"a.md": "Text."})
        with pytest.raises(StorageUnavailableError, match="Run the same command again when they are done"):
            await run_in_store(folder, archive_base, ANA, "notes")

    asyncio.run(story())
