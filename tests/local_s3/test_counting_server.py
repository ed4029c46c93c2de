"""The counting S3 server: it serves what LanceDB requests, and counts sequential round trips."""

from __future__ import annotations

import asyncio
from pathlib import Path

from local_s3.counting_server import WAIT_SECONDS, Request, count_waves, serve_counted
from tests.support.datasets import ANA, Location, item, put
from tests.support.reading import find_items, read_text


def request(start: float, end: float) -> Request:
    return Request(start, end, "GET", "key", 0)


def test_concurrent_requests_are_one_wave() -> None:
    assert count_waves([]) == 0
    assert count_waves([request(0, 20), request(1, 21), request(2, 22)]) == 1


def test_a_request_that_waited_for_an_answer_is_one_more_wave_even_beside_others() -> None:
    chain = [request(0, 20), request(20, 40), request(41, 61)]
    assert count_waves([*chain, request(0, 60), request(5, 55)]) == 3


def test_a_dataset_is_read_through_it_and_every_request_is_recorded(tmp_path: Path) -> None:
    asyncio.run(put(Location(str(tmp_path / "bucket")), ANA, "notes", {"a.md": "Tides."}))
    with serve_counted(tmp_path) as server:
        where = Location("s3://bucket", server.options)
        assert asyncio.run(read_text(where, ANA, item(ANA, "notes", "a.md"))) == "Tides."
        read = server.take_requests()
        assert {one.kind for one in read} == {"GET", "LIST"}
        assert all(one.end - one.start >= WAIT_SECONDS and one.sent > 0 for one in read)
        assert [found for found, _ in asyncio.run(find_items(where, ANA, "tides"))] == [item(ANA, "notes", "a.md")]
        assert count_waves(server.take_requests()) > 0
        assert server.take_requests() == []
