"""Facts about Gemini, on its own APIs and on Vertex AI, that once made right adapters fail or wrong ones pass."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.contract import Call, HttpResponse, Response
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.replay.open_exchange import OpenExchange
from llm_conformance.scenarios.expected import Expected
from tests.bare_cassettes import EVENTS, scenario, write
from tests.calls import ADAPTERS, chat, completed, sse

GEMINI = "https://generativelanguage.googleapis.com"
GENERATE = f"{GEMINI}/v1beta/models/gemini-3.8-flash:generateContent"
STREAM = f"{GEMINI}/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
CHAT = f"{GEMINI}/v1beta/openai/chat/completions"
INTERACTIONS = f"{GEMINI}/v1beta/interactions"
VERTEX = "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google/models"
ASKED = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}


def chunk(*parts: Any, usage: Any = None, **candidate: Any) -> dict[str, Any]:
    """Return a chunk with one candidate; `candidate` are its fields beside the content."""
    content = {"content": {"role": "model", "parts": list(parts)}} if parts else {}
    return {"candidates": [content | candidate], "usageMetadata": usage or {}, "modelVersion": "gemini-3.8-flash"}


def call_piece(**fields: Any) -> dict[str, Any]:
    return chunk({"functionCall": fields})


def value(path: str, **fields: Any) -> dict[str, Any]:
    return {"jsonPath": path, **fields}


def in_stream(tmp_path: Path, *chunks: Any, uri: str = STREAM) -> Expected:
    """Return what is expected of a streamed answer."""
    request = {"uri": uri, "body": json.dumps(ASKED)}
    return scenario(write(tmp_path, sse(*chunks), request=request, response=EVENTS)).expected["stream"]


def in_json(tmp_path: Path, body: Any, uri: str = GENERATE, request: Any = None) -> Expected:
    """Return what is expected of a plain answer."""
    asked = json.dumps(request or ASKED)
    return scenario(write(tmp_path, body, request={"uri": uri, "body": asked})).expected["json"]


def generate(provider: str = "gemini", **changes: Any) -> Call:
    return chat(provider, api="generate", **changes)


def streamed(*chunks: Any, provider: str = "gemini") -> Response:
    """Return what the reference adapter makes of a stream."""
    http = HttpResponse(200, {"content-type": "text/event-stream"}, b"")
    return completed(generate(provider, stream=True, http=http), [sse(*chunks)])


def parsed(body: Any, call: Call) -> Response:
    """Return what the reference adapter makes of a body."""
    return ADAPTERS.parse(HttpResponse(200, {"content-type": "application/json"}, json.dumps(body).encode()), call)


STOP = chunk({"text": ""}, finishReason="STOP")
PIECES = (
    call_piece(name="tide", willContinue=True),
    call_piece(partialArgs=[value("$.ports[0].name", stringValue="Saint-", willContinue=True)], willContinue=True),
    call_piece(partialArgs=[value("$.ports[0].name", stringValue="Malo")], willContinue=True),
    call_piece(partialArgs=[value("$.ports[0].name", stringValue="")], willContinue=True),
    call_piece(willContinue=True),
    call_piece(partialArgs=[value("$.days", numberValue=2), value("$.high", boolValue=False)], willContinue=True),
    call_piece(partialArgs=[value("$['since when']", nullValue=None)]),
    call_piece(name="now", willContinue=True),
    call_piece(),
)
ARGUMENTS = {"ports": [{"name": "Saint-Malo"}], "days": 2, "high": False, "since when": None}


@pytest.mark.parametrize("last", [(), (STOP,)])
def test_arguments_in_pieces_are_put_together(tmp_path: Path, last: tuple[Any, ...]) -> None:
    chunks = [*PIECES, *(last or (chunk(finishReason="STOP"),))]
    expected = in_stream(tmp_path, *chunks, uri=f"{VERTEX}/gemini-3.8-flash:streamGenerateContent?alt=sse")
    assert [each.name for each in expected.tool_calls] == ["tide", "now"]
    assert [json.loads(each.arguments) for each in expected.tool_calls] == [ARGUMENTS, {}]
    response = streamed(*chunks, provider="vertex")
    assert [json.loads(each.arguments) for each in response.tool_calls] == [ARGUMENTS, {}]


def test_a_path_that_is_no_json_path_decides_nothing(tmp_path: Path) -> None:
    pieces = [call_piece(name="tide", willContinue=True), call_piece(partialArgs=[value("port", stringValue="Brest")])]
    path = write(tmp_path, sse(*pieces, STOP), request={"uri": STREAM, "body": json.dumps(ASKED)}, response=EVENTS)
    with pytest.raises(AssertionError):  # out of scope, not a scenario
        scenario(path)


COUNTED = {"promptTokenCount": 9, "candidatesTokenCount": 7, "thoughtsTokenCount": 20, "totalTokenCount": 36}


def test_the_last_counts_of_a_stream_replace_those_before(tmp_path: Path) -> None:
    rest = {"promptTokenCount": 9, "totalTokenCount": 9}
    chunks = [chunk({"text": "Yes"}, usage=COUNTED), chunk(usage=rest, finishReason="SAFETY")]
    usage = in_stream(tmp_path, *chunks).usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (9, 0, 9)
    assert usage.reasoning_tokens is None
    assert streamed(*chunks).usage == replace(usage, raw=rest)


def test_a_chunk_without_counts_replaces_none(tmp_path: Path) -> None:
    chunks = [chunk({"text": "Yes"}, usage=COUNTED), chunk(usage={"trafficType": "ON_DEMAND"}, finishReason="STOP")]
    usage = in_stream(tmp_path, *chunks).usage
    assert usage is not None
    assert (usage.total_tokens, usage.completion_tokens) == (36, 27)
    response = streamed(*chunks)
    assert response.usage is not None
    assert response.usage.total_tokens == 36


def test_cached_tokens_of_the_compatible_api_are_counted(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 1469, "completion_tokens": 744, "total_tokens": 2496}
    usage["prompt_tokens_details"] = {"cached_tokens": 1019}  # type: ignore[assignment]
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}
    body = {"id": "a", "model": "gemini-3.8-flash", "object": "chat.completion", "choices": [choice], "usage": usage}
    expected = in_json(tmp_path, body, CHAT, {"model": "gemini-3.8-flash", "messages": []}).usage
    assert expected is not None
    assert (expected.prompt_tokens, expected.completion_tokens, expected.cached_tokens) == (1469, 1027, 1019)
    assert parsed(body, chat("gemini")).usage == expected


@pytest.mark.parametrize(
    ("word", "reason"),
    [("ESCALATION", "content_filter"), ("PUP_LIMITED_DISABLED", "content_filter"), ("CONTINUATION", "length")],
)
def test_the_new_finish_words_are_known(tmp_path: Path, word: str, reason: str) -> None:
    body = chunk({"text": "Yes"}, usage=COUNTED, finishReason=word)
    assert in_json(tmp_path, body).finish_reasons == (reason,)
    assert parsed(body, generate()).finish_reason == reason


def test_an_interaction_that_has_to_be_continued_was_cut_off(tmp_path: Path) -> None:
    step = {"type": "model_output", "content": [{"type": "text", "text": "One, two"}]}
    body = {"id": "v1_a", "object": "interaction", "model": "m", "steps": [step], "status": "requires_continuation"}
    expected = in_json(tmp_path, body, INTERACTIONS, {"model": "m", "input": "Count"})
    assert (expected.finish_reasons, expected.message) == (("length",), "One, two")
    assert parsed(body, chat("gemini", api="interactions")).finish_reason == "length"


def test_recitations_of_vertex_are_annotations(tmp_path: Path) -> None:
    cited = {"citations": [{"startIndex": 4, "endIndex": 8, "uri": "https://songs.example/1", "title": "Songs"}]}
    body = chunk({"text": "The tide rises."}, usage=COUNTED, finishReason="STOP", citationMetadata=cited)
    (expected,) = in_json(tmp_path, body, f"{VERTEX}/gemini-3.8-flash:generateContent").annotations
    assert (expected.start, expected.end, expected.text) == (4, 8, "tide")
    (annotation,) = parsed(body, generate("vertex")).annotations
    assert (annotation.start, annotation.end, annotation.data) == (4, 8, expected.data)


def test_a_model_in_the_body_need_not_be_sent_where_the_path_names_it(tmp_path: Path) -> None:
    body = chunk({"text": "Yes"}, usage=COUNTED, finishReason="STOP")
    path = write(tmp_path, body, request={"uri": GENERATE, "body": json.dumps({"model": "gemini-3.8-flash", **ASKED})})
    exchange = OpenExchange(scenario(path), "http://replay.test/exchange-1")
    target = "/v1beta/models/gemini-3.8-flash:generateContent"
    exchange.recording_for(target, {"x-goog-api-key": CANARY_KEY}, json.dumps(ASKED).encode())
    assert (exchange.difference, exchange.mode) == (None, "json")


def test_an_image_of_an_interaction_is_an_attachment(tmp_path: Path) -> None:
    image = {"type": "image", "mime_type": "image/png", "data": "iVBORw0KGgo="}
    step = {"type": "model_output", "content": [{"type": "text", "text": "Here:"}, image, image]}
    body = {"id": "v1_a", "object": "interaction", "model": "m", "steps": [step], "status": "completed"}
    expected = in_json(tmp_path, body, INTERACTIONS, {"model": "m", "input": "Draw"})
    assert [each["data"] for each in expected.attachments] == [image["data"]] * 2
    attachments = parsed(body, chat("gemini", api="interactions")).attachments
    assert [(each.type, each.data, each.text_index) for each in attachments] == [("image/png", image["data"], 5)] * 2


def test_what_is_said_about_a_part_is_not_taken_for_its_content() -> None:
    speech = {"audioTranscription": {"text": "Ahoy"}, "inlineData": {"mimeType": "audio/L16", "data": "AAEC"}}
    response = parsed(chunk(speech, {"speechMetadata": {}, "text": "Ahoy"}, finishReason="STOP"), generate())
    assert ([each.data for each in response.attachments], response.message) == (["AAEC"], "Ahoy")


def test_a_streamed_interaction_may_be_created_without_a_status() -> None:
    """As opentelemetry-instrumentation-google-genai 1.3b0 has recorded it of gemini-3.8-flash."""
    events = (
        {"event_type": "interaction.created", "interaction": {"id": "v1_1", "model": "gemini-3.8-flash"}},
        {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "Hi."}},
        {"event_type": "step.stop", "index": 0},
        {"event_type": "interaction.completed", "interaction": {"id": "v1_1", "status": "completed"}},
    )
    http = HttpResponse(200, {"content-type": "text/event-stream"}, b"")
    answer = completed(chat("gemini", api="interactions", stream=True, http=http), [sse(*events)])
    assert (answer.id, answer.message, answer.finish_reason) == ("v1_1", "Hi.", "stop")
