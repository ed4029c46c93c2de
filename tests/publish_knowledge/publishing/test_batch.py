"""One batch: embedded, stored, committed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from knowledge.embedding.base import Vectors
from knowledge.store.schema import ARCHIVED
from publish_knowledge.doctor import examine
from publish_knowledge.embedding.embedder import Embedder
from publish_knowledge.publishing.batch import detect_overwrite, plan_batch
from publish_knowledge.publishing.catalog import list_revisions
from publish_knowledge.publishing.lifecycle import archive_base, restore_base
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.publishing.plan import (
    Action,
    ItemOutcome,
    PreparedDocument,
    build_head,
    plan_step,
    prepare_document,
)
from publish_knowledge.publishing.publish import publish
from publish_knowledge.store.records import ItemHead
from tests.support.datasets import ANA, Location, document, documents, embedding, item, put, put_one, run_in_store
from tests.support.publishing import A_ID, HARBOUR, RIVER, open_tables, publish_text, run
from tests.support.reading import find_items, read_text


@dataclass(frozen=True, slots=True)
class Picky:
    """A model that fails for one word, as a real one may for an unusual text."""

    model: str
    dimensions: int

    def embed_query(self, text: str) -> Vectors:
        return embedding().embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if any("unspeakable" in text for text in texts):
            raise ValueError("a vector without direction")
        return embedding().embed_passages(texts)


NOW = "2026-01-02T03:04:05Z"


def prepare(text: str, path: str = "a.md") -> PreparedDocument:
    return prepare_document(ANA, "notes", document(path, text))


def test_a_batch_is_planned_from_the_heads_of_one_version(folder: Location) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"a.md": RIVER, "b.md": HARBOUR})
        tables = await open_tables(folder)
        batch = [prepare(RIVER, path) for path in ("b.md", "c.md", "a.md")]
        plan = await plan_batch(tables, batch, PublishOptions(ANA, "notes"))
        assert plan.version == await tables.current.version()
        assert [step.action for step in plan.steps] == ["changed", "created", "unchanged"]
        assert [step.head is not None for step in plan.steps] == [True, False, True]
        assert plan.written == [*plan.steps[:2]]

    run(story())


FIRST = build_head(plan_step(prepare(RIVER), None, draft=False), NOW)
SECOND = build_head(plan_step(prepare(HARBOUR), FIRST, draft=False), NOW)
ARCHIVED_FIRST = replace(FIRST, state=ARCHIVED)


@pytest.mark.parametrize(
    ("text", "planned_from", "replaced", "reported"),
    [
        (RIVER, None, None, "created"),
        (HARBOUR, FIRST, FIRST, "changed"),
        (HARBOUR, FIRST, SECOND, "changed"),  # both publishers had the same text
        (RIVER, SECOND, FIRST, "overwritten"),
        (HARBOUR, None, FIRST, "overwritten"),
        (HARBOUR, FIRST, ARCHIVED_FIRST, "overwritten"),
        (HARBOUR, ARCHIVED_FIRST, ARCHIVED_FIRST, "changed"),
        (RIVER, ARCHIVED_FIRST, ARCHIVED_FIRST, "restored"),
        (RIVER, FIRST, SECOND, "unchanged"),
    ],
)
def test_a_commit_over_another_head_than_the_planned_one_is_reported(
    text: str, planned_from: ItemHead | None, replaced: ItemHead | None, reported: Action
) -> None:
    step = plan_step(prepare(text), planned_from, draft=False)
    outcome = detect_overwrite(step, replaced)
    assert outcome.action == reported
    assert (outcome.item_id, outcome.revision_id) == (step.item_id, step.revision_id)
    assert bool(outcome.detail) is (reported == "overwritten")


def test_a_text_that_cannot_be_embedded_is_refused_and_the_rest_is_published(folder: Location) -> None:
    async def story() -> None:
        picky = Picky(embedding().model, embedding().dimensions)
        async with folder.store() as store:
            given = documents({"a.md": "Fine.", "b.md": "An unspeakable text.", "c.md": "Fine too."})
            report = await publish(store, PublishOptions(ANA, "notes"), given, embedder=Embedder(picky))
        assert [outcome.action for outcome in report.outcomes] == ["created", "refused", "created"]
        assert "without direction" in report.outcomes[1].detail
        assert await read_text(folder, ANA, A_ID) == "Fine."
        assert await read_text(folder, ANA, item(ANA, "notes", "b.md")) is None
        assert await run_in_store(folder, examine) == ()

    asyncio.run(story())


@dataclass(frozen=True, slots=True)
class Interrupting:
    """A model during whose work another process does something; it runs in a thread of its own, as any model."""

    work: Callable[[], Awaitable[object]]
    model: str = field(default_factory=lambda: embedding().model)
    dimensions: int = field(default_factory=lambda: embedding().dimensions)

    def embed_query(self, text: str) -> Vectors:
        return embedding().embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        async def run_work() -> None:
            await self.work()

        asyncio.run(run_work())
        return embedding().embed_passages(texts)


async def publish_during(where: Location, path: str, text: str, work: Callable[[], Awaitable[object]]) -> ItemOutcome:
    """Publish a text, and do the other work while it is embedded."""
    async with where.store() as store:
        given = [document(path, text)]
        report = await publish(store, PublishOptions(ANA, "notes"), given, embedder=Embedder(Interrupting(work)))
    return report.outcomes[0]


def test_an_item_published_while_its_base_is_archived_waits_for_the_base(folder: Location) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"b.md": HARBOUR})
        outcome = await publish_during(folder, "a.md", RIVER, lambda: run_in_store(folder, archive_base, ANA, "notes"))
        assert outcome.action == "refused"
        assert "becomes readable when it is restored" in outcome.detail
        assert await read_text(folder, ANA, A_ID) is None
        assert await run_in_store(folder, examine) == ()
        await run_in_store(folder, restore_base, ANA, "notes")
        assert await read_text(folder, ANA, A_ID) == RIVER

    run(story())


def test_a_revision_published_during_embedding_becomes_the_previous_one(folder: Location) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"a.md": RIVER})
        outcome = await publish_during(
            folder, "a.md", RIVER + "More.", lambda: put(folder, ANA, "notes", {"a.md": HARBOUR})
        )
        assert outcome.action == "changed"
        current, previous, _ = await run_in_store(folder, list_revisions, ANA, A_ID)
        assert (current.info.revision_id, current.previous_id) == (outcome.revision_id, previous.info.revision_id)
        assert await read_text(folder, ANA, A_ID, previous.info.revision_id) == HARBOUR
        assert await run_in_store(folder, examine) == ()

    run(story())


def test_the_same_text_published_during_embedding_is_stored_once(folder: Location) -> None:
    async def story() -> None:
        outcome = await publish_during(folder, "a.md", RIVER, lambda: put(folder, ANA, "notes", {"a.md": RIVER}))
        assert outcome.action == "unchanged"
        assert len(await run_in_store(folder, list_revisions, ANA, A_ID)) == 1
        assert await run_in_store(folder, examine) == ()

    run(story())


def test_a_draft_is_not_readable_until_the_same_text_is_published(location: Location) -> None:
    async def story() -> None:
        draft = await put_one(location, ANA, "notes", document("a.md", RIVER), draft=True)
        assert draft.action == "drafted"
        assert await read_text(location, ANA, A_ID) is None
        assert await read_text(location, ANA, A_ID, draft.revision_id) is None
        assert await find_items(location, ANA, "river boats") == []
        assert await publish_text(location, "a.md", RIVER, draft=True) == "unchanged"
        published = await put_one(location, ANA, "notes", document("a.md", RIVER))
        assert (published.action, published.revision_id) == ("created", draft.revision_id)
        assert await read_text(location, ANA, A_ID) == RIVER

    run(story())


def test_a_draft_of_a_published_item_stays_unreadable_after_a_later_revision(location: Location) -> None:
    async def story() -> None:
        await put(location, ANA, "notes", {"a.md": RIVER})
        draft = await put_one(location, ANA, "notes", document("a.md", HARBOUR), draft=True)
        assert await read_text(location, ANA, A_ID) == RIVER
        await put(location, ANA, "notes", {"a.md": RIVER + "More."})
        assert await read_text(location, ANA, A_ID, draft.revision_id) is None
        entries = await run_in_store(location, list_revisions, ANA, A_ID)
        assert [entry.state for entry in entries] == ["draft", "current", "earlier"]
        assert await publish_text(location, "a.md", RIVER + "More.", draft=True) == "unchanged"

    run(story())


def test_vectors_of_unchanged_passages_are_not_computed_again(folder: Location) -> None:
    async def story() -> None:
        sections = [f"# Part {number}\n\n" + f"Sentence {number} of the part. " * 60 + "\n\n" for number in range(6)]
        await put(folder, ANA, "notes", {"a.md": "".join(sections)})
        before = embedding().embedded
        sections[3] = "# Part 3\n\nSomething else.\n\n"
        await put(folder, ANA, "notes", {"a.md": "".join(sections)})
        assert embedding().embedded - before == 1
        await put(folder, ANA, "notes", {"a.md": "".join(sections) + "\n"}, draft=True)
        assert embedding().embedded - before == 2

    run(story())
