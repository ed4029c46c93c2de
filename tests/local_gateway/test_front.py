"""The local gateway over HTTP."""

from __future__ import annotations

import asyncio
import json

import httpx2
import pytest
from mcp import Client

from local_gateway.front import MAX_BODY_BYTES, Front
from tests.support.calls import ERAS, Era, request, tool_call
from tests.support.local_front import JSON, send


@pytest.mark.parametrize("era", ERAS)
def test_the_real_client_finds_and_calls_the_tool_over_http(front: Front, era: Era) -> None:
    async def use() -> None:
        async with Client(front.url, mode=era) as session:
            assert [tool.name for tool in (await session.list_tools()).tools] == ["search_knowledge"]
            result = await session.call_tool("search_knowledge", {"query": "Urlaub beantragen"})
            assert result.structured_content["results"][0]["source"]["uri"] == "handbook/urlaub.md"

    asyncio.run(use())


def test_several_connections_are_served_at_once(front: Front) -> None:
    async def many() -> list[int]:
        async with httpx2.AsyncClient(timeout=60) as session:
            calls = (session.post(front.url, json=tool_call({"query": "filter"})) for _ in range(8))
            return [answer.status_code for answer in await asyncio.gather(*calls)]

    assert asyncio.run(many()) == [200] * 8


def test_methods_reach_the_function_or_are_answered_here(front: Front) -> None:
    ping = json.dumps(request("ping")).encode()
    assert send(front, "POST", body=ping) == (200, '{"jsonrpc":"2.0","id":1,"result":{}}')
    assert send(front, "GET")[0] == 405
    assert send(front, "HEAD") == (405, "")
    assert send(front, "DELETE")[0] == 405
    assert send(front, "OPTIONS") == (204, "")
    assert send(front, "POST", "/mcp?x=1", body=ping)[0] == 200
    for path in ("/", "/other", "/.well-known/oauth-protected-resource"):
        assert send(front, "GET", path) == (404, "")


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Host": "[::"}, {"Origin": "null"}, {"Host": ""}],
    ids=json.dumps,
)
def test_requests_from_elsewhere_are_refused(front: Front, headers: dict[str, str]) -> None:
    assert send(front, "POST", headers=JSON | headers, body=b"{}") == (403, "")


@pytest.mark.parametrize("origin", ["http://localhost:6274", "http://127.0.0.1:1", "http://[::1]:80"])
def test_pages_of_this_machine_are_allowed(front: Front, origin: str) -> None:
    answer = httpx2.options(front.url, headers={"Origin": origin})
    assert answer.headers["access-control-allow-origin"] == origin
    assert "mcp-protocol-version" in answer.headers["access-control-allow-headers"]


@pytest.mark.parametrize(
    "headers",
    [{"Content-Length": str(MAX_BODY_BYTES + 1)}, {"Content-Length": "-1"}, {"Transfer-Encoding": "chunked"}],
    ids=json.dumps,
)
def test_bodies_that_are_too_long_or_of_unknown_length_are_refused(front: Front, headers: dict[str, str]) -> None:
    assert send(front, "POST", headers=JSON | headers) == (413, "")
