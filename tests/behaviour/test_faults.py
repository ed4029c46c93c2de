"""A broken store is never an empty answer: each fault, at opening and while the process runs."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path

import lancedb
import pytest

from knowledge.store.options import storage_options_from
from knowledge.store.table_handles import REFRESH_SECONDS
from local_s3.moto_server import S3Server
from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from tests.support.calls import Context, call, envelope_of, error_of, rest_event, switched_on, tool_call
from tests.support.datasets import ANA, Location, build, put

TEXTS = {"router.md": "# Router\n\nReset the router.\n", "long.md": "Router settings in words. " * 400}
QUERY: Mapping[str, object] = {"query": "router"}
STORAGE = ("knowledge_storage_unavailable", None)
REMAINING_MS = 4_000
DEADLINE = REMAINING_MS / 1000

Fault = Callable[[S3Server], AbstractContextManager[None]]
FAULTS: dict[str, Fault] = {
    "403": lambda server: server.answer_with(403),
    "404": lambda server: server.answer_with(404),
    "500": lambda server: server.answer_with(500),
    "503": lambda server: server.answer_with(503),
    "reset": lambda server: server.cut_connections(),
}


def open_handler(where: Location) -> Handler:
    return switched_on(where.uri, storage_options=where.options)


def assert_refused_in_time(handler: Handler, arguments: Mapping[str, object]) -> None:
    started = time.monotonic()
    envelope = envelope_of(handler(rest_event(tool_call(arguments)), Context(REMAINING_MS)))
    assert envelope["type"] == "knowledge_unavailable", envelope
    assert error_of(envelope) == STORAGE
    assert envelope["error"]["retryable"] is True
    assert time.monotonic() - started < DEADLINE


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_when_opening_is_reported(s3_server: S3Server, bucket: Location, fault: str) -> None:
    build(bucket, {(ANA, "notes"): TEXTS})
    with open_handler(bucket) as handler:
        with FAULTS[fault](s3_server):
            assert_refused_in_time(handler, QUERY)
        assert len(call(handler, QUERY)["results"]) == 2


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_between_two_queries_is_reported(s3_server: S3Server, bucket: Location, fault: str) -> None:
    build(bucket, {(ANA, "notes"): TEXTS})
    with open_handler(bucket) as handler:
        found = call(handler, QUERY)["results"]
        with FAULTS[fault](s3_server):
            assert_refused_in_time(handler, {"query": "settings in words", "mode": "semantic"})
            assert_refused_in_time(handler, {"knowledge_item_id": found[0]["knowledge_item_id"], "offset": 5000})
        assert call(handler, QUERY)["results"] == found


@pytest.mark.parametrize("fault", ["403", "503", "reset"])
def test_a_fault_while_checking_for_a_newer_version_is_reported(
    s3_server: S3Server, bucket: Location, fault: str
) -> None:
    build(bucket, {(ANA, "notes"): TEXTS})
    with open_handler(bucket) as handler:
        call(handler, QUERY)
        time.sleep(REFRESH_SECONDS + 0.1)
        with FAULTS[fault](s3_server):
            assert_refused_in_time(handler, QUERY)


@pytest.mark.parametrize("after", [1, 2, 4, 7, 11])
def test_a_fault_in_the_middle_of_a_query_is_reported(s3_server: S3Server, bucket: Location, after: int) -> None:
    build(bucket, {(ANA, "notes"): TEXTS})
    served = 0

    def later(_method: str, _path: str) -> int | None:
        nonlocal served
        served += 1
        return 503 if served > after else None

    with open_handler(bucket) as handler, s3_server.hook_requests(later):
        assert_refused_in_time(handler, QUERY)


def test_a_dead_port_is_reported() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        options = storage_options_from({"AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{port}", "AWS_REGION": "eu-west-1"})
        with open_handler(Location("s3://somewhere/data", options)) as handler:
            assert_refused_in_time(handler, QUERY)


def test_a_missing_bucket_is_reported(bucket: Location) -> None:
    with open_handler(Location("s3://no-such-bucket/data", bucket.options)) as handler:
        assert_refused_in_time(handler, QUERY)


def test_a_location_without_the_dataset_marker_is_not_an_empty_dataset(location: Location, tmp_path: Path) -> None:
    build(location, {(ANA, "notes"): TEXTS})
    for uri in (location.uri + "/elsewhere", str(tmp_path / "missing"), str(tmp_path)):
        with open_handler(Location(uri, location.options)) as handler:
            for arguments in (QUERY, {"knowledge_item_id": "ki_any"}):
                assert_refused_in_time(handler, arguments)
    assert not (tmp_path / "missing").exists()


def test_a_dataset_that_is_emptied_under_a_running_process_is_not_an_empty_one(folder: Location) -> None:
    build(folder, {(ANA, "notes"): TEXTS})
    with open_handler(folder) as handler:
        assert call(handler, QUERY)["results"]
        Path(folder.uri).rename(folder.uri + "-away")
        Path(folder.uri).mkdir()
        time.sleep(REFRESH_SECONDS + 0.1)
        assert_refused_in_time(handler, QUERY)


def test_a_dataset_of_another_model_is_a_mismatch_and_not_retryable(location: Location) -> None:
    build(location, {(ANA, "notes"): TEXTS})
    settings = Settings(location.uri, embedding="local", runtime_switch="on", storage_options=location.options)
    with Handler(settings) as handler:
        envelope = call(handler, QUERY)
    assert (envelope["type"], envelope["error"]["code"]) == ("knowledge_unavailable", "knowledge_dataset_mismatch")
    assert envelope["error"]["retryable"] is False


def test_a_version_that_was_cleaned_away_under_a_reader_is_read_again(folder: Location) -> None:
    build(folder, {(ANA, "notes"): TEXTS})
    with open_handler(folder) as handler:
        before = call(handler, QUERY)["results"]
        asyncio.run(put(folder, ANA, "notes", {"router.md": "# Router\n\nReset the router twice.\n"}))
        asyncio.run(_clean_up(folder))
        after = call(handler, {"query": "settings twice"})["results"]
        item = before[0]["knowledge_item_id"]
        assert call(handler, {"knowledge_item_id": item})["type"] == "knowledge"
    assert {hit["source"]["uri"] for hit in after} == {"router.md", "long.md"}


async def _clean_up(where: Location) -> None:
    """Leave only the newest version of every table, as no operator should."""
    connection = await lancedb.connect_async(where.uri)
    for name in (await connection.list_tables()).tables:
        table = await connection.open_table(name)
        with pytest.warns(UserWarning, match="cleanup_older_than=0"):
            await table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
