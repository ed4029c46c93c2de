"""After any fault of the store the next call of the same process answers rightly, and at once.

Each case lets the requests of a first call fail from one number on until the call gives up, and calls again in a
healthy store. A control keeps the resources that the dataset would replace, and shows the calls that then hang.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, get_args

import pytest

from knowledge.errors import DatasetMismatchError, KnowledgeError, StorageUnavailableError
from knowledge.requests import ReadRequest, SearchRequest
from knowledge.service import KnowledgeService
from knowledge.store.dataset import Dataset
from knowledge.store.options import storage_options_from
from local_s3.counting_server import CountingServer, serve_counted
from local_s3.faults import FaultKind
from tests.support.calls import Context, call, envelope_of, error_of, rest_event, switched_on, tool_call
from tests.support.campaign import choose_trials
from tests.support.datasets import ANA, SUPPORT, Location, build, embedding, item
from tests.support.reading import read_row_by_row

LONG: Final = "".join(f"Sentence {number} of the manual. " for number in range(400))
TEXTS: Final = {"router.md": "# Router\n\nReset the router.\n", "long.md": LONG}
SCOPES: Final = [ANA, SUPPORT]
REQUESTS: Final[dict[str, SearchRequest | ReadRequest]] = {
    "search": SearchRequest("how to reset the router"),
    "read": ReadRequest(item(ANA, "notes", "long.md"), offset=3_000),
}

GIVE_UP_SOON: Final = {
    "client_max_retries": "1",
    "download_retry_count": "0",
    "lance_aimd_max_retries": "0",
    "timeout": "1s",
}
"""Storage options with which the library retries once, so that a case is short. Without any retry nothing hangs."""

DEADLINE_SECONDS: Final = 1.5
RECOVERY_SECONDS: Final = 2.0
"""In which the call after a fault answers; more on a machine where a first call takes a twentieth of that."""

CONTROL_REQUESTS: Final = (12, 13, 14) * 30
"""From these requests on an outage makes about every tenth process hang; it depends on the order of answers."""

KINDS: Final[tuple[FaultKind, ...]] = get_args(FaultKind)
SLOW_KINDS: Final = {"hang", "drip"}


@dataclass(frozen=True, slots=True)
class Store:
    """A store, and how long the first call of a process may take in it."""

    server: CountingServer
    allowed_seconds: float

    @property
    def where(self) -> Location:
        return Location("s3://bucket/data", {**storage_options_from({}), **self.server.options, **GIVE_UP_SOON})


class KeptResources(Dataset):
    """The control: a dataset that goes on with the connection, handles and caches of before a fault."""

    @contextmanager
    def _replacing(self, _used: object) -> Iterator[None]:
        yield


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("store")
    build(str(folder / "bucket" / "data"), {(scope, "notes"): TEXTS for scope in SCOPES})
    embedding().embed_query("warm")
    with serve_counted(folder, 0) as server:
        started = time.monotonic()
        asyncio.run(answer_once(open_service(Store(server, 0)), "search"))
        yield Store(server, max(RECOVERY_SECONDS, 20 * (time.monotonic() - started)))


@pytest.fixture(params=["cached", "row by row"])
def _way_of_reading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "row by row":
        read_row_by_row(monkeypatch)


def open_service(store: Store, kind: type[Dataset] = Dataset) -> KnowledgeService:
    model, where = embedding(), store.where
    dataset = kind(where.uri, model=model.model, dimensions=model.dimensions, storage_options=where.options)
    return KnowledgeService(dataset, model)


async def answer_once(service: KnowledgeService, shape: str, seconds: float = 30.0) -> dict[str, Any]:
    """The answer as the function would give it within so many seconds."""
    request = REQUESTS[shape]
    async with asyncio.timeout(seconds):
        if isinstance(request, ReadRequest):
            return (await service.read(SCOPES, request)).as_dict()
        return (await service.search(SCOPES, request)).as_dict()


async def fail_then_answer(
    store: Store, service: KnowledgeService, shape: str, kind: FaultKind, first: int, count: int = 0
) -> dict[str, Any]:
    """Let a first call meet a fault, and return the answer of the next one."""
    with store.server.inject(kind, first, count), suppress(StorageUnavailableError, DatasetMismatchError, TimeoutError):
        await answer_once(service, shape, DEADLINE_SECONDS)
    return await answer_once(service, shape, store.allowed_seconds)


def count_requests(store: Store, shape: str) -> int:
    store.server.take_requests()
    asyncio.run(answer_once(open_service(store), shape))
    return len(store.server.take_requests())


def choose_requests(total: int, kind: FaultKind) -> range:
    """Numbers of the first request that fails: all in a campaign, else a few, other ones for each kind."""
    step = choose_trials(19 if kind in SLOW_KINDS else 9, 1)
    return range(1 + KINDS.index(kind) % step, total + 1, step)


@pytest.mark.usefixtures("_way_of_reading")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", REQUESTS)
def test_the_call_after_a_fault_answers_rightly_and_at_once(store: Store, shape: str, kind: FaultKind) -> None:
    async def story() -> dict[tuple[int, int], object]:
        right = await answer_once(open_service(store), shape)
        wrong: dict[tuple[int, int], object] = {}
        for first in choose_requests(total, kind):
            count = first % 2
            try:
                answer = await fail_then_answer(store, open_service(store), shape, kind, first, count)
            except (KnowledgeError, TimeoutError) as error:
                wrong[first, count] = repr(error)
            else:
                if answer != right:
                    wrong[first, count] = answer
        return wrong

    total = count_requests(store, shape)
    assert asyncio.run(story()) == {}


def test_calls_that_keep_the_connection_hang_after_an_outage(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: without replacing what the fault has touched, an outage soon leaves a process that hangs."""
    read_row_by_row(monkeypatch)

    async def has_hung() -> bool:
        for first in CONTROL_REQUESTS:
            service = open_service(store, KeptResources)
            try:
                await fail_then_answer(store, service, "search", "503", first)
            except TimeoutError:
                with pytest.raises(TimeoutError):
                    await answer_once(service, "search", RECOVERY_SECONDS)
                await answer_once(open_service(store), "search", store.allowed_seconds)
                return True
        return False

    assert asyncio.run(has_hung())


def test_calls_in_progress_end_well_while_another_call_meets_a_fault(store: Store) -> None:
    async def story() -> None:
        where, model = store.where, embedding()
        dataset = Dataset(where.uri, model=model.model, dimensions=model.dimensions, storage_options=where.options)
        service = KnowledgeService(dataset, model)
        right = await answer_once(service, "search")
        started, goes_on = asyncio.Event(), asyncio.Event()

        async def wait_and_count(found: list[Any]) -> list[int]:
            started.set()
            await goes_on.wait()
            archived = [await one.read_archive(item(ANA, "notes", "long.md"), "", 0, 1, fresh=True) for one in found]
            assert archived == [[], []]
            return [await one.count_passages() for one in found]

        running = asyncio.create_task(dataset.run(SCOPES, wait_and_count))
        await started.wait()
        with store.server.inject("403"), pytest.raises(StorageUnavailableError):
            await dataset.run(SCOPES, fail)
        goes_on.set()
        assert (await running)[0] > 1
        assert await answer_once(service, "search", store.allowed_seconds) == right

    async def fail(_found: object) -> None:
        raise StorageUnavailableError

    asyncio.run(story())


@pytest.mark.usefixtures("_way_of_reading")
@pytest.mark.parametrize("kind", ["hang", "503", "reset"])
def test_a_handler_whose_call_was_cut_off_answers_the_next_one(store: Store, kind: FaultKind) -> None:
    arguments = {"query": "how to reset the router"}
    options = storage_options_from({}) | store.server.options
    with switched_on(store.where.uri, storage_options=options) as handler:
        with store.server.inject(kind, 6):
            answer = envelope_of(handler(rest_event(tool_call(arguments)), Context(2_500)))
            assert error_of(answer) == ("knowledge_storage_unavailable", None)
        started = time.monotonic()
        assert len(call(handler, arguments)["results"]) == len(SCOPES) * len(TEXTS)
        assert time.monotonic() - started < store.allowed_seconds
