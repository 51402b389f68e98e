"""Broken adapters that fail RPL-4 first: what the request asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llm_conformance.contract import Call
from tests.broken.round_trip import FaultyRequest

# RPL-4


class ToolDropped(FaultyRequest):
    """Sends the first tool only."""

    apis = ("anthropic:messages", "openai:responses", "deepseek:chat")
    fails = ("RPL-4",)
    says = "expected the (provider's )?tool '"

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        return body | ({"tools": body["tools"][:1]} if body.get("tools") else {})


class DocumentDropped(FaultyRequest):
    """Leaves documents and search results out of messages."""

    apis = ("anthropic:messages", "bedrock:converse")
    fails = ("RPL-4",)
    says = "expected the (document|search result) .*; got no other"

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        return body | {"messages": [self.with_texts(each) for each in body["messages"]]}

    def with_texts(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        content = message["content"]
        if isinstance(content, str):
            return message
        dropped = ("document", "search_result", "searchResult")
        kept = [part for part in content if part.get("type") not in dropped and not set(part) & set(dropped)]
        return {**message, "content": kept}


class InstructionsDropped(FaultyRequest):
    """Sends no system message."""

    apis = ("anthropic:messages", "codex:responses")
    fails = ("RPL-4", "RPL-1")  # RPL-1 where earlier answers are sent, too
    says = "expected the text .* of system; got no text of system"

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        return {key: value for key, value in body.items() if key not in ("system", "instructions")}


class AnotherModel(FaultyRequest):
    """Sends another model than that of the call."""

    fails = ("RPL-4",)
    says = 'expected /model = ".*"; got /model = "large"'
    apis = ("deepseek:chat", "cohere:chat")

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        return body | {"model": "large"}
