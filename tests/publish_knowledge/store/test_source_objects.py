"""What is known of objects is kept per base, in one commit, and goes with its scope."""

from __future__ import annotations

from dataclasses import replace

from publish_knowledge.doctor import examine
from publish_knowledge.publishing.lifecycle import purge_scope
from publish_knowledge.store import source_objects
from publish_knowledge.store.purges import PurgeGuard, digest_of, read_record
from publish_knowledge.store.source_objects import SourceObject, read_objects, write_objects
from tests.support.datasets import ANA, Location, put
from tests.support.publishing import run

ONE = SourceObject("notes", "a.md", "s3://b/a.md", '"e1"', 3, "ki_1", "kr_1", "r")


async def write(where: Location, *objects: SourceObject, base_id: str = "notes") -> None:
    async with where.store() as store:
        guard = PurgeGuard(store, ANA, await read_record(store, digest_of(ANA)))
        before = await read_objects(store, ANA, base_id)
        await write_objects(store, guard, base_id, objects, before)


async def read(where: Location, base_id: str = "notes") -> dict[str, SourceObject]:
    async with where.store() as store:
        return await read_objects(store, ANA, base_id)


def test_objects_are_replaced_for_one_base_and_nothing_is_committed_for_the_same(location: Location) -> None:
    async def work() -> None:
        await put(location, ANA, "notes", {"a.md": "text"})
        assert await read(location) == {}
        other = replace(ONE, base_id="other")
        await write(location, ONE, replace(ONE, source_path="b.md"))
        await write(location, other, base_id="other")
        changed = replace(ONE, etag='"e2"')
        await write(location, changed)
        assert await read(location) == {"a.md": changed}
        assert await read(location, "other") == {"a.md": other}
        async with location.store() as store:
            table = await store.open_table("objects_" + digest_of(ANA))
            assert table is not None
            version = await table.version()
            await write(location, changed)
            assert await table.version() == version
            await write(location)
            assert await read(location) == {}
            assert await examine(store) == ()

    run(work())


def test_a_purge_removes_them_and_later_ones_are_kept(location: Location) -> None:
    async def work() -> None:
        await put(location, ANA, "notes", {"a.md": "text"})
        await write(location, ONE)
        async with location.store() as store:
            assert (await purge_scope(store, ANA)).changed
            assert [name for name in await store.list_tables() if digest_of(ANA) in name] == []
        await put(location, ANA, "notes", {"a.md": "text"})
        assert await read(location) == {}
        await write(location, ONE)
        assert await read(location) == {"a.md": ONE}

    run(work())


def test_many_runs_leave_few_fragments(folder: Location) -> None:
    async def work() -> None:
        await put(folder, ANA, "notes", {"a.md": "text"})
        for number in range(source_objects.MAX_FRAGMENTS + 3):
            await write(folder, *(replace(ONE, source_path=f"{path}.md") for path in range(number + 1)))
        async with folder.store() as store:
            table = await store.open_table("objects_" + digest_of(ANA))
            assert table is not None
            assert (await table.read_health()).fragments <= source_objects.MAX_FRAGMENTS

    run(work())
