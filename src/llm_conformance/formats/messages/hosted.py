"""Content blocks of tools that the provider runs, and the fields of a request that ask for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from llm_conformance.generate.answers import Hosted, HostedResult

Fields = dict[str, Any]

SEARCH_RESULT = "web_search_tool_result"
MCP_RESULT = "mcp_tool_result"

TOOLS = {
    SEARCH_RESULT: "web_search",
    "web_fetch_tool_result": "web_fetch",
    "bash_code_execution_tool_result": "bash_code_execution",
    MCP_RESULT: "tide_level",
}
"""Maps the type of a result block to the tool that gives it, for tools whose calls a generator can write."""

ARGUMENTS = {
    SEARCH_RESULT: ('{"query": "a"}', '{"query": "é 😀"}'),
    "web_fetch_tool_result": ('{"url": "https://example.org/1"}', '{"url": "https://example.org/é"}'),
    "bash_code_execution_tool_result": ('{"command": "ls"}', '{"command": "echo é 😀"}'),
    MCP_RESULT: ('{"place": "a"}', '{"place": "é 😀"}'),
}
"""Maps the type of a result block to possible arguments of its tool, as JSON texts."""

DECLARED: Mapping[str, Mapping[str, Any]] = {
    "web_search": {"type": "web_search_20250305", "name": "web_search"},
    "web_fetch": {"type": "web_fetch_20250910", "name": "web_fetch", "citations": {"enabled": True}},
    "bash_code_execution": {"type": "code_execution_20250825", "name": "code_execution"},
}
"""How a request declares these tools. The tool of an MCP server is in `mcp_servers`."""

_FOUND: Mapping[str, Any] = {
    SEARCH_RESULT: [
        {
            "type": "web_search_result",
            "title": "Found",
            "url": "https://example.org/1",
            "encrypted_content": "Zm91bmQ=",
            "page_age": None,
        }
    ],
    "web_fetch_tool_result": {
        "type": "web_fetch_result",
        "url": "https://example.org/1",
        "content": {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "what was found"},
            "title": None,
            "citations": {"enabled": True},
        },
        "retrieved_at": "2026-01-01T00:00:00Z",
    },
    "bash_code_execution_tool_result": {
        "type": "bash_code_execution_result",
        "stdout": "what was found",
        "stderr": "",
        "return_code": 0,
        "content": [],
    },
}


MCP_SERVERS = [{"type": "url", "url": "https://example.org/mcp", "name": "tides"}]
"""The field `mcp_servers` of a request whose answer may have calls of `tide_level`."""


def thinking_of(model: str) -> Mapping[str, Any]:
    """Return the field of a request that asks for thinking. Only larger Claude models have adaptive thinking."""
    adapts = "claude" in model and "haiku" not in model
    return {"type": "adaptive"} if adapts else {"type": "enabled", "budget_tokens": 1024}


def call_block(call: Hosted) -> Fields:
    """Return the block of a hosted call."""
    block = {"type": "server_tool_use", "id": call.id, "name": call.tool, "input": json.loads(call.arguments)}
    return block | ({"type": "mcp_tool_use", "server_name": "tides"} if call.tool == "tide_level" else {})


def result_block(result: HostedResult) -> Fields:
    """Return the block with the result of a hosted tool."""
    head: Fields = {"type": result.tool, "tool_use_id": result.id}
    if result.tool == MCP_RESULT:
        return {**head, "is_error": result.failed, "content": [{"type": "text", "text": "what was found"}]}
    failure = {"type": f"{result.tool}_error", "error_code": "unavailable"}
    return {**head, "content": failure if result.failed else _FOUND[result.tool]}
