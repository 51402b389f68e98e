"""Facts about the hosts of open models that once blamed a right adapter, or let a wrong one pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bare_cassettes import scenario, write

HUGGING_FACE = "https://router.huggingface.co/v1/chat/completions"
OLLAMA = "http://localhost:11434/api/chat"
OPENAI = "https://api.openai.com/v1/chat/completions"
RESPONSES = "http://localhost:8000/v1/responses"
TOGETHER = "https://api.together.xyz/v1/chat/completions"


def _request(uri: str, model: str, **fields: Any) -> dict[str, Any]:
    return {"uri": uri, "body": json.dumps({"model": model, "messages": [{"role": "user", "content": "Hi"}], **fields})}


def _completion(model: str, content: str, **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": "stop"}
    return {"id": "1", "model": model, "created": 1762247560, "choices": [choice]}


def _ollama(model: str, content: str, **message: Any) -> dict[str, Any]:
    return {
        "model": model,
        "created_at": "2026-11-04T09:12:40Z",
        "message": {"role": "assistant", "content": content, **message},
        "done": True,
        "done_reason": "stop",
    }


def _response(model: str, text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    return {"id": "resp_1", "object": "response", "model": model, "status": "completed", "output": [item]}


@pytest.mark.parametrize(
    ("uri", "model", "content"),
    [
        (HUGGING_FACE, "Qwen/Qwen3-4B", "<think>\nHm.\n</think>\n\nParis."),
        (HUGGING_FACE, "Qwen/Qwen3-4B-Thinking-2507", "Hm.\n</think>\n\nParis."),
        (HUGGING_FACE, "zai-org/GLM-4.6", "\n<think>Hm.</think>\nParis."),
        (TOGETHER, "Qwen/Qwen3-235B-A22B-fp8-tput", "<think>\nHm.\n</think>\n\nParis."),
        (OPENAI, "Qwen/Qwen3-0.6B", "<think>\nHm.\n</think>\n\nParis."),
    ],
)
def test_a_model_thinks_between_tags_wherever_it_is_served(tmp_path: Path, uri: str, model: str, content: str) -> None:
    body = _completion(model, content)
    expected = scenario(write(tmp_path, body, request=_request(uri, model))).expected["json"]
    assert (expected.message, expected.reasoning) == ("Paris.", "Hm.")
    assert {"message", "reasoning"} <= expected.stated


@pytest.mark.parametrize("content", ["<think>\nHm.\n</think>\n\nParis.", "Hm.\n</think>\n\nParis."])
def test_ollama_with_qwen3_demands_no_trace_in_the_message(tmp_path: Path, content: str) -> None:
    body = _ollama("qwen3:8b", content)
    request = _request(OLLAMA, "qwen3:8b", stream=False, think=False)
    found = scenario(write(tmp_path, body, request=request))
    assert (found.expected["json"].message, found.expected["json"].reasoning) == ("Paris.", "Hm.")
    assert found.think_profile == ("leading" if content.startswith("<") else "prefilled")


@pytest.mark.parametrize(
    ("uri", "model", "body"),
    [
        (OLLAMA, "qwen3:4b", _ollama("qwen3:4b", "Okay, the tool.", tool_calls=[{"function": {"name": "a"}}])),
        (OPENAI, "acme-1", _completion("acme-1", "<think>Hm.</think>Paris.")),
        (OPENAI, "acme-1", _completion("acme-1", "Hm.\n</think>\nParis.")),
        (OPENAI, "claude-3-opus", _completion("claude-3-opus", "<thinking>Hm.</thinking>Paris.")),
        (HUGGING_FACE, "Qwen/Qwen3-4B", _completion("Qwen/Qwen3-4B", "It is called `</think>`.")),
        (RESPONSES, "Qwen/Qwen3-0.6B", _response("Qwen/Qwen3-0.6B", "<think>Hm.</think>Paris.")),
    ],
)
def test_neither_reading_is_wrong_where_nobody_can_tell_reasoning_from_text(
    tmp_path: Path, uri: str, model: str, body: dict[str, Any]
) -> None:
    fields = {"stream": False} if uri == OLLAMA else {}
    expected = scenario(write(tmp_path, body, request=_request(uri, model, **fields))).expected["json"]
    assert not {"message", "reasoning"} & expected.stated


@pytest.mark.parametrize(
    ("model", "content", "message"),
    [
        ("Qwen/Qwen3-4B", "<think> opens it.", {"reasoning_content": "Hm."}),
        ("acme-1", "The tag <think> opens it, </think> closes it.", {}),
    ],
)
def test_tags_beside_native_reasoning_or_inside_a_sentence_are_text(
    tmp_path: Path, model: str, content: str, message: dict[str, str]
) -> None:
    body = _completion(model, content, **message)
    expected = scenario(write(tmp_path, body, request=_request(HUGGING_FACE, model))).expected["json"]
    assert expected.message == content
    assert "message" in expected.stated


@pytest.mark.parametrize("uri", [HUGGING_FACE, "http://localhost:8000/v1/chat/completions"])
def test_audio_tokens_that_are_on_the_wire_are_reported(tmp_path: Path, uri: str) -> None:
    counts = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    details = {"prompt_tokens_details": {"audio_tokens": 3}, "completion_tokens_details": {"audio_tokens": 0}}
    body = _completion("acme-1", "Hi.") | {"usage": counts | details}
    usage = scenario(write(tmp_path, body, request=_request(uri, "acme-1"))).expected["json"].usage
    assert usage is not None
    assert (usage.audio_prompt_tokens, usage.audio_completion_tokens) == (3, 0)


@pytest.mark.parametrize("uri", ["https://api.cerebras.ai/v1/chat/completions", HUGGING_FACE])
def test_counts_that_contradict_each_other_claim_nothing(tmp_path: Path, uri: str) -> None:
    body = _completion("gpt-oss-120b", "Yes") | {
        "usage": {"prompt_tokens": 25, "completion_tokens": 2, "total_tokens": 32}
    }
    request = _request(uri, "gpt-oss-120b", stop=["."])
    assert "usage" not in scenario(write(tmp_path, body, request=request)).expected["json"].stated
    body["usage"] = {"prompt_tokens": 25, "completion_tokens": 7, "total_tokens": 32}
    assert "usage" in scenario(write(tmp_path, body, request=request)).expected["json"].stated


def test_a_count_where_openai_has_it_may_be_read_or_not(pytester: pytest.Pytester) -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 4,
        "total_tokens": 13,
        "prompt_tokens_details": {"cache_write_tokens": 3, "audio_tokens": 2},
    }
    body = _completion("openai/gpt-oss-20b", "Hi.") | {"usage": usage}
    request = _request("https://api.groq.com/openai/v1/chat/completions", "openai/gpt-oss-20b")
    path = write(pytester.path / "more", body, request=request)
    expected = scenario(path).expected["json"]
    assert expected.unread == {"cache_write_tokens", "audio_prompt_tokens"}
    pytester.makepyfile(
        readers="""
        from adapters import ReferenceAdapters
        from dataclasses import replace

        class Reader(ReferenceAdapters):
            writes, audio, cached = 3, 2, None

            def parse(self, http, call):
                response = super().parse(http, call)
                usage = response.usage and replace(
                    response.usage,
                    cache_write_tokens=self.writes, audio_prompt_tokens=self.audio, cached_tokens=self.cached,
                )
                return replace(response, usage=usage)

        class Silent(Reader):
            writes = audio = None

        class Inventive(Reader):
            cached = 0
        """
    )
    for name, failed in (("Reader", 0), ("Silent", 0), ("Inventive", 1)):
        result = pytester.runpytest_inprocess(
            *("--pyargs", "llm_conformance", f"--adapter=readers:{name}", "--conformance-cassettes=more", "-n", "0"),
            *("--conformance-method=parse", "--conformance-rule=USE-4", "--conformance-scenario=openai/one", "-q"),
        )
        assert result.parseoutcomes().get("failed", 0) == failed, name
