"""A page in a real browser calls the tool: at the local gateway, and at the gateway that the template describes."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from local_gateway.events import PAYLOADS, Developer, Payload
from local_gateway.front import Front
from tests.support.browser import Browser, PageAnswer, PageCall, find_browser
from tests.support.calls import Json, request, stateless, switched_on, tool_call
from tests.support.datasets import SUPPORT, build
from tests.support.issuer import Issuer
from tests.support.stack import running

JSON: Final = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
HANDSHAKE: Final = {**JSON, "MCP-Protocol-Version": "2025-11-25", "Last-Event-ID": "1"}
QUERY: Final = {"query": "pump"}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    return find_browser(tmp_path_factory.mktemp("chromium"))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("browsers") / "dataset"
    return build(str(folder), {(SUPPORT, "docs"): {"pump.md": "# Pump\n\nThe pump needs oil.\n"}}).uri


@pytest.fixture(scope="module", params=PAYLOADS)
def front(request: pytest.FixtureRequest, dataset: str) -> Iterator[Front]:
    payload: Payload = request.param
    with switched_on(dataset) as handler, Front(handler, Developer("ana", ("support",)), payload=payload) as made:
        serving = threading.Thread(target=made.serve_forever, args=(0.05,))
        serving.start()
        yield made
        made.shutdown()
        serving.join()


def calls_of_both_eras(url: str, **headers: str) -> list[PageCall]:
    """A session of each era: handshake, notification, a search; discovery's era, a search."""
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "page", "version": "1"}}
    session = [
        request("initialize", client),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        tool_call(QUERY),
    ]
    message, named = stateless(tool_call(QUERY))
    plain = [PageCall(url, headers=HANDSHAKE | headers, body=json.dumps(one)) for one in session]
    return [*plain, PageCall(url, headers=JSON | named | headers, body=json.dumps(message))]


def assert_both_eras_work(answers: list[PageAnswer]) -> None:
    assert [one.status for one in answers] == [200, 202, 200, 200], answers
    for found in (answers[2], answers[3]):
        envelope: Json = json.loads(found.body)["result"]["structuredContent"]
        assert [hit["source"]["uri"] for hit in envelope["results"]] == ["pump.md"]


@pytest.mark.parametrize("origin", ["localhost", "127.0.0.1"])
def test_a_page_of_this_machine_can_use_the_local_gateway(browser: Browser, front: Front, origin: str) -> None:
    assert_both_eras_work(browser.call(*calls_of_both_eras(front.url), origin=origin))


def test_a_page_can_read_what_the_local_gateway_refuses(browser: Browser, front: Front) -> None:
    answers = browser.call(
        PageCall(front.url, "GET"),
        PageCall(front.url, "DELETE"),
        PageCall(front.url.removesuffix("/mcp"), "GET"),
        PageCall(front.url, headers=JSON, body="{"),
    )
    assert [one.status for one in answers] == [405, 405, 404, 400]
    assert all(json.loads(one.body)["error"]["message"] for one in answers)


def test_a_page_from_elsewhere_reads_nothing_of_the_local_gateway(browser: Browser, front: Front) -> None:
    calls = [*calls_of_both_eras(front.url), PageCall(front.url, "GET"), PageCall(front.url, body="{}")]
    answers = browser.call(*calls, origin="evil.example")
    assert {one.status for one in answers} == {0}


def test_a_page_of_any_origin_can_use_the_gateway_of_the_template(browser: Browser, dataset: str) -> None:
    with Issuer() as issuer, running(dataset, issuer.url) as stack:
        url = stack.address.replace("https://", "http://")
        token, useless = (f"Bearer {issuer.token(stack.address, scope=scope)}" for scope in ("knowledge:read", "x"))
        answers = browser.call(
            *calls_of_both_eras(url, Authorization=token),
            PageCall(url, headers=JSON, body="{}", wanted=("WWW-Authenticate",)),
            PageCall(url, headers=JSON | {"Authorization": "Bearer x"}, body="{}", wanted=("WWW-Authenticate",)),
            PageCall(url, headers=JSON | {"Authorization": useless}, body="{}"),
            PageCall(url, "GET"),
            PageCall(url.removesuffix("/mcp") + "/other", "GET"),
            origin="app.example",
            hosts=[(host, stack.port) for host in stack.hosts],
        )
    assert_both_eras_work(answers[:4])
    assert [one.status for one in answers[4:]] == [401, 401, 403, 405, 404]
    for refused in answers[4:6]:
        challenge = refused.headers["WWW-Authenticate"]
        assert challenge is not None
        assert challenge.startswith("Bearer resource_metadata=")
