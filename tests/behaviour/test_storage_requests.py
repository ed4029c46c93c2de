"""Requests of the function to S3, from the server's log."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable

import pytest

from knowledge.scopes import Scope
from local_s3.moto_server import READING, Request, S3Server
from publish_knowledge.maintenance import optimize_dataset
from search_knowledge.app import Handler
from tests.support.calls import Json, call, switched_on
from tests.support.datasets import ANA, BEN, Location, document, item, put, put_one, run_in_store

SENTENCE = "Every valve of pump {} is opened once a week and closed again before noon. "
PERIOD = 400
"""Sentences after which the text repeats, so that a model embeds few of its passages."""


def make_text(characters: int) -> str:
    paragraphs = ["".join(SENTENCE.format(number) for number in range(at, at + 8)) for at in range(0, PERIOD, 8)]
    block = "\n\n".join(paragraphs) + "\n\n"
    return (block * (characters // len(block) + 1))[:characters]


def open_handler(where: Location) -> Handler:
    return switched_on(where.uri, storage_options=where.options)


def call_cold(server: S3Server, where: Location, arguments: Json, claims: Json) -> tuple[Json, list[Request]]:
    with open_handler(where) as handler, server.record_requests() as requests:
        envelope = call(handler, arguments, authorizer=claims)
    return envelope, requests


def claims_of(owner: str) -> Json:
    return {"sub": owner, "scope": "knowledge:read"}


def test_the_function_only_ever_reads(s3_server: S3Server, bucket: Location) -> None:
    first = asyncio.run(put_one(bucket, ANA, "notes", document("a.md", "The first pump.")))
    asyncio.run(put_one(bucket, ANA, "notes", document("a.md", "The second pump.")))
    read = {"knowledge_item_id": first.item_id}
    calls: dict[str, tuple[Json, str]] = {
        "query": ({"query": "pump"}, "ana"),
        "current read": (read, "ana"),
        "historical read": (read | {"knowledge_revision_id": first.revision_id}, "ana"),
        "empty scope": ({"query": "pump"}, "nobody"),
        "refusal": ({"knowledge_item_id": "ki_missing"}, "ana"),
    }
    for name, (arguments, owner) in calls.items():
        envelope, requests = call_cold(s3_server, bucket, arguments, claims_of(owner))
        assert {request.method for request in requests} <= READING, name
        assert len(requests) > 0, name
        assert (envelope["type"] == "knowledge_error") is (name == "refusal")


def test_a_window_of_a_very_long_text_costs_about_what_one_of_a_short_text_does(
    s3_server: S3Server, bucket: Location
) -> None:
    short, long = make_text(50_000), make_text(5_000_000)
    asyncio.run(put_one(bucket, ANA, "notes", document("short.md", short)))
    asyncio.run(put_one(bucket, BEN, "notes", document("long.md", long)))
    sent: Counter[str] = Counter()
    for owner, scope, path, text in (("ana", ANA, "short.md", short), ("ben", BEN, "long.md", long)):
        arguments: Json = {"knowledge_item_id": item(scope, "notes", path), "offset": len(text) // 2}
        envelope, requests = call_cold(s3_server, bucket, arguments, claims_of(owner))
        assert envelope["content"] == text[len(text) // 2 :][:4000]
        sent[path] = sum(request.sent for request in requests)
    assert sent["long.md"] <= 1.5 * sent["short.md"], sent


def count_requests(server: S3Server, where: Location, calls: Iterable[Json]) -> list[int]:
    """Count the requests of each call of a function that has opened nothing yet."""
    counts = []
    with open_handler(where) as handler:
        for arguments in calls:
            with server.record_requests() as requests:
                assert call(handler, arguments, authorizer=claims_of("ana"))["type"] != "knowledge_error"
            counts.append(len(requests))
    return counts


@pytest.mark.parametrize("upkeep", ["optimized", "waiting"])
def test_calls_ask_for_little_and_no_more_beside_other_scopes(
    s3_server: S3Server, bucket: Location, upkeep: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The check for a new version every few seconds is one more request; a slow run must not count it.
    monkeypatch.setattr("knowledge.store.table_handles.REFRESH_SECONDS", 3600.0)
    queries: list[Json] = [{"query": f"valve of pump {number}"} for number in range(5)]
    reads: list[Json] = [{"knowledge_item_id": item(ANA, "notes", f"{number}.md")} for number in range(5)]
    asyncio.run(put(bucket, ANA, "notes", {f"{number}.md": SENTENCE.format(number) * 9 for number in range(40)}))
    if upkeep == "optimized":
        asyncio.run(run_in_store(bucket, optimize_dataset))
    alone = count_requests(s3_server, bucket, queries), count_requests(s3_server, bucket, reads)
    first, *warm = alone[0]
    assert first <= 60
    assert max(warm) <= 8
    assert max(alone[1][1:]) <= 6
    for number in range(3):
        asyncio.run(put(bucket, Scope("team", f"other-{number}"), "notes", {"a.md": "Another pump."}))
    beside = count_requests(s3_server, bucket, queries), count_requests(s3_server, bucket, reads)
    # Two parts of a query may both fetch a small file that usually only one of them fetches.
    assert all(
        more - fewer <= 2
        for kind, before in zip(beside, alone, strict=True)
        for more, fewer in zip(kind, before, strict=True)
    )
