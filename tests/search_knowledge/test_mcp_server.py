"""The server with the real MCP client, in both eras."""

from __future__ import annotations

import asyncio
import json
import tomllib
from pathlib import Path

import pytest
from mcp import MCPError

from search_knowledge.app import Handler
from search_knowledge.tool_definition import DESCRIPTION, NAME, VERSION, output_schema
from tests.support.calls import ERAS, Era, body_of, client, request, rest_event, stateless, switched_on

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("era", ERAS)
def test_the_client_finds_one_tool_that_says_it_only_reads(handler: Handler, era: Era) -> None:
    async def list_tools() -> None:
        async with client(handler, era) as session:
            assert session.protocol_version == {"legacy": "2025-11-25", "auto": "2026-07-28"}[era]
            (tool,) = (await session.list_tools()).tools
            assert (tool.name, tool.description) == (NAME, DESCRIPTION)
            assert tool.output_schema == output_schema()
            assert tool.annotations is not None
            hints = tool.annotations.model_dump(by_alias=True, exclude={"title"})
            assert hints == {
                "readOnlyHint": True,
                "idempotentHint": True,
                "destructiveHint": False,
                "openWorldHint": False,
            }
            assert tool.meta == {"surface": "advanced", "min_tier": "free", "hidden_but_callable": True}

    asyncio.run(list_tools())


@pytest.mark.parametrize("era", ERAS)
def test_the_client_takes_an_error_envelope_as_a_tool_result(handler: Handler, era: Era) -> None:
    async def call_tool() -> None:
        async with client(handler, era) as session:
            await session.list_tools()
            result = await session.call_tool(NAME, {"query": "a", "max_results": 51})
            assert result.is_error
            assert result.structured_content["error"]["message"] == "max_results must be 1..50, got 51"

    asyncio.run(call_tool())


@pytest.mark.parametrize("era", ERAS)
def test_the_client_gets_a_protocol_error_for_an_unknown_tool(handler: Handler, era: Era) -> None:
    async def call_tool() -> None:
        async with client(handler, era) as session:
            with pytest.raises(MCPError, match="Unknown tool"):
                await session.call_tool("other", {})

    asyncio.run(call_tool())


@pytest.mark.parametrize("era", ERAS)
def test_what_clients_ask_unasked_is_empty_and_no_error(handler: Handler, era: Era) -> None:
    async def list_the_rest() -> None:
        async with client(handler, era) as session:
            assert (await session.list_prompts()).prompts == []
            assert (await session.list_resources()).resources == []
            assert (await session.list_resource_templates()).resource_templates == []

    asyncio.run(list_the_rest())


@pytest.mark.parametrize("era", ERAS)
def test_a_hidden_tool_is_not_listed_but_can_be_called(era: Era) -> None:
    async def call_tool(handler: Handler) -> None:
        async with client(handler, era) as session:
            assert session.server_capabilities is not None
            assert session.server_capabilities.tools is not None
            assert (await session.list_tools()).tools == []
            result = await session.call_tool(NAME, {})
            assert result.structured_content["error"]["code"] == "knowledge_query_required"

    with switched_on(listed=False) as handler:
        asyncio.run(call_tool(handler))


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_version_of_the_handshake_era_is_served(handler: Handler, version: str) -> None:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    result = body_of(handler(rest_event(request("initialize", params))))["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == NAME
    tools = body_of(handler(rest_event(request("tools/list"), headers={"MCP-Protocol-Version": version})))
    assert [tool["name"] for tool in tools["result"]["tools"]] == [NAME]


@pytest.mark.parametrize("method", ["tools/list", "server/discover"])
def test_lists_may_be_cached_by_anybody_for_an_hour(handler: Handler, method: str) -> None:
    message, headers = stateless(request(method))
    result = body_of(handler(rest_event(message, headers=headers)))["result"]
    assert (result["ttlMs"], result["cacheScope"]) == (3_600_000, "public")


def test_events_of_both_eras_may_follow_each_other(handler: Handler) -> None:
    message, headers = stateless(request("tools/list"))
    for _ in range(3):
        first = body_of(handler(rest_event(request("tools/list"))))["result"]["tools"]
        second = body_of(handler(rest_event(message, headers=headers)))["result"]["tools"]
        assert json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def test_the_version_sent_to_clients_is_the_project_s() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == VERSION
