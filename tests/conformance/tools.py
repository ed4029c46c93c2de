"""The tools that the suite calls by name, beside the product's own one. They exist here only: none is deployed."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any, Final

import mcp_types as types
from mcp.server.lowlevel import Server

from search_knowledge.app import Handler
from search_knowledge.tool_definition import NAME

TEXT: Final = types.TextContent(text="This is a simple text response for testing.")
RESOURCE: Final = types.EmbeddedResource(
    resource=types.TextResourceContents(
        uri="test://embedded-resource", mime_type="text/plain", text="This is an embedded resource content."
    )
)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _picture() -> types.ImageContent:
    """One red pixel."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0\xff\0\0")
    data = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")
    return types.ImageContent(data=base64.b64encode(data).decode(), mime_type="image/png")


def _sound() -> types.AudioContent:
    """A recording of nothing."""
    layout = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    body = b"WAVE" + layout + struct.pack("<4sI", b"data", 0)
    data = b"RIFF" + struct.pack("<I", len(body)) + body
    return types.AudioContent(data=base64.b64encode(data).decode(), mime_type="audio/wav")


RESULTS: Final[dict[str, types.CallToolResult]] = {
    "test_simple_text": types.CallToolResult(content=[TEXT]),
    "test_image_content": types.CallToolResult(content=[_picture()]),
    "test_audio_content": types.CallToolResult(content=[_sound()]),
    "test_embedded_resource": types.CallToolResult(content=[RESOURCE]),
    "test_multiple_content_types": types.CallToolResult(content=[TEXT, _picture(), RESOURCE]),
    "test_error_handling": types.CallToolResult(
        content=[types.TextContent(text="This tool intentionally returns an error for testing")], is_error=True
    ),
    "json_schema_2020_12_tool": types.CallToolResult(content=[TEXT]),
    "test_x_mcp_header": types.CallToolResult(content=[TEXT]),
}
"""What each tool answers, whatever it is asked."""

SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    # Every keyword here is one that the suite looks for in the listing.
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
    "test_x_mcp_header": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "query": {"type": "string"}},
        "required": ["query"],
    },
}


def add_to(handler: Handler) -> None:
    """Let a handler list and call these tools too; all the rest of it stays as it is deployed."""
    kernel: Server[Any] = handler._server._server  # noqa: SLF001 - the product has no way to add a tool, and needs none
    own_list = kernel.get_request_handler("tools/list")
    own_call = kernel.get_request_handler("tools/call")
    assert own_list is not None
    assert own_call is not None

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:  # noqa: ANN401 - the kernel's own
        listed: Any = await own_list.handler(context, params)
        return types.ListToolsResult(tools=[*listed.tools, *map(_declare, RESULTS)])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> Any:  # noqa: ANN401 - as above
        return RESULTS[params.name] if params.name in RESULTS else await own_call.handler(context, params)

    assert NAME not in RESULTS
    kernel.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    kernel.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    kernel.get_tool_input_schema = SCHEMAS.get


def _declare(name: str) -> types.Tool:
    return types.Tool(name=name, description=f"For tests: {name}", input_schema=SCHEMAS.get(name, {"type": "object"}))
