"""Publishing: what becomes of documents, on disk and on S3 alike, seen by a reader."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from knowledge.errors import InvalidRequestError
from publish_knowledge.doctor import examine
from publish_knowledge.publishing.catalog import list_items, list_revisions
from publish_knowledge.publishing.lifecycle import archive_base, archive_item
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.publishing.publish import publish
from publish_knowledge.store.scope_tables import open_scope
from tests.support.datasets import (
    ANA,
    BEN,
    SUPPORT,
    Location,
    document,
    documents,
    embedder,
    embedding,
    item,
    put,
    put_one,
    within,
)
from tests.support.readers import found, text_of

RIVER = "# Rivers\n\nThe river carries boats to the harbour.\n"
HARBOUR = "# Harbours\n\nThe harbour shelters boats from storms.\n"
A_ID = item(ANA, "notes", "a.md")


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def act(where: Location, path: str, text: str, **options: Any) -> str:  # noqa: ANN401 - those of `put`
    return (await put(where, ANA, "notes", {path: text}, **options)).outcomes[0].action


def test_publishing_again_changes_nothing(location: Location) -> None:
    async def story() -> None:
        texts = {"a.md": RIVER, "b.md": HARBOUR}
        first = await put(location, ANA, "notes", texts)
        second = await put(location, ANA, "notes", texts)
        assert [one.action for one in first.outcomes] == ["created", "created"]
        assert [one.action for one in second.outcomes] == ["unchanged", "unchanged"]
        assert [one.revision_id for one in first.outcomes] == [one.revision_id for one in second.outcomes]
        assert await text_of(location, ANA, A_ID) == RIVER
        assert next(entry[0] for entry in await found(location, ANA, "river boats")) == A_ID

    run(story())


def test_a_changed_text_is_one_new_revision_and_the_old_one_is_read_by_id_but_never_found(location: Location) -> None:
    async def story() -> None:
        old = await put_one(location, ANA, "notes", document("a.md", RIVER))
        new = await put_one(location, ANA, "notes", document("a.md", HARBOUR))
        assert (old.action, new.action) == ("created", "changed")
        assert await text_of(location, ANA, A_ID) == HARBOUR
        assert await text_of(location, ANA, A_ID, old.revision_id) == RIVER
        assert await found(location, ANA, "river carries") == [(A_ID, new.revision_id)]

    run(story())


def test_only_the_title_edited_is_a_new_revision(location: Location) -> None:
    async def story() -> None:
        one = await put_one(location, ANA, "notes", document("a.md", RIVER, title="Rivers"))
        two = await put_one(location, ANA, "notes", document("a.md", RIVER, title="Streams"))
        assert two.action == "changed"
        assert one.revision_id != two.revision_id
        entries = await within(location, list_revisions, ANA, A_ID)
        assert [(entry.info.title, entry.state) for entry in entries] == [("Streams", "current"), ("Rivers", "earlier")]

    run(story())


def test_going_back_to_an_earlier_text_is_a_third_revision_and_all_are_readable(location: Location) -> None:
    async def story() -> None:
        made = [await put_one(location, ANA, "notes", document("a.md", text)) for text in (RIVER, HARBOUR, RIVER)]
        ids = [outcome.revision_id for outcome in made]
        assert len(set(ids)) == 3
        assert [await text_of(location, ANA, A_ID, revision) for revision in ids] == [RIVER, HARBOUR, RIVER]
        entries = await within(location, list_revisions, ANA, A_ID)
        assert [entry.info.revision_id for entry in entries] == ids[::-1]
        assert [entry.previous_id for entry in entries] == [ids[1], ids[0], ""]
        assert [entry.sequence for entry in entries] == [3, 2, 1]

    run(story())


def test_a_renamed_file_is_another_item_unless_its_front_matter_names_one(location: Location) -> None:
    async def story() -> None:
        plain = [await put_one(location, ANA, "notes", document(path, RIVER)) for path in ("a.md", "b.md")]
        named = [
            await put_one(location, ANA, "notes", document(path, RIVER, title="R", front_matter_id="river"))
            for path in ("c.md", "d.md")
        ]
        assert plain[0].item_id != plain[1].item_id
        assert named[0].item_id == named[1].item_id
        assert named[1].action == "changed"

    run(story())


def test_the_same_path_in_other_scopes_and_bases_is_another_item(folder: Location) -> None:
    async def story() -> None:
        places = [(ANA, "notes"), (ANA, "other"), (BEN, "notes"), (SUPPORT, "notes")]
        made = [await put_one(folder, scope, base, document("a.md", RIVER)) for scope, base in places]
        assert len({outcome.item_id for outcome in made}) == 4
        assert await text_of(folder, BEN, made[0].item_id) is None

    run(story())


def test_a_draft_is_not_readable_until_the_same_text_is_published(location: Location) -> None:
    async def story() -> None:
        draft = await put_one(location, ANA, "notes", document("a.md", RIVER), draft=True)
        assert draft.action == "drafted"
        assert await text_of(location, ANA, A_ID) is None
        assert await text_of(location, ANA, A_ID, draft.revision_id) is None
        assert await found(location, ANA, "river boats") == []
        assert await act(location, "a.md", RIVER, draft=True) == "unchanged"
        published = await put_one(location, ANA, "notes", document("a.md", RIVER))
        assert (published.action, published.revision_id) == ("created", draft.revision_id)
        assert await text_of(location, ANA, A_ID) == RIVER

    run(story())


def test_a_draft_of_a_published_item_stays_unreadable_after_a_later_revision(location: Location) -> None:
    async def story() -> None:
        await put(location, ANA, "notes", {"a.md": RIVER})
        draft = await put_one(location, ANA, "notes", document("a.md", HARBOUR), draft=True)
        assert await text_of(location, ANA, A_ID) == RIVER
        await put(location, ANA, "notes", {"a.md": RIVER + "More."})
        assert await text_of(location, ANA, A_ID, draft.revision_id) is None
        entries = await within(location, list_revisions, ANA, A_ID)
        assert [entry.state for entry in entries] == ["draft", "current", "earlier"]
        assert await act(location, "a.md", RIVER + "More.", draft=True) == "unchanged"

    run(story())


def test_pruning_archives_items_whose_file_is_gone_and_no_others(location: Location) -> None:
    async def story() -> None:
        await put(location, ANA, "notes", {"a.md": RIVER, "b.md": HARBOUR, "broken.md": "Still there."})
        await put(location, ANA, "other", {"c.md": HARBOUR})
        async with location.store() as store:
            given = documents({"a.md": RIVER})
            options = PublishOptions(ANA, "notes", prune=True, unread={"broken.md"})
            report = await publish(store, options, given, embedder=embedder())
        assert [(one.source_path, one.action) for one in report.outcomes] == [
            ("a.md", "unchanged"),
            ("b.md", "archived"),
        ]
        assert await text_of(location, ANA, item(ANA, "notes", "b.md")) is None
        assert await text_of(location, ANA, item(ANA, "notes", "broken.md")) == "Still there."
        assert await text_of(location, ANA, item(ANA, "other", "c.md")) == HARBOUR

    run(story())


def test_a_draft_cannot_prune(folder: Location) -> None:
    with pytest.raises(InvalidRequestError, match="cannot prune"):
        run(act(folder, "a.md", RIVER, draft=True, prune=True))  # type: ignore[arg-type]


def test_an_archived_item_comes_back_with_the_same_text_or_another(location: Location) -> None:
    async def story() -> None:
        first = await put_one(location, ANA, "notes", document("a.md", RIVER))
        await within(location, archive_item, ANA, A_ID)
        assert await act(location, "a.md", RIVER, draft=True) == "unchanged"
        assert await text_of(location, ANA, A_ID) is None
        again = await put_one(location, ANA, "notes", document("a.md", RIVER))
        assert (again.action, again.revision_id) == ("restored", first.revision_id)
        assert await text_of(location, ANA, A_ID) == RIVER
        await within(location, archive_item, ANA, A_ID)
        assert await act(location, "a.md", HARBOUR) == "changed"
        assert await text_of(location, ANA, A_ID) == HARBOUR
        assert await within(location, examine) == ()

    run(story())


def test_nothing_is_published_into_an_archived_base(location: Location) -> None:
    async def story() -> None:
        await put(location, ANA, "notes", {"a.md": RIVER})
        await within(location, archive_base, ANA, "notes")
        with pytest.raises(InvalidRequestError, match="Restore it before you publish into it") as refused:
            await put(location, ANA, "notes", {"b.md": HARBOUR})
        assert refused.value.field == "base_id"
        assert await act_in(location, "other") == "created"

    async def act_in(where: Location, base: str) -> str:
        return (await put(where, ANA, base, {"b.md": HARBOUR})).outcomes[0].action

    run(story())


@pytest.mark.parametrize("again", [False, True])
def test_a_dry_run_says_what_would_happen_and_writes_nothing(location: Location, *, again: bool) -> None:
    async def story() -> None:
        if again:
            await put(location, ANA, "notes", {"a.md": RIVER, "b.md": HARBOUR})
        before = await tables_of(location)
        report = await put(location, ANA, "notes", {"a.md": HARBOUR, "c.md": RIVER}, prune=True, dry_run=True)
        expected = ["changed", "created", "archived"] if again else ["created", "created"]
        assert [one.action for one in report.outcomes] == expected
        assert report.dry_run
        assert await tables_of(location) == before

    async def tables_of(where: Location) -> tuple[tuple[str, ...], list[int]]:
        async with where.store() as store:
            tables = await open_scope(store, ANA)
            versions = [await tables.current.version(), await tables.revisions.version()] if tables else []
            return await store.names(), versions

    run(story())


def test_two_files_with_one_id_publish_the_first_and_name_it(folder: Location) -> None:
    async def story() -> None:
        twins = [document(path, path, front_matter_id="same") for path in ("a.md", "b.md")]
        report = await put(folder, ANA, "notes", twins)
        assert [one.action for one in report.outcomes] == ["created", "refused"]
        assert "a.md claims the same id" in report.outcomes[1].detail
        assert await text_of(folder, ANA, report.outcomes[0].item_id) == "a.md"

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


def test_progress_is_heard_from_the_first_to_the_last_document(folder: Location) -> None:
    async def story() -> None:
        heard: list[tuple[str, int, int]] = []

        def hear(stage: str, done: int, total: int) -> None:
            heard.append((stage, done, total))

        async with folder.store() as store:
            given = documents({f"{number}.md": f"Text {number}" for number in range(205)})
            await publish(store, PublishOptions(ANA, "notes"), given, embedder=embedder(), on_progress=hear)
        assert heard == [
            ("publish", 0, 205),
            ("publish", 200, 205),
            ("publish", 205, 205),
            ("optimize", 0, 1),
            ("optimize", 1, 1),
        ]
        assert len(await within(folder, list_items, ANA)) == 205

    run(story())


STRANGE = {
    "empty.md": "",
    "blank.txt": "   ",
    "line.txt": "a" * 30_000,
    "crlf.txt": "one\r\ntwo\r\n",
    "nul.txt": "a\0b",
    "cjk.txt": "東京都の天気予報です。" * 500,
    "marks.txt": "e\u0301\u0323" * 3_000,
    "emoji.txt": "👩‍👩‍👧‍👦" * 1_000,
}


def test_any_text_comes_back_character_for_character(location: Location) -> None:
    async def story() -> None:
        report = await put(location, ANA, "notes", STRANGE)
        for outcome in report.outcomes:
            assert await text_of(location, ANA, outcome.item_id) == STRANGE[outcome.source_path]
        assert await within(location, examine) == ()

    run(story())


def test_ids_may_hold_quotes_and_anything_else(folder: Location) -> None:
    async def story() -> None:
        base = 'b\'; drop table "x" -- 🙂'
        outcome = await put_one(folder, ANA, base, document("it's.md", RIVER))
        await within(folder, archive_base, ANA, base)
        assert await text_of(folder, ANA, outcome.item_id) is None

    run(story())
