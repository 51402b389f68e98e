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
