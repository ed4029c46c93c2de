"""Publishing: the outcome for each document, on disk and on S3 alike, as a reader sees it."""

from __future__ import annotations

import pytest

from knowledge.errors import InvalidRequestError
from publish_knowledge.doctor import examine
from publish_knowledge.publishing.catalog import list_items
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
    item,
    put,
    put_one,
    run_in_store,
)
from tests.support.publishing import A_ID, HARBOUR, RIVER, publish_text, run
from tests.support.reading import find_items, read_text


def test_publishing_again_changes_nothing(location: Location) -> None:
    async def story() -> None:
        texts = {"a.md": RIVER, "b.md": HARBOUR}
        first = await put(location, ANA, "notes", texts)
        second = await put(location, ANA, "notes", texts)
        assert [one.action for one in first.outcomes] == ["created", "created"]
        assert [one.action for one in second.outcomes] == ["unchanged", "unchanged"]
        assert [one.revision_id for one in first.outcomes] == [one.revision_id for one in second.outcomes]
        assert await read_text(location, ANA, A_ID) == RIVER
        assert next(entry[0] for entry in await find_items(location, ANA, "river boats")) == A_ID

    run(story())


def test_a_changed_text_is_one_new_revision_and_the_old_one_is_read_by_id_but_never_found(location: Location) -> None:
    async def story() -> None:
        old = await put_one(location, ANA, "notes", document("a.md", RIVER))
        new = await put_one(location, ANA, "notes", document("a.md", HARBOUR))
        assert (old.action, new.action) == ("created", "changed")
        assert await read_text(location, ANA, A_ID) == HARBOUR
        assert await read_text(location, ANA, A_ID, old.revision_id) == RIVER
        assert await find_items(location, ANA, "river carries") == [(A_ID, new.revision_id)]

    run(story())


def test_an_archived_item_comes_back_with_the_same_text_or_another(location: Location) -> None:
    async def story() -> None:
        first = await put_one(location, ANA, "notes", document("a.md", RIVER))
        await run_in_store(location, archive_item, ANA, A_ID)
        assert await publish_text(location, "a.md", RIVER, draft=True) == "unchanged"
        assert await read_text(location, ANA, A_ID) is None
        again = await put_one(location, ANA, "notes", document("a.md", RIVER))
        assert (again.action, again.revision_id) == ("restored", first.revision_id)
        assert await read_text(location, ANA, A_ID) == RIVER
        await run_in_store(location, archive_item, ANA, A_ID)
        assert await publish_text(location, "a.md", HARBOUR) == "changed"
        assert await read_text(location, ANA, A_ID) == HARBOUR
        assert await run_in_store(location, examine) == ()

    run(story())


def test_nothing_is_published_into_an_archived_base(location: Location) -> None:
    async def story() -> None:
        await put(location, ANA, "notes", {"a.md": RIVER})
        await run_in_store(location, archive_base, ANA, "notes")
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
        before = await open_tables(location)
        report = await put(location, ANA, "notes", {"a.md": HARBOUR, "c.md": RIVER}, prune=True, dry_run=True)
        expected = ["changed", "created", "archived"] if again else ["created", "created"]
        assert [one.action for one in report.outcomes] == expected
        assert report.dry_run
        assert await open_tables(location) == before

    async def open_tables(where: Location) -> tuple[tuple[str, ...], list[int]]:
        async with where.store() as store:
            tables = await open_scope(store, ANA)
            versions = [await tables.current.version(), await tables.revisions.version()] if tables else []
            return await store.list_tables(), versions

    run(story())


def test_two_files_with_one_id_publish_the_first_and_name_it(folder: Location) -> None:
    async def story() -> None:
        documents_of_one_item = [document(path, path, front_matter_id="same") for path in ("a.md", "b.md")]
        report = await put(folder, ANA, "notes", documents_of_one_item)
        assert [one.action for one in report.outcomes] == ["created", "refused"]
        assert "a.md claims the same id" in report.outcomes[1].detail
        assert await read_text(folder, ANA, report.outcomes[0].item_id) == "a.md"

    run(story())


def test_progress_is_reported_from_the_first_to_the_last_document(folder: Location) -> None:
    async def story() -> None:
        reported: list[tuple[str, int, int]] = []

        def report(stage: str, done: int, total: int) -> None:
            reported.append((stage, done, total))

        async with folder.store() as store:
            given = documents({f"{number}.md": f"Text {number}" for number in range(205)})
            await publish(store, PublishOptions(ANA, "notes"), given, embedder=embedder(), on_progress=report)
        assert reported == [
            ("publish", 0, 205),
            ("publish", 200, 205),
            ("publish", 205, 205),
            ("optimize", 0, 1),
            ("optimize", 1, 1),
        ]
        assert len(await run_in_store(folder, list_items, ANA)) == 205

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
        assert await read_text(location, ANA, item(ANA, "notes", "b.md")) is None
        assert await read_text(location, ANA, item(ANA, "notes", "broken.md")) == "Still there."
        assert await read_text(location, ANA, item(ANA, "other", "c.md")) == HARBOUR

    run(story())


def test_a_draft_cannot_prune(folder: Location) -> None:
    with pytest.raises(InvalidRequestError, match="cannot prune"):
        run(publish_text(folder, "a.md", RIVER, draft=True, prune=True))  # type: ignore[arg-type]


def test_the_same_path_in_other_scopes_and_bases_is_another_item(folder: Location) -> None:
    async def story() -> None:
        places = [(ANA, "notes"), (ANA, "other"), (BEN, "notes"), (SUPPORT, "notes")]
        made = [await put_one(folder, scope, base, document("a.md", RIVER)) for scope, base in places]
        assert len({outcome.item_id for outcome in made}) == 4
        assert await read_text(folder, BEN, made[0].item_id) is None

    run(story())


UNUSUAL = {
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
        report = await put(location, ANA, "notes", UNUSUAL)
        for outcome in report.outcomes:
            assert await read_text(location, ANA, outcome.item_id) == UNUSUAL[outcome.source_path]
        assert await run_in_store(location, examine) == ()

    run(story())


def test_ids_may_hold_quotes_and_anything_else(folder: Location) -> None:
    async def story() -> None:
        base = 'b\'; drop table "x" -- 🙂'
        outcome = await put_one(folder, ANA, base, document("it's.md", RIVER))
        await run_in_store(folder, archive_base, ANA, base)
        assert await read_text(folder, ANA, outcome.item_id) is None

    run(story())


def test_a_publish_names_what_is_gone_and_archives_it_only_with_prune(folder: Location) -> None:
    async def story() -> None:
        await put(folder, ANA, "notes", {"docs/a.md": RIVER, "docs/b.md": HARBOUR, "other/c.md": HARBOUR})
        options: dict[str, object] = {"folders": ("docs/",), "report_gone": True}
        for dry_run in (True, False):
            report = await put(folder, ANA, "notes", {"docs/a.md": RIVER}, **options, dry_run=dry_run)
            assert (report.gone, report.count("unchanged")) == (("docs/b.md",), 1)
        assert (await put(folder, ANA, "notes", {"docs/a.md": RIVER}, **options, unread={"docs/b.md"})).gone == ()
        assert (await put(folder, ANA, "notes", {"docs/a.md": RIVER}, folders=("docs/",))).gone == ()
        report = await put(folder, ANA, "notes", {"docs/a.md": RIVER}, **options, prune=True)
        assert (report.gone, report.count("archived")) == ((), 1)
        assert (await put(folder, ANA, "notes", {"docs/a.md": RIVER}, **options)).gone == ()

    run(story())
