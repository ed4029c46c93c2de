"""Both kinds of snapshots answer alike, and neither shows a row of another scope."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import lancedb
import pytest

from knowledge.errors import StorageUnavailableError
from knowledge.store.revision import Retrieved
from knowledge.store.schema import METADATA_JSON
from knowledge.store.scope_cache import CALL_BYTES, CachedScope, CachedSnapshot, load_scope
from knowledge.store.snapshot import Snapshot, TableSnapshot
from publish_knowledge.publishing.lifecycle import archive_base
from tests.support.datasets import ANA, Location, embedding, item, put, run_in_store
from tests.support.reading import open_handles, open_snapshot

pytestmark = pytest.mark.anyio

LONG = "".join(f"Sentence {number} of the long text about pumps.\n\n" for number in range(400))
TEXTS = {"a.md": "Open the valve of the pump.", "b.md": "Close the valve.", "long.md": LONG}
ITEM, OTHER = item(ANA, "notes", "long.md"), item(ANA, "notes", "a.md")
Ask = Callable[[Snapshot], Awaitable[Any]]


async def load_whole(tables: TableSnapshot) -> CachedScope:
    cached = await load_scope(tables, CALL_BYTES)
    assert cached is not None
    return cached


@pytest.fixture
async def tables(folder: Location) -> TableSnapshot:
    """A scope with two bases, one of them archived, and an item with two revisions."""
    await put(folder, ANA, "notes", {"long.md": "The first text."})
    await put(folder, ANA, "notes", TEXTS)
    await put(folder, ANA, "old", {"c.md": "An old valve."})
    await run_in_store(folder, archive_base, ANA, "old")
    return await open_snapshot(open_handles(folder), ANA)


@pytest.fixture(params=["tables", "memory"])
async def snapshot(tables: TableSnapshot, request: pytest.FixtureRequest) -> Snapshot:
    return tables if request.param == "tables" else CachedSnapshot(tables, await load_whole(tables))


def items_of(hits: list[Retrieved]) -> list[str]:
    return [hit.item_id for hit in hits]


async def test_terms_are_searched_in_a_base_and_without_excluded_items(snapshot: Snapshot) -> None:
    hits = await snapshot.search_lexical("valv open", "notes", (), 10)
    assert items_of(hits)[0] == OTHER
    assert hits[0].terms
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert OTHER not in items_of(await snapshot.search_lexical("valv open", "notes", (OTHER,), 10))
    assert await snapshot.search_lexical("valv", "nowhere", (), 10) == []
    assert len(await snapshot.search_lexical("valv", "", (), 1)) == 1


async def test_a_vector_finds_its_own_text_first_with_its_cosine(snapshot: Snapshot) -> None:
    vector = embedding().embed_passages(["a\n\n" + TEXTS["a.md"]])[0]
    hits = await snapshot.search_semantic(vector, "", (), 3)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(-1 <= hit.score <= 1.001 for hit in hits)
    first = hits[0].item_id
    assert first not in items_of(await snapshot.search_semantic(vector, "", (first,), 3))


async def test_what_was_found_is_read_with_its_heads_and_texts(snapshot: Snapshot) -> None:
    hits = await snapshot.search_lexical("valv", "notes", (), 10)
    heads, passages = await snapshot.read_hits([*hits, Retrieved(ANA, "unknown", 0, 1.0, "")])
    assert set(heads) == {hit.item_id for hit in hits}
    assert set(passages) == {hit.passage for hit in hits}
    assert passages[(OTHER, 0)].text == TEXTS["a.md"]
    assert heads[OTHER].revision.source_uri == "a.md"


@pytest.mark.parametrize(("start", "end"), [(0, 10), (5_000, 9_000), (0, len(LONG)), (len(LONG) - 1, len(LONG))])
async def test_a_window_is_covered_by_the_passages_of_one_item(snapshot: Snapshot, start: int, end: int) -> None:
    found = await snapshot.read_item(ITEM, "", start, end)
    assert found.head is not None
    assert found.history is None
    assert [row.start for row in found.passages] == sorted(row.start for row in found.passages)
    text, first = "".join(row.text for row in found.passages), found.passages[0].start
    assert LONG[start:end] == text[start - first : end - first]
    assert all(row.overlaps(start, end) for row in found.passages)


async def test_a_window_past_the_end_and_an_unknown_item_have_no_passages(snapshot: Snapshot) -> None:
    past = await snapshot.read_item(ITEM, "", len(LONG), len(LONG) + 10)
    assert (past.head is not None, past.passages) == (True, [])
    unknown = await snapshot.read_item("unknown", "", 0, 10)
    assert (unknown.head, unknown.history, unknown.passages) == (None, None, [])


async def test_history_and_the_archive_are_read_from_the_tables(snapshot: Snapshot) -> None:
    head = (await snapshot.read_item(ITEM, "", 0, 1)).head
    assert head is not None
    found = await snapshot.read_item(ITEM, head.revision.revision_id, 0, 1)
    assert found.history is not None
    assert found.history.revision == head.revision
    assert (await snapshot.read_item(ITEM, "unknown", 0, 1)).history is None
    for fresh in (False, True):
        rows = await snapshot.read_archive(ITEM, head.revision.revision_id, 0, 10, fresh=fresh)
        assert "".join(row.text for row in rows)[:10] == LONG[:10]
    assert await snapshot.read_archive(ITEM, "unknown", 0, 10, fresh=False) == []


ASKS: dict[str, Ask] = {
    "passages": lambda one: one.count_passages(),
    "archived bases": lambda one: one.archived_bases(),
    "a base": lambda one: one.has_published("notes"),
    "an archived base": lambda one: one.has_published("old"),
    "no base": lambda one: one.has_published("nowhere"),
    "terms": lambda one: one.search_lexical("valv pump", "", (), 50),
    "a vector": lambda one: one.search_semantic(embedding().embed_query("valve"), "", (), 50),
    "a window": lambda one: one.read_item(ITEM, "", 3_000, 7_000),
    "an item": lambda one: one.read_item(OTHER, "", 0, 10_000),
}


@pytest.mark.parametrize("name", ASKS)
async def test_a_snapshot_in_memory_answers_as_the_tables_do(tables: TableSnapshot, name: str) -> None:
    cached = CachedSnapshot(tables, await load_whole(tables))
    assert await ASKS[name](cached) == await ASKS[name](tables)


async def test_archived_bases_and_published_ones_are_reported_apart(snapshot: Snapshot) -> None:
    assert await snapshot.archived_bases() == {"old"}
    assert await snapshot.has_published("notes")
    assert not await snapshot.has_published("nowhere")


async def test_a_snapshot_stays_at_its_version(folder: Location, tables: TableSnapshot) -> None:
    before = await tables.count_passages()
    await put(folder, ANA, "notes", {"new.md": "A new valve."})
    assert await tables.search_lexical("new", "", (), 5) == []
    assert await tables.count_passages() == before
    later = await open_snapshot(open_handles(folder), ANA)
    assert await later.count_passages() == before + 1
    assert await later.version() != await tables.version()


async def test_a_row_that_names_another_scope_is_refused(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    table = await (await lancedb.connect_async(folder.uri)).open_table(ANA.current_table)
    foreign = {"scope": "owner:ben", METADATA_JSON: '{"scope": "owner:ben"}'}
    await table.update(foreign, where=f"item_id = '{OTHER}'")
    tables = await open_snapshot(open_handles(folder), ANA)
    assert OTHER not in items_of(await tables.search_lexical("valv", "", (), 10))
    for ask in (tables.read_item(OTHER, "", 0, 10), tables.read_hits([Retrieved(ANA, OTHER, 0, 1.0, "")])):
        with pytest.raises(StorageUnavailableError):
            await ask
    with pytest.raises(StorageUnavailableError):
        await load_whole(tables)
