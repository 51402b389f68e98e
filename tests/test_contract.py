"""The contract's types agree with its schemas, and their values are frozen."""

from __future__ import annotations

import dataclasses
import uuid
from typing import Any

import pytest

from llm_conformance import schema
from llm_conformance.contract import (
    ERROR_TYPES,
    EVENT_TYPES,
    Annotation,
    Attachment,
    AuthenticationError,
    Call,
    InvalidRequestError,
    LLMError,
    ProviderMeta,
    RateLimitError,
    ResourceNotFoundError,
    Response,
    Segment,
    ServiceUnavailableError,
    StreamEvent,
    TimeoutError,
    ToolCall,
    ToolCallPiece,
    Usage,
    ValidationError,
    error_for_status,
)
from llm_conformance.contract.errors import correlation_id_var

FULL = Response(
    message="Eight.",
    provider="deepseek",
    model="m",
    finish_reason="stop",
    usage=Usage(1, 2, 3, raw={"a": 1}),
    id="x",
    created="2025-01-21T17:24:32Z",
    reasoning="r",
    segments=(Segment("text", "Eight."),),
    annotations=(Annotation(0, 2, {"url": "u"}), Annotation(None, None, {})),
    attachments=(Attachment(id="a", type="audio/wav", data="aGk=", text_index=0),),
    tool_calls=(ToolCall("c", "f", "{}"),),
    provider_meta=(ProviderMeta("deepseek", "m", 1.5),),
    cost_usd=0.0,
    clear_thinking=False,
)
CALL = Call(
    provider="deepseek",
    api="chat",
    model="m",
    messages=({"role": "user", "content": "Hi"},),
    base_url="https://api.deepseek.com",
    path="/chat/completions",
    api_key="k",
    stream=False,
    timeout_s=1,
    correlation_id="c",
)


def problems(name: str, value: Any) -> list[Any]:
    """Return the violations of a schema."""
    return list(schema.problems(name, value))


def test_values_of_the_types_are_valid() -> None:
    assert problems("response", FULL.to_dict()) == []
    assert problems("call", CALL.to_dict()) == []
    assert problems("error", LLMError("oops", provider="x").to_dict()) == []
    delta = StreamEvent("response.function_call_arguments.delta", delta="{", tool_call=ToolCallPiece(0, "c", "f"))
    for event in (delta, StreamEvent("response.completed", response=FULL)):
        assert problems("stream-event", event.to_dict()) == []


def test_fields_of_types_and_schemas_are_the_same() -> None:
    for kind, name in ((Response, "response"), (StreamEvent, "stream-event"), (Call, "call")):
        properties = set(schema.document(name)["properties"]) - {"content", "text"}
        assert properties == {field.name for field in dataclasses.fields(kind)}
    assert tuple(schema.document("stream-event")["properties"]["event_type"]["enum"]) == EVENT_TYPES


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"message": None}, "message"),
        ({"reasoning": ""}, "reasoning"),
        ({"finish_reason": "end_turn"}, "finish_reason"),
        ({"created": "2025-01-21 17:24:32"}, "created"),
        ({"usage": {"prompt_tokens": -1}}, "usage"),
        ({"usage": {"prompt_tokens": True}}, "usage"),
        ({"annotations": [{"start": True, "end": 3, "data": {}}]}, "annotations"),
        ({"annotations": [{"start": 1, "end": None, "data": {}}]}, "annotations"),
        ({"annotations": [{"start": -1, "end": 2, "data": {}}]}, "annotations"),
        ({"segments": [{"type": "audio", "content": ""}]}, "segments"),
        ({"tool_calls": [{"id": "a", "name": "f", "arguments": ""}]}, "tool_calls"),
        ({"attachments": [{"data": "not base64!"}]}, "attachments"),
        ({"tool_calls": None}, "tool_calls"),
    ],
)
def test_the_response_schema_refuses(change: dict[str, Any], where: str) -> None:
    assert {path[0] for path, _ in problems("response", FULL.to_dict() | change)} == {where}


@pytest.mark.parametrize("missing", ["message", "provider", "model", "finish_reason", "usage"])
def test_five_fields_are_required(missing: str) -> None:
    value = FULL.to_dict()
    del value[missing]
    assert [f"`{missing}` is missing" in message for _, message in problems("response", value)] == [True]


def test_values_are_frozen() -> None:
    for value, name in ((FULL, "message"), (CALL, "model"), (FULL.segments[0], "content")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, "x")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *[(code, InvalidRequestError) for code in (400, 413, 418, 422)],
        *[(401, AuthenticationError), (403, AuthenticationError), (404, ResourceNotFoundError)],
        *[(408, TimeoutError), (504, TimeoutError), (429, RateLimitError)],
        *[(code, ServiceUnavailableError) for code in (500, 502, 503, 529, 599)],
    ],
)
def test_a_status_has_its_class(status: int, kind: type[LLMError]) -> None:
    assert error_for_status(status) is kind
    assert kind.__name__ in ERROR_TYPES


def test_an_error_knows_which_request_it_belongs_to() -> None:
    assert LLMError("a", correlation_id="given").correlation_id == "given"
    one, other = LLMError("a"), LLMError("a")
    assert uuid.UUID(one.correlation_id) != uuid.UUID(other.correlation_id)
    token = correlation_id_var.set("from the context")
    try:
        assert LLMError("a").correlation_id == "from the context"
    finally:
        correlation_id_var.reset(token)


def test_an_error_as_text_and_as_values() -> None:
    cause = KeyError("x")
    error = ValidationError("oops", "id-1", "zai", cause, {"status_code": 200})
    assert str(error) == "oops [provider=zai] [correlation_id=id-1]"
    assert error.original_error is cause
    assert error.to_dict() == {
        "error_type": "ValidationError",
        "message": "oops",
        "provider": "zai",
        "correlation_id": "id-1",
        "extra_context": {"status_code": 200},
    }
