"""The local gateway over HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator

import httpx2
import pytest
from mcp import Client

from local_gateway.bodies import MAX_BODY_BYTES
from local_gateway.front import Front
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
    assert send(front, "POST", "/mcp/", body=ping)[0] == 200
    assert send(front, "POST", "/mcp/?x=1", body=ping)[0] == 200


def read_error(answer: tuple[int, str]) -> tuple[int, str]:
    """Status and message of an error, whose body is JSON-RPC."""
    status, text = answer
    body = json.loads(text)
    assert (body["jsonrpc"], body["id"], body["error"]["code"]) == ("2.0", None, -32600)
    return status, body["error"]["message"]


@pytest.mark.parametrize("path", ["/", "/other", "/mcp//", "/mcp/x", "/MCP", "/.well-known/oauth-protected-resource"])
def test_another_path_is_answered_with_the_right_one(front: Front, path: str) -> None:
    for method in ("GET", "POST", "OPTIONS"):
        found = read_error(send(front, method, path))
        assert found == (404, f"There is nothing at this path; the tool is at {front.url}.")


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"BREW /mcp HTTP/1.1", 501),
        (b"POST /mcp HTTP/9.0", 505),
        (b"POST /mcp", 400),
        (b"nonsense \"'<", 400),
        (b"POST /" + b"x" * 70_000 + b" HTTP/1.1", 414),
    ],
    ids=["method", "version", "HTTP/0.9", "nonsense", "long"],
)
def test_what_is_not_a_request_is_answered_in_json(front: Front, line: bytes, status: int) -> None:
    with socket.create_connection(("127.0.0.1", front.server_port), timeout=10) as connection:
        connection.sendall(line + b"\r\nHost: 127.0.0.1\r\n\r\n")
        answer = connection.makefile("rb").read()
    body = json.loads(answer.rpartition(b"\r\n\r\n")[2])
    assert body["error"]["code"] == -32600
    assert body["error"]["message"]
    assert answer.startswith(f"HTTP/1.1 {status} ".encode()) or status == 400


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Host": "[::"}, {"Origin": "null"}, {"Host": ""}],
    ids=json.dumps,
)
def test_requests_from_elsewhere_are_refused(front: Front, headers: dict[str, str]) -> None:
    status, message = read_error(send(front, "POST", headers=JSON | headers, body=b"{}"))
    assert (status, "Only this machine may call" in message) == (403, True)


@pytest.mark.parametrize("origin", ["http://localhost:6274", "http://127.0.0.1:1", "http://[::1]:80"])
def test_pages_of_this_machine_are_allowed(front: Front, origin: str) -> None:
    answer = httpx2.options(front.url, headers={"Origin": origin})
    assert answer.headers["access-control-allow-origin"] == origin
    assert "mcp-protocol-version" in answer.headers["access-control-allow-headers"]


@pytest.mark.parametrize("method", ["POST", "GET", "OPTIONS"])
@pytest.mark.parametrize("path", ["/mcp", "/other"])
def test_every_answer_names_the_allowed_origin_once(front: Front, method: str, path: str) -> None:
    origin = "http://localhost:6274"
    url = front.url.removesuffix("/mcp") + path
    answer = httpx2.request(method, url, headers=JSON | {"Origin": origin}, content=json.dumps(request("ping")))
    assert answer.headers.get_list("access-control-allow-origin") == [origin]
    assert answer.headers["vary"] == "Origin"


def test_without_an_origin_none_is_allowed(front: Front) -> None:
    answer = httpx2.post(front.url, json=request("ping"))
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Length": str(MAX_BODY_BYTES + 1)}, 413),
        ({"Content-Length": "9" * 5000}, 413),
        ({"Content-Length": "-1"}, 400),
        ({"Content-Length": "٣"}, 400),
        ({"Transfer-Encoding": "gzip"}, 501),
        ({"Transfer-Encoding": "gzip, chunked"}, 501),
        ({"Transfer-Encoding": "chunked", "Content-Length": "2"}, 400),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_body_that_cannot_be_read_is_refused_in_words(front: Front, headers: dict[str, str], status: int) -> None:
    lines = "".join(f"{name}: {value}\r\n" for name, value in {**JSON, **headers}.items())
    with socket.create_connection(("127.0.0.1", front.server_port), timeout=10) as connection:
        connection.sendall(f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}\r\n".encode())
        answer = connection.makefile("rb").read()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert read_error((int(head.split()[1]), body.decode()))[0] == status


def test_a_chunked_body_is_read(front: Front) -> None:
    ping = json.dumps(request("ping")).encode()

    def pieces() -> Iterator[bytes]:
        yield from (ping[number : number + 7] for number in range(0, len(ping), 7))

    with httpx2.Client() as session:
        for url in (front.url, f"{front.url}/"):
            # Twice in one connection, so that nothing of the first body is left in it.
            for _ in range(2):
                answer = session.post(url, content=pieces(), headers=JSON)
                assert answer.request.headers["transfer-encoding"] == "chunked"
                assert (answer.status_code, answer.json()["result"]) == (200, {})
