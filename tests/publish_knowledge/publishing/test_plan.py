"""Which documents make new items and new revisions."""

from __future__ import annotations

from publish_knowledge.publishing.catalog import list_revisions
from tests.support.datasets import (
    ANA,
    BEN,
    SUPPORT,
    Location,
    document,
    put_one,
    run_in_store,
)
from tests.support.publishing import A_ID, HARBOUR, RIVER, run
from tests.support.reading import read_text


def test_only_the_title_edited_is_a_new_revision(location: Location) -> None:
    async def story() -> None:
        one = await put_one(location, ANA, "notes", document("a.md", RIVER, title="Rivers"))
        two = await put_one(location, ANA, "notes", document("a.md", RIVER, title="Streams"))
        assert two.action == "changed"
        assert one.revision_id != two.revision_id
        entries = await run_in_store(location, list_revisions, ANA, A_ID)
        assert [(entry.info.title, entry.state) for entry in entries] == [("Streams", "current"), ("Rivers", "earlier")]

    run(story())


def test_going_back_to_an_earlier_text_is_a_third_revision_and_all_are_readable(location: Location) -> None:
    async def story() -> None:
        made = [await put_one(location, ANA, "notes", document("a.md", text)) for text in (RIVER, HARBOUR, RIVER)]
        ids = [outcome.revision_id for outcome in made]
        assert len(set(ids)) == 3
        assert [await read_text(location, ANA, A_ID, revision) for revision in ids] == [RIVER, HARBOUR, RIVER]
        entries = await run_in_store(location, list_revisions, ANA, A_ID)
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
        assert await read_text(folder, BEN, made[0].item_id) is None

    run(story())
