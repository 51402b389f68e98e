"""Facts of Mistral, Cohere, Perplexity, OpenRouter, Bedrock and Vercel that once blamed a right adapter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.pointers import at_pointer
from llm_conformance.rules.conversations import different_turn
from llm_conformance.scenarios import build, load
from llm_conformance.scenarios.round_trip import first_missing_text, leaks, matches
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire import answers
from tests.bare_cassettes import EVENTS, scenario, write
from tests.calls import chunk, sse

CASSETTES = Path(__file__).parents[1] / "cassettes"

URIS = {
    "bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-2-omni-v1%3A0/converse",
    "cohere": "https://api.cohere.com/v2/chat",
    "mistral": "https://api.mistral.ai/v1/chat/completions",
    "openrouter": "https://openrouter.ai/api/v1/chat/completions",
    "perplexity": "https://api.perplexity.ai/chat/completions",
}


def recorded(directory: Path, provider: str, model: str, body: Any, **fields: Any) -> Scenario:
    """Return a bare recording of a provider as a scenario."""
    request = {"model": model, "messages": [{"role": "user", "content": "Hi"}], **fields}
    response = EVENTS if isinstance(body, bytes) else {}
    sent = {"uri": URIS[provider], "body": json.dumps(request)}
    return scenario(write(directory, body, request=sent, response=response))


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
    # A count on the wire that is larger than its whole is not invented. USE-2 judges it, and USE-4 does not.
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


def test_a_citation_of_a_block_that_has_another_index_counts_in_the_only_text(tmp_path: Path) -> None:
    def event(kind: str, **message: Any) -> dict[str, Any]:
        return {"type": kind, "index": 0, "delta": {"message": message}}

    citation = {"start": 4, "end": 8, "text": "four", "sources": [], "content_index": 1}
    body = sse(
        {"type": "message-start", "id": "1", "delta": {"message": {"role": "assistant"}}},
        event("content-start", content={"type": "thinking", "thinking": "Hm."}),
        event("content-start", content={"type": "text", "text": "Yes four."}),
        event("citation-start", citations=citation),
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
        "[DONE]",
    )
    (annotation,) = recorded(tmp_path, "cohere", "command-a", body, stream=True).expected["stream"].annotations
    assert (annotation.start, annotation.end, annotation.text) == (4, 8, "four")
    assert annotation.may_be_unanchored


@pytest.mark.parametrize("thinks", [True, False])
def test_coheres_thinking_may_go_back_or_not(thinks: bool) -> None:
    file = load.read(CASSETTES / "cohere/second-turn-with-or-without-the-thinking.scenario.yaml")
    round_trip = build.round_trip(file, "json")
    assert round_trip is not None
    assert round_trip.recorded is not None
    request = json.loads(json.dumps(round_trip.recorded))
    if thinks:
        text = {"type": "text", "text": request["messages"][1]["content"]}
        request["messages"][1]["content"] = [{"type": "thinking", "thinking": round_trip.traces[0]}, text]
    assert first_missing_text(round_trip, request) is None
    assert different_turn(round_trip, request) is None
    assert list(leaks(round_trip, request)) == []
    assert all(matches(at_pointer(request, pointer), value) for pointer, value in round_trip.sent.items())


def test_mistrals_thinking_may_be_signed_and_name_a_source(tmp_path: Path) -> None:
    source = {"type": "tool_reference", "tool": "web_search", "title": "Ferries"}
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}, source], "signature": "c2ln"}
    body = completion({}, content=[thinking, {"type": "text", "text": "Hi."}])
    found = recorded(tmp_path, "mistral", "mistral-medium-3-5", body)
    (annotation,) = found.expected["json"].annotations
    assert (annotation.start, annotation.data) == (None, source)
    assert answers.derive(found.interactions["json"], found.api).opaque == ["c2ln"]


@pytest.mark.parametrize("later", [{}, {"id": None}, {"id": "null"}, {"id": ""}])
def test_a_later_piece_of_a_call_needs_no_id_and_no_name(tmp_path: Path, later: dict[str, Any]) -> None:
    pieces = [
        {"index": 0, "id": "a", "function": {"name": "read", "arguments": '{"pa'}},
        {"index": 0, **later, "function": {"name": "", "arguments": 'th": 1}'}},
    ]
    chunks = [chunk(tool_calls=[piece]) for piece in pieces]
    body = sse(*({**each, "model": "m"} for each in (*chunks, chunk("tool_calls"))), "[DONE]")
    expected = recorded(tmp_path, "mistral", "zai-glm-5-2", body, stream=True).expected["stream"]
    (call,) = expected.tool_calls
    assert (call.id, call.name, call.arguments) == ("a", "read", '{"path": 1}')


@pytest.mark.parametrize(
    ("url", "attachment"),
    [("data:image/png;base64,aGk=", {"data": "aGk="}), ("https://a.test/b.png", {"url": "https://a.test/b.png"})],
)
def test_openrouters_images_are_attachments(tmp_path: Path, url: str, attachment: dict[str, str]) -> None:
    images = [{"type": "image_url", "image_url": {"url": url}, "index": number} for number in range(2)]
    body = completion({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}, images=images)
    expected = recorded(tmp_path, "openrouter", "google/gemini-3.1-flash-image", body).expected["json"]
    assert expected.attachments == (attachment, attachment)
    assert "attachments" in expected.stated


def test_bedrocks_images_are_attachments(tmp_path: Path) -> None:
    image = {"format": "webp", "source": {"bytes": "aGk="}}
    content = [{"text": "Here:"}, {"image": image}, {"image": {"format": "png", "source": {"bytes": "aG8="}}}]
    body = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "end_turn"}
    expected = recorded(tmp_path, "bedrock", "us.amazon.nova-2-omni-v1:0", body).expected["json"]
    assert (expected.message, expected.attachments) == ("Here:", ({"data": "aGk="}, {"data": "aG8="}))


@pytest.mark.parametrize(("images", "stated"), [(259, False), (0, True)])
def test_cohere_counts_images_nobody_knows_where(tmp_path: Path, images: int, stated: bool) -> None:
    tokens = {"input_tokens": 34, "output_tokens": 70, "image_tokens": images}
    message = {"role": "assistant", "content": [{"type": "text", "text": "Hi."}]}
    body = {"id": "1", "message": message, "finish_reason": "COMPLETE", "usage": {"tokens": tokens}}
    expected = recorded(tmp_path, "cohere", "command-a-plus-05-2026", body).expected["json"]
    assert ("usage" in expected.stated, expected.usage is not None) == (stated, stated)
