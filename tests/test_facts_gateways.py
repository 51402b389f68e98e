"""Facts of Mistral, Cohere, Perplexity, OpenRouter, Bedrock and Vercel that once blamed a right adapter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.scenarios.scenario import Scenario
from tests.bare_cassettes import scenario, write

URIS = {
    "mistral": "https://api.mistral.ai/v1/chat/completions",
    "perplexity": "https://api.perplexity.ai/chat/completions",
}


def recorded(directory: Path, provider: str, model: str, body: Any, **fields: Any) -> Scenario:
    """Return a bare recording of a provider as a scenario."""
    request = {"model": model, "messages": [{"role": "user", "content": "Hi"}], **fields}
    return scenario(write(directory, body, request={"uri": URIS[provider], "body": json.dumps(request)}))


def completion(usage: dict[str, Any], **message: Any) -> dict[str, Any]:
    """Return a chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hi.", **message}, "finish_reason": "stop"}
    return {"id": "1", "model": "m", "created": 1762247560, "choices": [choice], "usage": usage}


@pytest.mark.parametrize(("thought", "counted"), [(40, 40), (6970, None)])
def test_perplexitys_reasoning_tokens_are_reported(tmp_path: Path, thought: int, counted: int | None) -> None:
    usage = {"prompt_tokens": 33, "completion_tokens": 410, "total_tokens": 443, "reasoning_tokens": thought}
    expected = recorded(tmp_path, "perplexity", "sonar-deep-research", completion(usage)).expected["json"]
    assert expected.usage is not None
    assert expected.usage.reasoning_tokens == counted
    # A count on the wire that is no part of its whole is not invented: USE-4 leaves it to USE-2.
    assert expected.oversized == (frozenset() if counted else {"reasoning_tokens"})


def test_counts_that_contradict_each_other_decide_nothing(tmp_path: Path) -> None:
    usage = {"prompt_audio_seconds": 12, "prompt_tokens": 16, "total_tokens": 393, "completion_tokens": 2}
    expected = recorded(tmp_path, "mistral", "voxtral-small-2507", completion(usage)).expected["json"]
    assert "usage" not in expected.stated
    assert expected.usage is None


def test_counts_of_audio_that_add_up_are_expected(tmp_path: Path) -> None:
    usage: dict[str, Any] = {"prompt_tokens": 3, "total_tokens": 419, "completion_tokens": 41}
    usage |= {"prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 375}}
    expected = recorded(tmp_path, "mistral", "voxtral-small-2507", completion(usage)).expected["json"].usage
    assert expected is not None
    assert (expected.prompt_tokens, expected.total_tokens, expected.audio_prompt_tokens) == (378, 419, 375)


def test_perplexitys_steps_are_reasoning(tmp_path: Path) -> None:
    steps = [{"thought": "Search first.", "type": "web_search"}, {"thought": " Then answer."}]
    body = completion({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}, reasoning_steps=steps)
    expected = recorded(tmp_path, "perplexity", "sonar-pro", body).expected["json"]
    assert (expected.reasoning, expected.message) == ("Search first. Then answer.", "Hi.")
