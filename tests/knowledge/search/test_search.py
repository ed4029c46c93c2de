"""Search over real tables, on disk and on S3."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import pytest

from knowledge.errors import ResourceUnavailableError, StorageUnavailableError
from knowledge.requests import MODES, Mode, SearchRequest
from knowledge.search.fusion import Candidate, Ranked, fuse
from knowledge.search.retrieval import ScopeCandidates, retrieve, start_embedding
from knowledge.search.search import compose_answer, search, show
from knowledge.store.snapshot import Snapshot
from publish_knowledge.publishing.lifecycle import archive_base, archive_item, restore_base
from tests.support.datasets import ANA, BEN, SUPPORT, Location, embedding, item, put, run_in_store
from tests.support.reading import list_paths, open_service, run_on_snapshots

pytestmark = pytest.mark.anyio

LEXICAL_MODES: list[Mode] = ["hybrid", "lexical", "rrf"]
TEXTS = {
    "router.md": (
        "# Router\n\nReset the router with a paper clip.\n\n## Password\n\nThe factory password is on the label.\n"
    ),
    "invoice.md": "# Invoices\n\nInvoices are sent on the first working day of the month.\n",
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["in memory", "row by row"], autouse=True)
def _size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test with its scopes cached in memory, as small ones are, and queried row by row, as large ones are."""
    if request.param != "in memory":
        monkeypatch.setattr("knowledge.store.scope_cache.SMALL_SCOPE_ROWS", 0)


async def test_every_mode_finds_the_right_item_first(location: Location) -> None:
    await put(location, ANA, "notes", TEXTS)
    async with open_service(location) as reader:
        for mode in MODES:
            answer = await reader.search([ANA], SearchRequest("reset router password", mode=mode))
            assert list_paths(answer)[0] == "router.md"
            assert answer.alpha == (0.5 if mode == "hybrid" else None)


async def test_a_hit_carries_all_that_a_caller_needs_to_cite_it(folder: Location) -> None:
    await put(folder, SUPPORT, "hand book", TEXTS)
    async with open_service(folder) as reader:
        hit = (await reader.search([SUPPORT], SearchRequest("factory password label"))).hits[0].as_dict()
    text = TEXTS["router.md"]
    start = hit["excerpt_offset"]
    assert text[start : start + len(hit["excerpt"])] == hit["excerpt"]
    assert (hit["scope"], hit["owner_id"], hit["team_id"]) == ("team", None, "support")
    assert hit["knowledge_item_id"] == item(SUPPORT, "hand book", "router.md")
    revision = hit["knowledge_revision_id"]
    end = start + len(hit["excerpt"])
    assert hit["reference"] == f"knowledge://hand%20book/{hit['knowledge_item_id']}@{revision}#char={start},{end}"
    assert hit["source"]["uri"] == "router.md"
    assert "router" in hit["source"]["citation"]


async def test_the_lexical_side_alone_finds_nothing_where_no_word_matches(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    async with open_service(folder) as reader:
        assert (await reader.search([ANA], SearchRequest("zebra", mode="lexical"))).hits == ()
        assert (await reader.search([ANA], SearchRequest("🦓 !?", mode="lexical"))).hits == ()
        for mode in ("hybrid", "semantic", "rrf"):
            assert len((await reader.search([ANA], SearchRequest("zebra", mode=mode))).hits) == 2


async def test_one_long_item_does_not_crowd_out_the_short_ones(folder: Location) -> None:
    long = "".join(
        f"# Part {number}\n\nPump maintenance and valve pressure, step {number}.\n\n" for number in range(400)
    )
    short = {f"short{number}.md": f"Pump valve note {number}.\n" for number in range(10)}
    await put(folder, SUPPORT, "manuals", {"long.md": long, **short})
    async with open_service(folder) as reader:
        for mode in MODES:
            every = await reader.search([SUPPORT], SearchRequest("pump valve", mode=mode, max_results=50))
            assert len(every.hits) == 11
            for count in (1, 2, 10):
                some = await reader.search([SUPPORT], SearchRequest("pump valve", mode=mode, max_results=count))
                assert some.hits == every.hits[:count]


async def test_a_perfect_match_among_few_notes_comes_before_a_large_team(folder: Location) -> None:
    words = [f"topic{number}" for number in range(200)]
    chance = random.Random(7)
    query = "quarterly offsite budget lisbon"
    notes = {f"note{number}.md": f"A note on {chance.choice(words)} and lunch.\n" for number in range(19)}
    notes["perfect.md"] = "The quarterly offsite budget for Lisbon is approved.\n"
    team = {
        f"doc{number}.md": "".join(
            f"# {chance.choice(words)}\n\nThe {chance.choice(query.split())} plan for {chance.choice(words)} "
            f"and {chance.choice(words)}, {chance.choice(query.split())} first.\n\n"
            for _ in range(10)
        )
        for number in range(60)
    }
    await put(folder, ANA, "notes", notes)
    await put(folder, SUPPORT, "docs", team)
    async with open_service(folder) as reader:
        for mode in LEXICAL_MODES:
            answer = await reader.search([ANA, SUPPORT], SearchRequest(query, mode=mode))
            assert list_paths(answer)[0] == "perfect.md", mode


async def test_a_base_narrows_the_search_and_an_invisible_one_is_refused(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    await put(folder, ANA, "other", {"router2.md": "Router again."})
    await put(folder, BEN, "private", {"secret.md": "Router secrets."})
    await put(folder, ANA, "drafts", {"draft.md": "Router draft."}, draft=True)
    async with open_service(folder) as reader:
        found = await reader.search([ANA], SearchRequest("router", base_id="other"))
        assert list_paths(found) == ["router2.md"]
        for base_id in ("private", "missing", "drafts", "Notes"):
            with pytest.raises(ResourceUnavailableError):
                await reader.search([ANA], SearchRequest("router", base_id=base_id))


async def test_archived_items_and_bases_are_not_found_until_they_are_restored(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    await run_in_store(folder, archive_item, ANA, item(ANA, "notes", "router.md"))
    async with open_service(folder) as reader:
        assert list_paths(await reader.search([ANA], SearchRequest("router"))) == ["invoice.md"]
    await run_in_store(folder, archive_base, ANA, "notes")
    async with open_service(folder) as reader:
        assert (await reader.search([ANA], SearchRequest("router"))).hits == ()
        with pytest.raises(ResourceUnavailableError):
            await reader.search([ANA], SearchRequest("router", base_id="notes"))
    await run_in_store(folder, restore_base, ANA, "notes")
    async with open_service(folder) as reader:
        assert list_paths(await reader.search([ANA], SearchRequest("router"))) == ["invoice.md"]


async def test_a_scope_without_tables_is_empty_and_not_an_error(location: Location) -> None:
    await put(location, ANA, "notes", TEXTS)
    async with open_service(location) as reader:
        assert (await reader.search([BEN], SearchRequest("router"))).hits == ()
        assert len((await reader.search([BEN, ANA], SearchRequest("router"))).hits) == 2


async def test_the_same_question_gets_the_same_answer_from_any_process(folder: Location) -> None:
    await put(folder, ANA, "notes", {f"same{number}.md": "Alpha beta gamma.\n" for number in range(200)})
    answers = []
    for _ in range(3):
        async with open_service(folder) as reader:
            answers.append([await reader.search([ANA], SearchRequest("alpha", mode=mode)) for mode in MODES])
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.slow
async def test_a_publish_is_seen_by_a_running_reader_within_five_seconds(location: Location) -> None:
    await put(location, ANA, "notes", TEXTS)
    async with open_service(location) as reader:
        assert len((await reader.search([ANA, BEN], SearchRequest("router"))).hits) == 2
        await put(location, ANA, "notes", {"third.md": "A third router."})
        await put(location, BEN, "first", {"fourth.md": "A fourth router."})
        await asyncio.sleep(4.5)
        assert len((await reader.search([ANA, BEN], SearchRequest("router"))).hits) == 4


async def test_candidates_of_both_sides_serve_every_mode(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    await put(folder, SUPPORT, "manuals", {"other.md": "Another router, and its password."})
    requests = [SearchRequest("reset router password", mode=mode, alpha=alpha) for mode in MODES for alpha in (0, 0.3)]

    async def compare(snapshots: list[Snapshot]) -> None:
        vector = start_embedding(requests[0].query, embedding().embed_query)
        candidates = await retrieve(snapshots, requests[0], vector)
        for request in requests:
            alone = None if request.mode == "lexical" else vector
            assert await compose_answer(candidates, request) == await search(snapshots, request, alone)

    await run_on_snapshots(folder, [ANA, SUPPORT], compare)


async def test_an_answer_is_what_is_retrieved_fused_and_shown(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    request = SearchRequest("router password", max_results=1)

    async def compare(snapshots: list[Snapshot]) -> None:
        vector = start_embedding(request.query, embedding().embed_query)
        candidates = await retrieve(snapshots, request, vector)
        ranked = fuse(candidates, request.mode, request.alpha)
        assert len(ranked) == 2
        hits = await show(candidates, ranked, request.max_results)
        assert tuple(hits) == (await search(snapshots, request, vector)).hits
        assert [hit.scores.score for hit in hits] == [ranked[0].score]

    await run_on_snapshots(folder, [ANA], compare)


async def test_items_that_are_not_readable_make_room_for_the_next(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)
    await put(folder, ANA, "other", {"first.md": "Router, router, router."})

    async def archive(snapshots: list[Snapshot]) -> None:
        (found,) = await retrieve(snapshots, SearchRequest("router", mode="lexical"), None)
        ranked = fuse([found], "lexical", 0.5)
        archived = replace(found, archived_bases=frozenset({"other"}))
        first = [await show([one], ranked, 1) for one in (found, archived)]
        assert [hit.revision.source_uri for hits in first for hit in hits] == ["first.md", "router.md"]

    await run_on_snapshots(folder, [ANA], archive)


async def test_a_passage_whose_text_is_lost_is_an_outage_and_not_a_shorter_list(folder: Location) -> None:
    await put(folder, ANA, "notes", TEXTS)

    async def lose(snapshots: list[Snapshot]) -> None:
        (found,) = await retrieve(snapshots, SearchRequest("router", mode="lexical"), None)
        hit = found.lexical.pool.hits[0]
        lost = replace(found, semantic=(hit._replace(start=10_000),))
        ranked = [Ranked(Candidate(hit.item_id, 10_000, None, 0.5), 1.0, None, 1)]
        with pytest.raises(StorageUnavailableError):
            await show([lost], ranked, 10)

    await run_on_snapshots(folder, [ANA], lose)


async def test_without_candidates_nothing_is_ranked_or_shown() -> None:
    none: list[ScopeCandidates] = []
    assert fuse(none, "hybrid", 0.5) == []
    assert (await compose_answer(none, SearchRequest("router"))).hits == ()
