"""The local gateway over real HTTP, and its command line."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx2
import pytest
from mcp import Client

from local_gateway.__main__ import greeting, main, provide_sample
from local_gateway.events import PAYLOADS, Developer, Payload, Request, event_of
from local_gateway.front import MAX_BODY_BYTES, Front
from local_gateway.sample import SampleError
from tests.support.datasets import SUPPORT, build
from tests.support.front_door import ERAS, Era, request, switched_on, tool_call

ANA = Developer("ana", ("support",))
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A dataset with two documents."""
    texts = {
        "handbook/urlaub.md": "# Urlaub beantragen\n\nAnträge gehen an die Leitung.\n",
        "handbook/sick-days.md": "# Calling in sick\n\nIf you are feverish, inform your manager.\n",
    }
    return build(str(tmp_path_factory.mktemp("gateway") / "dataset"), {(SUPPORT, "handbook"): texts}).uri


@pytest.fixture(scope="module", params=PAYLOADS)
def front(request: pytest.FixtureRequest, dataset: str) -> Iterator[Front]:
    payload: Payload = request.param
    with switched_on(dataset) as handler, Front(handler, ANA, payload=payload) as made:
        serving = threading.Thread(target=made.serve_forever, args=(0.05,))
        serving.start()
        yield made
        made.shutdown()
        serving.join()


def send(
    front: Front, method: str, path: str = "/mcp", headers: Mapping[str, str] = JSON, body: bytes = b""
) -> tuple[int, str]:
    """Status and body of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", front.server_port, timeout=30)
    try:
        connection.request(method, path, body or None, dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize("era", ERAS)
def test_the_real_client_finds_and_calls_the_tool_over_http(front: Front, era: Era) -> None:
    async def used() -> None:
        async with Client(front.url, mode=era) as session:
            assert [tool.name for tool in (await session.list_tools()).tools] == ["search_knowledge"]
            result = await session.call_tool("search_knowledge", {"query": "Urlaub beantragen"})
            assert result.structured_content["results"][0]["source"]["uri"] == "handbook/urlaub.md"

    asyncio.run(used())


def test_the_command_that_is_printed_works(front: Front) -> None:
    text = greeting(front.url, ANA)
    found = re.search(r"curl -s (\S+) -H '([^:]+): ([^']+)' -d \\\n\s+'(.+)'\n", text)
    assert found
    url, name, value, data = found.groups()
    answer = httpx2.post(url, headers={name: value}, content=data, timeout=60)
    hit = answer.json()["result"]["structuredContent"]["results"][0]
    assert hit["source"]["uri"] == "handbook/sick-days.md"
    assert "ana (teams: support)" in text
    assert "teams: none" in greeting(front.url, Developer("ana"))


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


def test_bytes_that_are_not_text_arrive_as_such(front: Front) -> None:
    assert json.loads(send(front, "POST", body=b'{"a": "\xff"}')[1])["error"]["code"] == -32700


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Host": "[::"}, {"Origin": "null"}, {"Host": ""}],
    ids=json.dumps,
)
def test_requests_from_elsewhere_are_refused(front: Front, headers: dict[str, str]) -> None:
    assert send(front, "POST", headers=JSON | headers, body=b"{}") == (403, "")


@pytest.mark.parametrize("origin", ["http://localhost:6274", "http://127.0.0.1:1", "http://[::1]:80"])
def test_pages_on_this_machine_may_ask(front: Front, origin: str) -> None:
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


def test_a_repeated_header_stays_repeated_in_one_payload_and_is_joined_in_the_other() -> None:
    twice = Request("POST", "/mcp", [("X-Mark", "a"), ("X-Mark", "b")])
    rest, joined = (event_of(twice, ANA, payload) for payload in PAYLOADS)
    assert (rest["headers"], rest["multiValueHeaders"]) == ({"X-Mark": "b"}, {"X-Mark": ["a", "b"]})
    assert (joined["headers"], joined["body"]) == ({"x-mark": "a,b"}, None)


def test_a_sample_base_is_published_once_and_never_served_half_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    examples, folder = tmp_path / "examples", tmp_path / "data" / "sample"
    (examples / "texts" / "notes").mkdir(parents=True)
    (examples / "texts" / "notes" / "one.md").write_text("# One\n", encoding="utf-8")
    base = {"folder": "texts", "scope": {"owner": "ana"}}
    manifest = {"bases": [base], "revise": [], "archive": [], "draft": []}
    (examples / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (tmp_path / "data" / "sample.begun" / "left over").mkdir(parents=True)
    with pytest.raises(SampleError, match="knowledge publish ended with"):
        provide_sample(folder, "no-such-model", examples)
    assert not folder.exists()
    provide_sample(folder, "local-small", examples)
    assert capsys.readouterr().out.splitlines()[-1] == "  owner ana, base notes: 1 created."
    assert not (folder / "left over").exists()
    provide_sample(folder, "local-small", examples)
    assert capsys.readouterr().out == ""


def test_the_command_serves_until_it_is_interrupted(dataset: str) -> None:
    command = [sys.executable, "-m", "local_gateway", "--port", "0", "--uri", dataset, "--embedding", "local-small"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as serving:
        assert serving.stdout
        first = serving.stdout.readline()
        url = re.search(r"http://\S+/mcp", first)
        assert url, first
        answer = httpx2.post(url[0], json=tool_call({"query": "Urlaub"}), timeout=60)
        assert answer.json()["result"]["structuredContent"]["type"] == "knowledge_search"
        serving.send_signal(signal.SIGINT)
        rest, log = serving.communicate(timeout=30)
    assert rest.endswith("Stopped.\n")
    assert serving.returncode == 0
    assert json.loads(log.splitlines()[0])["call"]["outcome"] == "ok"


def test_a_port_that_is_taken_is_said_in_a_sentence(dataset: str, front: Front) -> None:
    taken = str(front.server_port)
    with pytest.raises(SystemExit, match=rf"Port {taken} cannot be used: .+\. Choose another one with --port\."):
        main(["--port", taken, "--uri", dataset, "--embedding", "local-small"])
