"""Retrieval: which sides are searched in which scopes, and that no failure leaves anything behind."""

from __future__ import annotations

import asyncio
import gc
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from knowledge.embedding.base import Vectors
from knowledge.errors import ResourceUnavailableError, StorageUnavailableError
from knowledge.requests import LEXICAL_MODES, MODES, SEMANTIC_MODES, Mode, SearchRequest
from knowledge.scopes import Scope
from knowledge.search.analysis import analyze_query
from knowledge.search.retrieval import POOL_DEPTH, ScopeCandidates, retrieve, start_embedding
from knowledge.store.snapshot import Snapshot
from publish_knowledge.publishing.lifecycle import archive_base
from tests.support.datasets import ANA, BEN, SUPPORT, Location, embedding, item, put, run_in_store
from tests.support.reading import run_on_snapshots

pytestmark = pytest.mark.anyio

TEXTS = {"router.md": "Reset the router.\n", "invoice.md": "Invoices are sent monthly.\n"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def retrieve_from(where: Location, scopes: Sequence[Scope], request: SearchRequest) -> list[ScopeCandidates]:
    embed = embedding().embed_query
    vector = start_embedding(request.query, embed) if request.mode in SEMANTIC_MODES else None
    return await run_on_snapshots(where, scopes, lambda found: retrieve(found, request, vector))


def reported_by_the_loop() -> list[dict[str, Any]]:
    """What the loop reports from now on: exceptions that nobody retrieved, above all."""
    found: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: found.append(context))
    return found


def refuse(_text: str) -> Vectors:
    raise OSError("no answer")


@pytest.mark.parametrize("mode", MODES)
async def test_a_mode_searches_its_sides_and_no_other(folder: Location, mode: Mode) -> None:
    await put(folder, ANA, "notes", TEXTS)
    (found,) = await retrieve_from(folder, [ANA], SearchRequest("router", mode=mode))
    lexical = {hit.item_id for hit in found.lexical.pool.hits}
    assert lexical == ({item(ANA, "notes", "router.md")} if mode in LEXICAL_MODES else set())
    assert len(found.semantic) == (2 if mode in SEMANTIC_MODES else 0)


async def test_every_scope_has_candidates_of_its_own_in_the_order_given(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    await put(folder, SUPPORT, "manuals", TEXTS)
    found = await retrieve_from(folder, [SUPPORT, BEN, ANA], SearchRequest("router"))
    assert [one.snapshot.scope for one in found] == [SUPPORT, ANA]
    for one in found:
        hits = [*one.lexical.pool.hits, *one.semantic]
        assert {hit.scope for hit in hits} == {one.snapshot.scope}


async def test_terms_are_counted_in_each_hit_and_in_the_pool(folder: Location) -> None:
    await put(folder, ANA, "notes", {"a.md": "Pump and pump.\n", "b.md": "Pump and valve.\n", "c.md": "None.\n"})
    (found,) = await retrieve_from(folder, [ANA], SearchRequest("pump", mode="lexical"))
    (term,) = analyze_query("pump").terms
    assert found.lexical.terms == (term,)
    assert sorted(found.lexical.frequencies[:, 0].tolist()) == [1, 2]
    assert found.lexical.document_frequencies == {term: 2}
    assert (found.lexical.pool.passages, found.lexical.pool.complete) == (3, True)


async def test_a_query_without_words_asks_the_semantic_side_alone(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    (found,) = await retrieve_from(folder, [ANA], SearchRequest("🦓 !?"))
    assert (found.lexical.pool.hits, len(found.semantic)) == ((), 2)


async def test_a_side_is_asked_further_while_few_items_crowd_it(folder: Location) -> None:
    long = "".join(f"# Part {number}\n\nThe pump, step {number}.\n\n" for number in range(2 * POOL_DEPTH))
    # One word among many: below every passage of the long item.
    await put(folder, ANA, "notes", {"long.md": long, "other.md": "A pump " + "beside other things " * 60})
    (found,) = await retrieve_from(folder, [ANA], SearchRequest("pump", mode="lexical"))
    passages = [hit.passage for hit in found.lexical.pool.hits]
    assert len(set(passages)) == len(passages) > POOL_DEPTH
    assert {hit.item_id for hit in found.lexical.pool.hits} == {
        item(ANA, "notes", "long.md"),
        item(ANA, "notes", "other.md"),
    }
    assert not found.lexical.pool.complete


async def test_a_base_that_is_visible_in_no_scope_is_refused(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    await put(folder, SUPPORT, "manuals", TEXTS)
    found = await retrieve_from(folder, [ANA, SUPPORT], SearchRequest("router", base_id="manuals"))
    assert [(one.base_visible, len(one.semantic)) for one in found] == [(False, 0), (True, 2)]
    await run_in_store(folder, archive_base, SUPPORT, "manuals")
    for base_id in ("manuals", "missing"):
        with pytest.raises(ResourceUnavailableError):
            await retrieve_from(folder, [ANA, SUPPORT], SearchRequest("router", base_id=base_id))


async def test_archived_bases_are_named_beside_the_candidates(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    await put(folder, ANA, "old", {"old.md": "An old router."})
    await run_in_store(folder, archive_base, ANA, "old")
    (found,) = await retrieve_from(folder, [ANA], SearchRequest("router"))
    assert found.archived_bases == {"old"}


@pytest.mark.parametrize("mode", MODES)
async def test_one_scope_that_fails_fails_the_whole_and_leaves_nothing_running(folder: Location, mode: Mode) -> None:
    await put(folder, ANA, "notes", TEXTS)
    await put(folder, BEN, "notes", TEXTS)
    reported, running = reported_by_the_loop(), asyncio.all_tasks()
    data = Path(folder.uri) / f"{BEN.current_table}.lance" / "data"

    async def lose_data_and_retrieve(found: list[Snapshot]) -> list[ScopeCandidates]:
        shutil.rmtree(data, ignore_errors=True)
        request = SearchRequest("router", mode=mode)
        vector = start_embedding("router", embedding().embed_query) if mode in SEMANTIC_MODES else None
        return await retrieve(found, request, vector)

    with pytest.raises(StorageUnavailableError):
        await run_on_snapshots(folder, [ANA, BEN], lose_data_and_retrieve)
    gc.collect()
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == running
    assert reported == []


async def test_a_failing_embedding_fails_every_scope_as_an_outage_with_its_cause(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    await put(folder, BEN, "notes", TEXTS)
    vector = start_embedding("router", refuse)
    request = SearchRequest("router")
    with pytest.raises(StorageUnavailableError) as failure:
        await run_on_snapshots(folder, [ANA, BEN], lambda found: retrieve(found, request, vector))
    assert isinstance(failure.value.__cause__, OSError)


async def test_a_programming_error_in_the_embedding_passes_as_itself(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    vector = start_embedding("router", lambda _text: None.embed)  # type: ignore[attr-defined]  # the mistake
    request = SearchRequest("router")
    with pytest.raises(AttributeError):
        await run_on_snapshots(folder, [ANA], lambda found: retrieve(found, request, vector))


async def test_an_embedding_goes_on_beside_the_loop() -> None:
    going_on, go_on = threading.Event(), threading.Event()

    def embed(text: str) -> Vectors:
        going_on.set()
        assert go_on.wait(10)
        return embedding().embed_query(text)

    vector = start_embedding("router", embed)
    assert await asyncio.to_thread(going_on.wait, 10)
    assert not vector.done()
    go_on.set()
    assert (await vector == embedding().embed_query("router")).all()


async def test_an_embedding_that_nobody_awaits_fails_in_silence() -> None:
    reported = reported_by_the_loop()
    vector = start_embedding("router", refuse)
    await asyncio.wait([vector])
    del vector
    gc.collect()
    await asyncio.sleep(0)
    assert reported == []


async def test_a_cancelled_embedding_is_not_waited_for_and_reports_nothing() -> None:
    reported, go_on = reported_by_the_loop(), threading.Event()

    def embed(text: str) -> Vectors:
        assert go_on.wait(10)
        return refuse(text)

    vector = start_embedding("router", embed)
    vector.cancel()
    with pytest.raises(asyncio.CancelledError):
        await vector
    go_on.set()
    await asyncio.get_running_loop().shutdown_default_executor()
    gc.collect()
    await asyncio.sleep(0)
    assert reported == []
