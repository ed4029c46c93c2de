"""What cannot be read costs the same, whatever the reason: requests and waves, by the log of an S3 server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from knowledge.errors import ResourceUnavailableError
from knowledge.requests import ReadRequest, SearchRequest
from knowledge.service import KnowledgeService
from knowledge.store import scope_cache
from knowledge.store.schema import HEAD, item_id
from local_s3.counting_server import CountingServer, count_waves, serve_counted
from publish_knowledge.maintenance import optimize_dataset
from publish_knowledge.publishing.lifecycle import archive_base, archive_item
from tests.support.datasets import ANA, BEN, SUPPORT, Location, document, put, put_one, run_in_store
from tests.support.reading import open_service

CALLER = (ANA, SUPPORT)
BUCKET = "data"
TEXT = "Every valve of the pump is opened once a week. " * 20

Cost = tuple[int, int]
"""Requests, and waves of them."""

COLD_DIFFERENCE = 2
"""Two parts of a first call may both fetch a small file that usually only one of them fetches; when requests happen to
overlap, there are fewer waves. Nothing of that is left in a warm call."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Ids that nobody may read, by reason."""

    items: dict[str, ReadRequest]
    bases: dict[str, str]


async def publish_all(where: Location, *, optimized: bool) -> Refused:
    """Publish what is refused, beside enough that is not."""
    for scope in (*CALLER, BEN):
        await put(where, scope, "notes", {f"{number}.md": TEXT + str(number) for number in range(12)})
    made = {
        "draft": await put_one(where, SUPPORT, "drafts", document("draft.md", TEXT), draft=True),
        "archived": await put_one(where, SUPPORT, "old", document("archived.md", TEXT)),
        "in an archived base": await put_one(where, SUPPORT, "closed", document("closed.md", TEXT)),
        "orphaned": await put_one(where, SUPPORT, "notes", document("orphaned.md", TEXT)),
        "foreign": await put_one(where, BEN, "foreign", document("foreign.md", TEXT)),
    }
    await run_in_store(where, archive_item, SUPPORT, made["archived"].item_id)
    await run_in_store(where, archive_base, SUPPORT, "closed")
    async with where.store() as store:
        table = await store.open_table(SUPPORT.current_table)
        assert table is not None
        await table.delete({"kind": HEAD, "item_id": made["orphaned"].item_id})
    if optimized:
        await run_in_store(where, optimize_dataset)
    items = {name: ReadRequest(one.item_id, one.revision_id) for name, one in made.items()}
    missing = ReadRequest(item_id(SUPPORT, "notes", "missing.md"), "kr_missing")
    bases = {"missing": "none", "drafts only": "drafts", "archived items only": "old", "archived": "closed"}
    return Refused({"missing": missing, **items}, {**bases, "foreign": "foreign"})


@pytest.fixture(scope="module", params=["optimized", "waiting"])
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[CountingServer, Refused]]:
    """A dataset behind a server that counts, and what is refused in it."""
    folder: Path = tmp_path_factory.mktemp("served")
    refused = asyncio.run(publish_all(Location(str(folder / BUCKET)), optimized=request.param == "optimized"))
    with serve_counted(folder) as server:
        yield server, refused


@pytest.fixture(params=["cached", "row by row"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of reading; handles are never renewed, so that no look for a new version is counted."""
    monkeypatch.setattr("knowledge.store.table_handles.REFRESH_SECONDS", 3600.0)
    if request.param == "row by row":
        monkeypatch.setattr(scope_cache, "SMALL_SCOPE_ROWS", 0)
    return str(request.param)


@asynccontextmanager
async def open_counted(server: CountingServer) -> AsyncIterator[KnowledgeService]:
    async with open_service(Location(f"s3://{BUCKET}", server.options)) as service:
        yield service


async def count_refusal(server: CountingServer, refused: Callable[[], Awaitable[object]]) -> Cost:
    """The cost of a call that must be refused."""
    await asyncio.to_thread(server.take_requests)
    with pytest.raises(ResourceUnavailableError):
        await refused()
    made = await asyncio.to_thread(server.take_requests)
    return len(made), count_waves(made)


async def count_states(server: CountingServer, ask: Callable[[KnowledgeService], Awaitable[object]]) -> list[Cost]:
    """The cost in a process that has opened nothing, again, after a search, and after that again."""
    async with open_counted(server) as service:
        costs = [await count_refusal(server, lambda: ask(service)) for _ in range(2)]
        await service.search(CALLER, SearchRequest("valve of the pump"))
        return costs + [await count_refusal(server, lambda: ask(service)) for _ in range(2)]


def assert_equal(costs: dict[str, list[Cost]]) -> None:
    """All reasons cost the same in every state; only of the first call the timing may differ."""
    cold = [first for (first, _), *_ in costs.values()]
    assert max(cold) - min(cold) <= COLD_DIFFERENCE, costs
    warm = [rest for _, *rest in costs.values()]
    assert warm == [[(0, 0)] * len(warm[0])] * len(warm), costs


def shape(request: ReadRequest, *, pinned: bool, base: str) -> ReadRequest:
    return replace(request, revision_id=request.revision_id if pinned else "", base_id=base)


@pytest.mark.parametrize(("pinned", "base"), [(False, ""), (True, ""), (True, "notes")])
@pytest.mark.usefixtures("way")
def test_items_that_cannot_be_read_cost_the_same(
    served: tuple[CountingServer, Refused], *, pinned: bool, base: str
) -> None:
    server, refused = served

    async def count_reads(request: ReadRequest) -> list[Cost]:
        return await count_states(server, lambda service: service.read(CALLER, request))

    costs = {
        name: asyncio.run(count_reads(shape(one, pinned=pinned, base=base))) for name, one in refused.items.items()
    }
    assert_equal(costs)


@pytest.mark.usefixtures("way")
def test_bases_that_cannot_be_seen_cost_the_same(served: tuple[CountingServer, Refused]) -> None:
    server, refused = served

    async def count_queries(base: str) -> list[Cost]:
        request = SearchRequest("valve of the pump", base_id=base)
        return await count_states(server, lambda service: service.search(CALLER, request))

    costs = {name: asyncio.run(count_queries(base)) for name, base in refused.bases.items()}
    assert_equal(costs)


def test_what_can_be_read_is_found_and_read(served: tuple[CountingServer, Refused]) -> None:
    server, _ = served

    async def read() -> str:
        async with open_counted(server) as service:
            found = await service.search(CALLER, SearchRequest("valve", base_id="notes"))
            request = ReadRequest(found.hits[0].revision.item_id, base_id="notes")
            return (await service.read(CALLER, request)).content

    assert TEXT[:100] in asyncio.run(read())
