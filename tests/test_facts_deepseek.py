"""Facts about DeepSeek, Z.AI, Kimi, MiniMax, Qwen, Fireworks, Together and xAI that were missing or wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from llm_conformance.scenarios.scenario import Scenario
from tests.bare_cassettes import scenario, write

QUESTION = [{"role": "user", "content": "Hi"}]


def recording(tmp_path: Path, uri: str, answer: Any, **request: Any) -> Scenario:
    """Return a bare recording of an answer as a scenario."""
    body = json.dumps({"model": answer["model"], "messages": QUESTION, **request})
    return scenario(write(tmp_path, answer, request={"uri": uri, "body": body}))


def test_an_exceeded_context_window_is_a_length(tmp_path: Path) -> None:
    answer = {
        "choices": [
            {
                "finish_reason": "model_context_window_exceeded",
                "index": 0,
                "message": {"content": "The fifth pier", "role": "assistant"},
            }
        ],
        "created": 1789612258,
        "id": "2026091710304293f0c1a7e2b84d65",
        "model": "glm-5.2",
        "object": "chat.completion",
        "usage": {"completion_tokens": 4, "prompt_tokens": 9, "total_tokens": 13},
    }
    expected = recording(tmp_path, "https://api.z.ai/api/paas/v4/chat/completions", answer).expected["json"]
    assert expected.finish_reasons == ("length",)


def test_a_generation_that_was_aborted_is_an_error(tmp_path: Path) -> None:
    answer = {
        "id": "7f1c05d2-4e9a-4b36-9c80-e2d7a3b1f645",
        "object": "chat.completion",
        "created": 1792600809,
        "model": "deepseek-flash",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Three riv"},
                "logprobs": None,
                "finish_reason": "aborted",
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
    }
    expected = recording(tmp_path, "https://api.deepseek.com/chat/completions", answer).expected["json"]
    assert expected.finish_reasons == ("error",)


def test_a_recording_of_the_anthropic_endpoint_is_known_by_its_path(tmp_path: Path) -> None:
    answer = {
        "id": "5e0c7ad9-62f4-4c1b-8b3e-a9174d20f6c5",
        "type": "message",
        "role": "assistant",
        "model": "deepseek-flash",
        "content": [{"type": "text", "text": "Eight."}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 17, "cache_read_input_tokens": 64, "output_tokens": 3},
    }
    recorded = recording(tmp_path, "https://api.deepseek.com/anthropic/v1/messages", answer, max_tokens=64)
    usage = recorded.expected["json"].usage
    assert str(recorded.api) == "deepseek:messages"
    assert usage is not None
    assert (usage.prompt_tokens, usage.cached_tokens) == (81, 64)
