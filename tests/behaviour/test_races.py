"""Concurrent writers and readers: no item is mixed or doubled, every loss is reported, no wrong text is read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from knowledge.errors import InvalidRequestError, ResourceUnavailableError
from knowledge.requests import ReadRequest, SearchRequest
from knowledge.service import KnowledgeService
from publish_knowledge.doctor import examine
from publish_knowledge.maintenance import optimize_dataset
from publish_knowledge.publishing.lifecycle import archive_base, archive_item, restore_base, restore_item
from publish_knowledge.publishing.plan import ItemOutcome
from publish_knowledge.store.records import ItemHead
from publish_knowledge.store.scope_tables import open_scope
from tests.support.campaign import choose_trials
from tests.support.datasets import ANA, Location, document, item, put, put_one, run_in_store
from tests.support.reading import WHOLE_TEXT, open_service, read_text

DISK_TRIALS, S3_TRIALS = choose_trials(20, 100), choose_trials(5, 40)
"""Fewer on the S3 server, where each trial takes two seconds."""
ONE = "The first writer's words about tides. " * 40
TWO = "The second writer's words about winds, which are longer. " * 60


def choose_range(where: Location) -> range:
    return range(S3_TRIALS if where.options else DISK_TRIALS)


async def run_at_once(*work: Awaitable[Any]) -> list[Any]:
    return await asyncio.gather(*work)


async def publish_at_once(where: Location, path: str, *texts: str) -> list[ItemOutcome]:
    """Publish several texts of one item concurrently, each from a store of its own."""
    return await run_at_once(*(put_one(where, ANA, "notes", document(path, text)) for text in texts))


async def read_head(where: Location, item_id: str) -> ItemHead:
    async with where.store() as store:
        tables = await open_scope(store, ANA)
        assert tables is not None
        head = await tables.find_head(item_id)
        assert head is not None
        assert await tables.current.count_rows({"kind": "head", "item_id": item_id}) == 1
        return head


async def assert_sound(where: Location) -> None:
    assert await run_in_store(where, examine) == ()


async def assert_reconciled(where: Location, texts: tuple[str, ...], outcomes: list[ItemOutcome]) -> None:
    """One text is current, both were published, and a publisher that overwrote the other reported it."""
    winner = await read_head(where, outcomes[0].item_id)
    by_revision = {outcome.revision_id: text for outcome, text in zip(outcomes, texts, strict=True)}
    assert await read_text(where, ANA, winner.item_id) == by_revision[winner.revision_id]
    for revision, text in by_revision.items():
        assert await read_text(where, ANA, winner.item_id, revision) == text
    last = next(outcome for outcome in outcomes if outcome.revision_id == winner.revision_id)
    other = next(outcome for outcome in outcomes if outcome.revision_id != winner.revision_id)
    if winner.previous_id == other.revision_id:
        assert last.action == "changed"
    else:
        assert last.action == "overwritten"
        assert other.revision_id in last.detail
    assert other.action in {"created", "changed"}


def test_two_publishers_of_one_new_item_leave_one_and_the_later_reports_the_other(location: Location) -> None:
    async def story() -> None:
        for trial in choose_range(location):
            outcomes = await publish_at_once(location, f"{trial}.md", ONE, TWO)
            await assert_reconciled(location, (ONE, TWO), outcomes)
        await assert_sound(location)

    asyncio.run(story())


def test_two_publishers_of_one_existing_item_leave_one_and_the_later_reports_the_other(location: Location) -> None:
    async def story() -> None:
        await put(location, ANA, "notes", {"a.md": "Before all."})
        for trial in choose_range(location):
            texts = (f"{ONE}{trial}", f"{TWO}{trial}")
            await assert_reconciled(location, texts, await publish_at_once(location, "a.md", *texts))
        await assert_sound(location)

    asyncio.run(story())


def test_publishers_of_the_same_revision_double_nothing_and_lose_nothing(location: Location) -> None:
    async def story() -> None:
        for trial in choose_range(location):
            text = f"{ONE}{trial}"
            outcomes = await publish_at_once(location, "a.md", text, text, text)
            assert len({outcome.revision_id for outcome in outcomes}) == 1
            assert {outcome.action for outcome in outcomes} <= {"created", "changed", "unchanged"}
            assert await read_text(location, ANA, item(ANA, "notes", "a.md")) == text
            assert (await read_head(location, outcomes[0].item_id)).sequence == trial + 1
        await assert_sound(location)

    asyncio.run(story())


def test_archiving_and_publishing_an_item_end_in_one_of_the_two_and_no_revision_is_lost(location: Location) -> None:
    async def story() -> None:
        a_id = item(ANA, "notes", "a.md")
        await put(location, ANA, "notes", {"a.md": "Before all."})
        for trial in choose_range(location):
            text = f"{ONE}{trial}"
            [outcome], report = await run_at_once(
                publish_at_once(location, "a.md", text), run_in_store(location, archive_item, ANA, a_id)
            )
            head = await read_head(location, a_id)
            assert head.revision_id == outcome.revision_id
            assert report.changed
            assert await read_text(location, ANA, a_id) == (text if head.state == "published" else None)
            await run_in_store(location, restore_item, ANA, a_id)
            assert await read_text(location, ANA, a_id) == text
        await assert_sound(location)

    asyncio.run(story())


def test_restoring_and_publishing_an_item_never_bring_back_the_older_text(location: Location) -> None:
    async def story() -> None:
        a_id = item(ANA, "notes", "a.md")
        await put(location, ANA, "notes", {"a.md": "Before all."})
        for trial in choose_range(location):
            text = f"{ONE}{trial}"
            await run_in_store(location, archive_item, ANA, a_id)
            await run_at_once(publish_at_once(location, "a.md", text), run_in_store(location, restore_item, ANA, a_id))
            assert await read_text(location, ANA, a_id) == text
        await assert_sound(location)

    asyncio.run(story())


async def publish_unless_refused(where: Location, base: str, path: str, delay: float) -> ItemOutcome | None:
    await asyncio.sleep(delay)
    try:
        return await put_one(where, ANA, base, document(path, ONE))
    except InvalidRequestError:
        return None


def test_a_new_item_published_while_its_base_is_archived_is_not_readable_until_it_is_restored(
    location: Location,
) -> None:
    async def story() -> None:
        for trial in choose_range(location):
            base, path = f"base-{trial % 4}", f"{trial}.md"
            await put(location, ANA, base, {"first.md": "Here before."})
            outcome, _ = await run_at_once(
                publish_unless_refused(location, base, path, delay=trial % 5 * 0.004),
                run_in_store(location, archive_base, ANA, base),
            )
            assert await read_text(location, ANA, item(ANA, base, path)) is None
            if trial % 5 == 0:
                await assert_sound(location)
            await run_in_store(location, restore_base, ANA, base)
            expected = None if outcome is None else ONE
            assert await read_text(location, ANA, item(ANA, base, path)) == expected
            assert await read_text(location, ANA, item(ANA, base, "first.md")) == "Here before."
        await assert_sound(location)

    asyncio.run(story())


def test_a_base_restored_beside_publishers_has_all_that_was_published(location: Location) -> None:
    async def story() -> None:
        await put(location, ANA, "notes", {"a.md": ONE, "b.md": TWO, "c.md": "Archived on its own."})
        await run_in_store(location, archive_item, ANA, item(ANA, "notes", "c.md"))
        for trial in choose_range(location):
            await run_in_store(location, archive_base, ANA, "notes")
            path = f"{trial}.md"
            outcome, _ = await run_at_once(
                publish_unless_refused(location, "notes", path, delay=trial % 5 * 0.004),
                run_in_store(location, restore_base, ANA, "notes"),
            )
            assert await read_text(location, ANA, item(ANA, "notes", path)) == (None if outcome is None else ONE)
            assert await read_text(location, ANA, item(ANA, "notes", "b.md")) == TWO
            assert await read_text(location, ANA, item(ANA, "notes", "c.md")) is None
        await assert_sound(location)

    asyncio.run(story())


class Watcher:
    """Reads one item repeatedly and records wrong answers."""

    def __init__(self, service: KnowledgeService, texts: list[str]) -> None:
        self._service = service
        self._texts = texts
        self.reads = 0
        self.wrong: list[str] = []

    async def watch(self, done: asyncio.Event) -> None:
        latest = 0
        while not done.is_set():
            try:
                latest = max(latest, await self._look(latest))
            except ResourceUnavailableError:
                self.wrong.append("unreadable")
            self.reads += 1

    async def _look(self, latest: int) -> int:
        a_id = item(ANA, "notes", "a.md")
        answer = await self._service.read([ANA], ReadRequest(a_id, limit=WHOLE_TEXT))
        found = await self._service.search([ANA], SearchRequest("tides winds", mode="lexical"))
        if [hit.revision.item_id for hit in found.hits] != [a_id]:
            self.wrong.append(f"found {len(found.hits)}")
        if answer.content not in self._texts or self._texts.index(answer.content) < latest:
            self.wrong.append(answer.content[:40])
            return latest
        return self._texts.index(answer.content)


def test_readers_beside_publishing_and_optimizing_always_get_one_whole_text(
    location: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A reader that never keeps a snapshot meets every version there is.
    monkeypatch.setattr("knowledge.store.table_handles.REFRESH_SECONDS", 0.0)
    texts = [(ONE if number % 2 else TWO) + str(number) for number in range(len(choose_range(location)) + 1)]

    async def write() -> None:
        for text in texts[1:]:
            await put(location, ANA, "notes", {"a.md": text})

    async def tidy(done: asyncio.Event) -> None:
        while not done.is_set():
            await run_in_store(location, optimize_dataset, ANA)

    async def story() -> None:
        await put(location, ANA, "notes", {"a.md": texts[0]})
        done = asyncio.Event()
        async with open_service(location) as service:
            watcher = Watcher(service, texts)
            beside = [asyncio.create_task(watcher.watch(done)), asyncio.create_task(tidy(done))]
            await write()
            done.set()
            await run_at_once(*beside)
        assert watcher.wrong == []
        assert watcher.reads > 1
        await assert_sound(location)

    asyncio.run(story())
