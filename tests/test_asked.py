"""What a request asks is compared with the recorded one: some differences change the answer, most do not."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest

from llm_conformance.formats.differences import Difference, Scope, difference
from llm_conformance.formats.requests import request_of
from llm_conformance.pointers import at_pointer, placed
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.providers.table import table

BY_WIRE = {
    **{"chat": ("openai", "chat"), "responses": ("openai", "responses"), "messages": ("anthropic", "messages")},
    **{"converse": ("bedrock", "converse"), "gemini": ("gemini", "generate"), "cohere": ("cohere", "chat")},
    **{"interactions": ("gemini", "interactions"), "ollama": ("ollama", "chat")},
    "workers_ai": ("cloudflare", "run"),
}
PARAMETERS = {"type": "object", "properties": {"gauge": {"type": "string"}, "unit": {"type": "string"}}}
TIDE: dict[str, Any] = {
    "type": "function",
    "function": {"name": "tide", "description": "High water.", "parameters": PARAMETERS},
}
WIND = {"type": "function", "function": {"name": "wind", "parameters": {"type": "object", "properties": {}}}}
SYSTEM: dict[str, Any] = {"role": "system", "content": "Be brief."}
USER: dict[str, Any] = {"role": "user", "content": "When is high water at Bar?"}


def written(wire: str, *messages: Mapping[str, Any], tools: tuple[Mapping[str, Any], ...] = (TIDE, WIND)) -> Any:
    """Return a request of a wire format."""
    call = {"model": "m", "messages": messages or (SYSTEM, USER), "tools": tools}
    return copy.deepcopy(dict(request_of(table()[BY_WIRE[wire]], call, "json")))


def compared(wire: str, sent: Any, recorded: Any, scope: Scope | None = None) -> Difference | None:
    api = table()[BY_WIRE[wire]]
    return difference(api.read_request(sent), recorded, api, scope)


@pytest.mark.parametrize("wire", BY_WIRE)
@pytest.mark.parametrize(
    ("messages", "tools", "expected", "capability"),
    [
        ((SYSTEM, USER), (TIDE,), "the tool 'wind'", "tools"),
        ((SYSTEM, USER), (), "the tool 'tide'", "tools"),
        (
            (SYSTEM, USER),
            (TIDE, WIND, {**WIND, "function": {"name": "x"}}),
            "the tool 'tide', the tool 'wind'",
            "tools",
        ),
        ((USER,), (TIDE, WIND), 'the text "Be brief." of system', None),
        ((SYSTEM, {**USER, "content": "When?"}), (TIDE, WIND), 'the text "When is high water at Bar?" of user', None),
        ((SYSTEM, USER, USER), (TIDE, WIND), 'the text "When is high water at Bar?" of user', None),
        (({**SYSTEM, "content": "Be verbose."}, USER), (TIDE, WIND), 'the text "Be brief." of system', None),
    ],
)
def test_a_dropped_or_altered_part_is_found_in_every_wire_format(
    wire: str, messages: Any, tools: Any, expected: str, capability: str | None
) -> None:
    found = compared(wire, written(wire, *messages, tools=tools), written(wire))
    assert found is not None
    assert (found.expected, found.capability) == (expected, capability)


@pytest.mark.parametrize("wire", BY_WIRE)
def test_a_parameter_of_a_tool_that_is_dropped_is_found(wire: str) -> None:
    less = copy.deepcopy(TIDE)
    del less["function"]["parameters"]["properties"]["unit"]
    found = compared(wire, written(wire, tools=(less, WIND)), written(wire))
    assert found == Difference("the tool 'tide' with the parameter unit", "the tool 'tide' without it", "tools")


@pytest.mark.parametrize("wire", BY_WIRE)
def test_defaults_and_order_make_no_difference(wire: str) -> None:
    described = {**TIDE["function"], "description": "Tides.", "strict": True}
    described["parameters"] = {**PARAMETERS, "additionalProperties": False, "required": ["gauge"]}
    sent = written(wire, tools=(WIND, {"type": "function", "function": described}))
    more = {"temperature": 1, "max_tokens": 99, "tool_choice": "auto", "parallel_tool_calls": True, "n": 1, "user": "x"}
    none = {"response_format": {"type": "text"}, "documents": [], "modalities": ["text"], "logprobs": False}
    sent = dict(reversed((sent | more | none).items()))
    assert compared(wire, sent, written(wire)) is None
    recorded = written(wire) | {"temperature": 0, "max_tokens": 9, "tool_choice": "required", "stop": ["x"]}
    assert compared(wire, sent, recorded) is None


CALL = {"id": "c-1", "type": "function", "function": {"name": "tide", "arguments": '{"gauge": "Bar", "day": 1}'}}
OTHER_CALL = {"id": "c-2", "type": "function", "function": {"name": "wind", "arguments": "{}"}}
RESULT: dict[str, Any] = {"role": "tool", "tool_call_id": "c-1", "content": '{"at": "12:40"}'}
OTHER_RESULT: dict[str, Any] = {"role": "tool", "tool_call_id": "c-2", "content": "calm"}
TURNS: list[dict[str, Any]] = [
    SYSTEM,
    USER,
    {"role": "assistant", "content": "", "tool_calls": [CALL, OTHER_CALL]},
    RESULT,
    OTHER_RESULT,
]


def renamed(value: Any) -> Any:
    """Return messages with other ids of calls, consistently."""
    return json.loads(json.dumps(value).replace('"c-1"', '"toolu_01A"').replace('"c-2"', '"toolu_02B"'))


@pytest.mark.parametrize(
    "messages",
    [
        [{**SYSTEM, "role": "developer"}, *TURNS[1:]],
        [TURNS[1], SYSTEM, *TURNS[2:]],
        [{**SYSTEM, "content": [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief."}]}, *TURNS[1:]],
        [*TURNS[:2], {"role": "user", "content": ""}, *TURNS[2:]],
        [
            {**SYSTEM, "content": "Be brief.\n"},
            {**USER, "name": "me", "cache_control": {"type": "ephemeral"}},
            *TURNS[2:],
        ],
        [*TURNS[:2], {"role": "assistant", "tool_calls": [CALL, OTHER_CALL], "reasoning_content": "?"}, *TURNS[3:]],
        [*TURNS[:2], {**TURNS[2], "refusal": None, "content": None, "audio": None}, OTHER_RESULT, RESULT],
        renamed(TURNS),
        json.loads(
            json.dumps(TURNS).replace('{\\"gauge\\": \\"Bar\\", \\"day\\": 1}', '{\\"day\\":1,\\"gauge\\":\\"Bar\\"}')
        ),
        json.loads(json.dumps(TURNS).replace('"{}"', '""')),
        [*TURNS[:3], {**RESULT, "content": [{"type": "text", "text": '{"at":"12:40"}'}]}, OTHER_RESULT],
    ],
)
def test_the_same_conversation_may_be_written_differently(messages: Any) -> None:
    assert compared("chat", {"messages": messages}, {"messages": TURNS}) is None


@pytest.mark.parametrize(
    ("messages", "capability"),
    [
        (TURNS[:2], "tools"),
        (TURNS[:3], "tools"),
        ([*TURNS[:3], {**RESULT, "tool_call_id": "c-2"}, {**OTHER_RESULT, "tool_call_id": "c-1"}], "tools"),
        ([*TURNS[:3], {**RESULT, "tool_call_id": "c-7"}, OTHER_RESULT], "tools"),
        ([*TURNS[:3], {**RESULT, "content": "unknown"}, OTHER_RESULT], "tools"),
        ([*TURNS[:2], {**TURNS[2], "tool_calls": [CALL]}, *TURNS[3:]], "tools"),
        ([*TURNS[:2], {**TURNS[2], "content": "Let me see."}, *TURNS[3:]], None),
        ([*TURNS, {"role": "user", "content": "Go on."}], None),
        ([SYSTEM, *TURNS[2:], USER], None),
    ],
)
def test_another_conversation_is_found(messages: Any, capability: str | None) -> None:
    found = compared("chat", {"messages": messages}, {"messages": TURNS})
    assert found is not None
    assert found.capability == capability
    follows = compared("chat", {"messages": messages}, {"messages": TURNS}, Scope(follows_answers=True))
    assert follows is not None
    of_the_user = "Go on." in str(messages) or (messages[-1] == USER and len(messages) == len(TURNS))
    assert follows.capability == (None if of_the_user else "round_trip")


MEDIA: dict[str, tuple[str, list[Any], str | None]] = {
    "chat file": (
        "chat",
        [{"type": "file", "file": {"file_data": "data:application/pdf;base64,QUJD", "filename": "a.pdf"}}],
        "annotations",
    ),
    "chat image": ("chat", [{"type": "image_url", "image_url": {"url": "https://a.test/1.png"}}], None),
    "chat audio": ("chat", [{"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}}], "audio"),
    "responses file": ("responses", [{"type": "input_file", "file_id": "file-1"}], "annotations"),
    "responses image": ("responses", [{"type": "input_image", "image_url": "data:image/png;base64,QUJD"}], None),
    "messages document": (
        "messages",
        [{"type": "document", "title": "T", "source": {"type": "text", "media_type": "text/plain", "data": "Tides."}}],
        "annotations",
    ),
    "messages search result": (
        "messages",
        [
            {
                "type": "search_result",
                "source": "https://a.test",
                "title": "T",
                "content": [{"type": "text", "text": "x"}],
            }
        ],
        "annotations",
    ),
    "messages image": ("messages", [{"type": "image", "source": {"type": "base64", "data": "QUJD"}}], None),
    "converse document": (
        "converse",
        [{"document": {"format": "txt", "name": "T", "source": {"bytes": "QUJD"}}}],
        "annotations",
    ),
    "converse search result": (
        "converse",
        [{"searchResult": {"source": "s", "title": "T", "content": []}}],
        "annotations",
    ),
    "gemini image": ("gemini", [{"inlineData": {"mimeType": "image/png", "data": "QUI_"}}], None),
    "gemini file": ("gemini", [{"fileData": {"mimeType": "application/pdf", "fileUri": "gs://a"}}], "annotations"),
    "interactions image": ("interactions", [{"type": "image", "data": "QUJD", "mime_type": "image/png"}], None),
    "cohere image": ("cohere", [{"type": "image_url", "image_url": {"url": "https://a.test/1.png"}}], None),
}
PLACES = {
    **dict.fromkeys(("chat", "messages", "converse", "cohere"), "/messages/0/content"),
    **{"responses": "/input/0/content", "interactions": "/input/0/content", "gemini": "/contents/0/parts"},
}


@pytest.mark.parametrize("name", MEDIA)
def test_a_dropped_or_replaced_file_is_found(name: str) -> None:
    wire, parts, capability = MEDIA[name]
    texts = at_pointer(written(wire, USER), PLACES[wire])
    texts = [{"type": "text", "text": texts}] if isinstance(texts, str) else texts
    recorded = placed(written(wire, USER), PLACES[wire], [*parts, *texts])
    assert compared(wire, placed(recorded, PLACES[wire], [*texts, *parts]), recorded) is None
    dropped = compared(wire, placed(recorded, PLACES[wire], texts), recorded)
    replaced = json.loads(json.dumps(recorded).replace("QUJD", "WFla").replace("a.test", "b.test"))
    assert dropped is not None
    assert dropped.capability == capability
    if replaced != recorded:
        assert compared(wire, replaced, recorded) is not None


def test_files_may_be_written_differently() -> None:
    wire, parts, _ = MEDIA["gemini image"]
    recorded = placed(written(wire, USER), "/contents/0/parts", parts)
    sent = {"contents": [{"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "QUI/"}}]}]}
    assert compared(wire, written(wire, USER) | sent, recorded) is None
    film = {"mime_type": "video/mp4", "file_uri": "gs://a"}
    recorded = placed(written(wire, USER), "/contents/0/parts", [{"fileData": film}])
    sent = placed(recorded, "/contents/0/parts", [{"fileData": {"mimeType": "video/mp4", "fileUri": "gs://a"}}])
    assert compared(wire, sent, recorded) is None
    wire, parts, _ = MEDIA["messages document"]
    recorded = placed(written(wire, USER), "/messages/0/content", parts)
    own = {**parts[0], "title": "another", "cache_control": {"type": "ephemeral"}, "context": "of the shim"}
    assert compared(wire, placed(recorded, "/messages/0/content", [own]), recorded) is None
    wire, parts, _ = MEDIA["chat file"]
    recorded = placed(written(wire, USER), "/messages/0/content", parts)
    bare = {"type": "file", "file": {"file_data": "QUJD", "filename": "b.pdf"}}
    assert compared(wire, placed(recorded, "/messages/0/content", [bare]), recorded) is None


def test_documents_beside_the_messages_are_compared() -> None:
    document = {"id": "d-1", "data": {"title": "Tides", "text": "High water at Bar: 12:40."}}
    recorded = written("cohere") | {"documents": [document]}
    own = {"id": "1", "data": {"text": "High water at Bar: 12:40.", "title": "x"}}
    assert compared("cohere", written("cohere") | {"documents": [own]}, recorded) is None
    assert compared("cohere", written("cohere") | {"documents": [own["data"]["text"]]}, recorded) is None  # type: ignore[index]
    dropped = compared("cohere", written("cohere"), recorded)
    assert dropped is not None
    assert dropped.capability == "annotations"


@pytest.mark.parametrize(
    ("wire", "pointer", "tool", "expected"),
    [
        (
            "messages",
            "/tools",
            {"type": "web_search_20250305", "name": "web_search"},
            "the provider's tool 'web_search'",
        ),
        ("responses", "/tools", {"type": "code_interpreter"}, "the provider's tool 'code_interpreter'"),
        ("gemini", "/tools", {"googleSearch": {}}, "the provider's tool 'googleSearch'"),
        ("interactions", "/tools", {"type": "url_context"}, "the provider's tool 'url_context'"),
        ("converse", "/toolConfig/tools", {"systemTool": {"name": "grounding"}}, "the provider's tool 'grounding'"),
        ("chat", "/tools", {"type": "custom", "custom": {"name": "turtle"}}, "the tool 'turtle'"),
        ("responses", "/tools", {"type": "custom", "name": "turtle"}, "the tool 'turtle'"),
    ],
)
def test_tools_of_the_provider_are_compared_by_type(wire: str, pointer: str, tool: Any, expected: str) -> None:
    recorded = written(wire)
    recorded = placed(recorded, pointer, [*at_pointer(recorded, pointer), tool])
    newer = json.loads(json.dumps(recorded).replace("20250305", "20260209"))
    assert compared(wire, newer, recorded) is None
    dropped = compared(wire, written(wire), recorded)
    assert dropped is not None
    assert dropped.expected == expected


SWITCHES: list[tuple[str, str, Any, str | None]] = [
    ("chat", "/response_format", {"type": "json_schema", "json_schema": {}}, None),
    ("chat", "/n", 2, None),
    ("chat", "/logprobs", True, None),
    ("chat", "/modalities", ["text", "audio"], "audio"),
    ("chat", "/audio", {"voice": "alloy"}, "audio"),
    ("chat", "/web_search_options", {}, "annotations"),
    ("chat", "/reasoning_effort", "high", "reasoning"),
    ("chat", "/stream_options", {"include_usage": True}, None),
    ("responses", "/text", {"format": {"type": "json_object"}}, None),
    ("responses", "/reasoning", {"summary": "auto"}, "reasoning"),
    ("responses", "/background", True, None),
    ("messages", "/thinking", {"type": "enabled", "budget_tokens": 1024}, "reasoning"),
    ("messages", "/mcp_servers", [{"type": "url"}], "tools"),
    ("converse", "/guardrailConfig", {"guardrailIdentifier": "x"}, None),
    ("converse", "/additionalModelRequestFields", {"thinking": {"type": "enabled"}}, "reasoning"),
    ("gemini", "/generationConfig", {"responseModalities": ["AUDIO"]}, "audio"),
    ("gemini", "/generationConfig", {"candidateCount": 2}, None),
    ("gemini", "/generationConfig", {"thinkingConfig": {"includeThoughts": True}}, "reasoning"),
    ("gemini", "/generationConfig", {"responseMimeType": "application/json"}, None),
    ("interactions", "/response_modalities", ["image"], "audio"),
    ("cohere", "/citation_options", {"mode": "accurate"}, "annotations"),
    ("ollama", "/think", True, "reasoning"),
    ("ollama", "/format", {"type": "object"}, None),
    ("workers_ai", "/response_format", {"type": "json_schema"}, None),
]


@pytest.mark.parametrize(("wire", "pointer", "value", "capability"), SWITCHES)
def test_a_dropped_switch_is_found(wire: str, pointer: str, value: Any, capability: str | None) -> None:
    asked = written(wire) | {pointer[1:]: value}
    assert compared(wire, asked, asked) is None
    assert compared(wire, asked, written(wire)) is None
    dropped = compared(wire, written(wire), asked)
    assert dropped is not None
    assert dropped.capability == capability


def test_citations_of_a_document_are_a_switch() -> None:
    wire, parts, _ = MEDIA["messages document"]
    plain = placed(written(wire, USER), "/messages/0/content", parts)
    asked = placed(plain, "/messages/0/content", [{**parts[0], "citations": {"enabled": True}}])
    assert compared(wire, asked, plain) is None
    assert compared(wire, plain, asked) == Difference(
        "a switch for citations", "no switch for citations", "annotations"
    )


@pytest.mark.parametrize(
    ("wire", "off"), [("messages", {"thinking": {"type": "disabled"}}), ("ollama", {"think": False})]
)
def test_thinking_that_is_switched_off_may_be_left_out(wire: str, off: Any) -> None:
    assert compared(wire, written(wire), written(wire) | off) is None


def test_what_other_rules_report_is_not_compared() -> None:
    thinks = written("chat") | {"reasoning_effort": "high", "stream_options": {"include_usage": True}}
    assert compared("chat", written("chat"), thinks, Scope(thinking=False, usage=False)) is None
    for messages in ([], [{**each, "role": "user"} for each in TURNS]):
        assert compared("chat", {"messages": messages}, {"messages": TURNS}, Scope(answers=False)) is None


def test_recorded_requests_ask_what_their_calls_say(scenarios: list[Scenario]) -> None:
    """Each request is written twice, independently: the recorded one by the provider, the other one from the call."""
    different = set()
    for scenario in scenarios:
        for mode in () if scenario.earlier else scenario.modes:
            recorded = scenario.interactions[mode].request
            call = {"model": scenario.model, "messages": scenario.messages, "tools": scenario.tools}
            try:
                request = request_of(scenario.api, call, mode) | {
                    key: value for key, value in scenario.params[mode].items() if key != "tools"
                }
            except TypeError:  # a system message of parts
                continue
            hosted = scenario.params[mode].get("tools", [])
            tools = {"tools": [*request.get("tools", ()), *hosted]} if hosted else {}
            if difference({**request, **tools}, recorded, scenario.api, Scope(usage=False)) is not None:
                different.add(scenario.id)
    assert different <= WRITTEN_BY_HAND


WRITTEN_BY_HAND = {
    # Their params replace the messages of the call.
    *("llamacpp/chat-error-messages-is-no-list", "llamacpp/responses-error-input-is-a-number"),
    # Parts of Bedrock's own form, a file of Gemini's, and an item of OpenAI's: `request_of` writes texts alone.
    *("bedrock/cache-counts-beside-the-input", "bedrock/citations-before-their-text"),
    *("bedrock/citations-of-chunks-and-search-results", "gemini/counts-without-the-prompt"),
    "gemini/counts-of-a-picture-and-of-sound",
    "openai/responses-answer-after-a-tool-result",
}
