"""Bare cassettes to be judged: written, and read as scenarios."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from llm_conformance.scenarios import bare
from llm_conformance.scenarios.bare import NotJudged
from llm_conformance.scenarios.scenario import Scenario

CITED = {
    "id": "chatcmpl-1",
    "model": "gpt-4o-search-preview-2025-03-11",
    "created": 1762247560,
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {
                "role": "assistant",
                "content": "Grün 🦀 ([a](http://a.test)).",
                "annotations": [
                    {
                        "type": "url_citation",
                        "url_citation": {"start_index": 7, "end_index": 27, "url": "http://a.test"},
                    },
                    {
                        "type": "url_citation",
                        "url_citation": {"start_index": 0, "end_index": 0, "url": "http://b.test"},
                    },
                    {
                        "type": "url_citation",
                        "url_citation": {"start_index": 90, "end_index": 99, "url": "http://c.test"},
                    },
                ],
            },
        }
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
}

COUNTED = {"prompt_tokens": 3, "total_tokens": 3}
AI_RUN = {"request": {"uri": "https://api.cloudflare.com/client/v4/accounts/abc/ai/run/@cf/acme/no-chat", "body": "{}"}}


EVENTS = {"headers": {"Content-Type": ["text/event-stream"]}}


def write(directory: Path, answer: Any, name: str = "one", **changes: Any) -> Path:
    """Write a bare cassette of one OpenAI answer; `changes` go to its request, response or metadata."""
    body = answer if isinstance(answer, str | bytes) else json.dumps(answer)
    request = {
        "method": "POST",
        "uri": "https://api.openai.com/v1/chat/completions",
        "body": json.dumps({"model": "gpt-4o-search-preview", "messages": [{"role": "user", "content": "Hi"}]}),
        "headers": {},
    }
    response = {
        "status": {"code": 200, "message": "OK"},
        "headers": {"Content-Type": ["application/json"]},
        "body": {"string": body},
    }
    document = {
        "version": 1,
        "metadata": changes.get("metadata"),
        "interactions": [
            {"request": request | changes.get("request", {}), "response": response | changes.get("response", {})}
        ],
    }
    path = directory / "openai" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(document, allow_unicode=True), "utf-8")
    return path


def only(path: Path) -> Scenario | NotJudged:
    """Return the one recording of a cassette."""
    (found,) = bare.recordings(path)
    return found


def scenario(path: Path) -> Scenario:
    """Return the one recording of a cassette as a scenario."""
    found = only(path)
    assert isinstance(found, Scenario)
    return found
