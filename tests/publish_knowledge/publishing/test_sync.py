"""A base becomes equal to its source; what cannot be seen, or is too much, is not archived."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from knowledge.errors import InvalidRequestError
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.publishing.plan import PublishReport
from publish_knowledge.publishing.sync import ArchiveLimitError, Loaded, SyncSource, sync
from publish_knowledge.sources.remote.buckets import RemoteObject
from publish_knowledge.store.scope_tables import open_scope
from tests.support.datasets import ANA, Location, documents, embedder, put
from tests.support.publishing import run

TEXTS = {f"{name}.md": f"# {name}\n\nA text about {name}.\n" for name in ("river", "harbour", "storm", "boat", "pier")}


async def sync_texts(
    where: Location,
    texts: Mapping[str, str],
    *,
    etags: Mapping[str, str] | None = None,
    loads: list[Collection[str]] | None = None,
    max_archive: float = 20,
    is_whole: bool = True,
    reading: str = "",
    **options: Any,  # noqa: ANN401 - those of `PublishOptions`
) -> PublishReport:
    def load(unchanged: Collection[str]) -> Loaded:
        if loads is not None:
            loads.append(unchanged)
        return Loaded(tuple(documents({path: text for path, text in texts.items() if path not in unchanged})))

    objects = {path: RemoteObject(f"s3://b/{path}", path, etag, 1) for path, etag in (etags or {}).items()}
    source = SyncSource(frozenset(texts), load, objects, reading, is_whole)
    async with where.store() as store:
        wanted = PublishOptions(ANA, "notes", folders=("",), **options)
        return await sync(store, wanted, source, embedder=embedder(), max_archive=max_archive)


def list_actions(report: PublishReport) -> dict[str, str]:
    return {one.source_path: one.action for one in report.outcomes if one.action != "unchanged"}


async def read_states(where: Location) -> dict[str, str]:
    async with where.store() as store:
        tables = await open_scope(store, ANA)
        assert tables is not None
        return {head.info.source_uri: head.state for head in await tables.list_heads("notes")}


def test_a_base_becomes_equal_to_its_source_and_a_plan_says_the_same_before(location: Location) -> None:
    async def work() -> None:
        planned = await sync_texts(location, TEXTS, dry_run=True)
        assert (planned.dry_run, planned.count("created")) == (True, 5)
        assert (await sync_texts(location, TEXTS)).count("created") == 5
        texts = {**TEXTS, "new.md": "new", "boat.md": "edited", "moved.md": TEXTS["river.md"]}
        del texts["river.md"], texts["storm.md"]
        expected = {"boat.md": "changed", "moved.md": "renamed", "new.md": "created", "storm.md": "archived"}
        assert list_actions(await sync_texts(location, texts, dry_run=True)) == expected
        done = await sync_texts(location, texts)
        assert list_actions(done) == expected
        assert [one.detail for one in done.outcomes if one.action == "renamed"] == ["It was river.md."]
        assert list_actions(await sync_texts(location, texts)) == {}
        assert {path for path, state in (await read_states(location)).items() if state == "published"} == {*texts}

    run(work())


def test_a_publish_afterwards_knows_renamed_files_by_their_paths(folder: Location) -> None:
    async def work() -> None:
        await sync_texts(folder, TEXTS)
        texts = {**TEXTS, "moved.md": TEXTS["river.md"]}
        del texts["river.md"]
        await sync_texts(folder, texts)
        report = await put(folder, ANA, "notes", {**texts, "river.md": "another river"})
        assert list_actions(report) == {"river.md": "created"}
        assert len({one.item_id for one in report.outcomes}) == 6

    run(work())


def test_more_than_the_limit_writes_nothing_and_one_item_may_always_go(folder: Location) -> None:
    async def work() -> None:
        await sync_texts(folder, TEXTS)
        few = {path: TEXTS[path] for path in ("river.md", "storm.md")} | {"new.md": "new"}
        with pytest.raises(
            ArchiveLimitError, match=r"3 of 5 items would be archived, and 1 may be: boat.md, harbour.md"
        ):
            await sync_texts(folder, few)
        assert set(await read_states(folder)) == {*TEXTS}
        one_less = {path: text for path, text in TEXTS.items() if path != "boat.md"}
        with pytest.raises(ArchiveLimitError):
            await sync_texts(folder, one_less, max_archive=0)
        assert list_actions(await sync_texts(folder, one_less, max_archive=1)) == {"boat.md": "archived"}
        assert (await sync_texts(folder, few, max_archive=50)).count("archived") == 2

    run(work())


def test_a_source_that_was_not_listed_whole_archives_and_renames_what_it_shows_only(folder: Location) -> None:
    async def work() -> None:
        await sync_texts(folder, TEXTS)
        report = await sync_texts(folder, {"river.md": "edited"}, is_whole=False)
        assert list_actions(report) == {"river.md": "changed", **dict.fromkeys(set(TEXTS) - {"river.md"}, "kept")}
        assert {*(await read_states(folder)).values()} == {"published"}

    run(work())


def test_an_object_with_a_known_etag_is_not_loaded_unless_its_item_has_changed(location: Location) -> None:
    async def work() -> None:
        loads: list[Collection[str]] = []
        etags = dict.fromkeys(TEXTS, "1")
        await sync_texts(location, TEXTS, etags=etags, loads=loads)
        await sync_texts(location, TEXTS, etags=etags, loads=loads)
        await sync_texts(location, TEXTS, etags={**etags, "boat.md": "2"}, loads=loads)
        await put(location, ANA, "notes", {"pier.md": "published otherwise"})
        report = await sync_texts(location, TEXTS, etags={**etags, "boat.md": "2"}, loads=loads)
        assert list_actions(report) == {"pier.md": "changed"}
        await sync_texts(location, TEXTS, etags=etags, loads=loads, reading="other options")
        everything = set(TEXTS)
        assert [set(one) for one in loads] == [
            set(), everything, everything - {"boat.md"}, everything - {"pier.md"}, set()
        ]  # fmt: skip

    run(work())


def test_an_archived_base_refuses_a_sync(folder: Location) -> None:
    from publish_knowledge.publishing.lifecycle import archive_base  # noqa: PLC0415 - used here alone

    async def work() -> None:
        await sync_texts(folder, TEXTS)
        async with folder.store() as store:
            await archive_base(store, ANA, "notes")
        with pytest.raises(InvalidRequestError, match="archived"):
            await sync_texts(folder, TEXTS)

    run(work())
