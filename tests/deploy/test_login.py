"""The discovery dance: official clients find the issuer from nothing but the resource's address, log in, and call.

The gateway that they talk to is played from `template.yaml`, below a stage and under a domain of its own.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.architecture.source import ROOT
from tests.support.calls import ERAS, Era
from tests.support.issuer import Issuer
from tests.support.stack import Running, running

Json = dict[str, Any]

CALLBACK: Final = "http://127.0.0.1:9/callback"
TYPESCRIPT: Final = ROOT / "tests/deploy/typescript"
PLACES: Final[dict[str, dict[str, str]]] = {
    "below a stage": {},
    "under a domain": {"DomainName": "mcp.example.com", "CertificateArn": "arn:aws:acm:eu-central-1:1:certificate/1"},
}


@pytest.fixture(params=PLACES.values(), ids=tuple(PLACES))
def stack(request: pytest.FixtureRequest, dataset: str, issuer: Issuer) -> Iterator[Running]:
    issuer.logins.clear()
    with running(dataset, issuer.url, **request.param) as started:
        yield started


@dataclass(slots=True)
class Memory:
    """What a client keeps between calls."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@dataclass(slots=True)
class Loopback(httpx2.AsyncBaseTransport):
    """Sends what is meant for the stack's hosts to the loopback port where the stack is, the Host header unchanged."""

    stack: Running
    requests: list[str] = field(default_factory=list)
    inner: httpx2.AsyncHTTPTransport = field(default_factory=httpx2.AsyncHTTPTransport)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        asked = f"{request.method} {request.url}"
        if request.url.host in self.stack.hosts:
            request.url = request.url.copy_with(scheme="http", host="127.0.0.1", port=self.stack.port)
        response = await self.inner.handle_async_request(request)
        self.requests.append(f"{asked} {response.status_code}")
        return response

    async def aclose(self) -> None:
        await self.inner.aclose()


@dataclass(slots=True)
class Person:
    """Follows the link to the issuer, and brings the code back."""

    answer: Json = field(default_factory=dict)

    async def follow(self, link: str) -> None:
        async with httpx2.AsyncClient() as browser:
            location = (await browser.get(link)).headers["location"]
        self.answer = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}

    async def bring(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=self.answer["code"], state=self.answer["state"], iss=self.answer["iss"])


async def log_in_and_call(stack: Running, era: Era) -> tuple[Json, list[str]]:
    transport, person = Loopback(stack), Person()
    metadata = OAuthClientMetadata(client_name="python", redirect_uris=[AnyUrl(CALLBACK)])
    auth = OAuthClientProvider(stack.address, metadata, Memory(), person.follow, person.bring)
    async with (
        httpx2.AsyncClient(auth=auth, transport=transport) as http,
        Client(streamable_http_client(stack.address, http_client=http), mode=era) as client,
    ):
        result = await client.call_tool("search_knowledge", {"query": "filter", "mode": "lexical"})
    found: Json = result.structured_content or {}
    return found, transport.requests


def assert_logged_in(stack: Running, issuer: Issuer, found: Json, requests: list[str]) -> None:
    """One login, for this resource and this scope, found by way of the challenge alone; and the right answer."""
    assert [(one["resource"], one["scope"]) for one in issuer.logins] == [(stack.address, "knowledge:read")]
    assert requests[:2] == [f"POST {stack.address} 401", f"GET {stack.gateway.stack.outputs['MetadataUrl']} 200"]
    assert {(one["scope"], one["team_id"]) for one in found["results"]} == {("owner", None), ("team", "support")}


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_the_python_client_logs_in(stack: Running, issuer: Issuer, era: Era) -> None:
    found, requests = asyncio.run(log_in_and_call(stack, era))
    assert_logged_in(stack, issuer, found, requests)


@pytest.fixture(scope="module")
def node() -> str:
    """Node, with the client that the lock beside it names."""
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None or npm is None:
        pytest.skip("node and npm are needed to try the TypeScript client")
    if not (TYPESCRIPT / "node_modules/.package-lock.json").exists():
        subprocess.run([npm, "ci", "--silent"], cwd=TYPESCRIPT, check=True, timeout=300)
    return found


@pytest.mark.slow
def test_the_typescript_client_logs_in(stack: Running, issuer: Issuer, node: str) -> None:
    command = [node, "login.mjs", stack.address, str(stack.port), *stack.hosts]
    done = subprocess.run(command, cwd=TYPESCRIPT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)
    assert reported["tools"] == ["search_knowledge"]
    assert_logged_in(stack, issuer, reported["result"], reported["requests"])
