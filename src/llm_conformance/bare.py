"""Bare recordings: VCR cassettes that nobody wrote a scenario for, judged by what their own bytes say.

The truth is derived (`llm_conformance.expectation`) and claims only what the recorder left intact, which a cassette
may say in `metadata.fidelity`:

| fidelity | what is claimed |
|---|---|
| `raw`, or nothing said | everything that the bytes decide |
| `body+headers-only` | the same; a body without its request can only be parsed |
| `json-asciified` | all but the message code point for code point, and places in it |
| `redacted-reserialised` | the same, and no ids and times |
| anything else | nothing: such a body needs a scenario file |

Reasoning and the arguments of tool calls are claimed exactly, whatever the fidelity.

Files are read one at a time, when their turn comes; only their paths are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance import cassette, derivation, expectation, providers, schema
from llm_conformance.cassette import Interaction, Unreadable
from llm_conformance.contract import error_for_status
from llm_conformance.expectation import Expectation
from llm_conformance.providers import Provider
from llm_conformance.scenarios import Scenario, shown_early
from llm_conformance.truths import ExpectedAnnotation, Mode, Truth

_CLAIMED: Mapping[str, frozenset[str]] = {
    "raw": frozenset({"id", "created", "message", "annotations"}),
    "json-asciified": frozenset({"id", "created"}),
    "redacted-reserialised": frozenset(),
    "body+headers-only": frozenset({"id", "created", "message", "annotations"}),
}
_ALWAYS_CLAIMED = frozenset({"model", "reasoning", "tool_calls", "usage", "finish_reason", "raw_finish_reason"})
# What reading a body of another shape may run into; the last three come of times, and of nesting without end.
_SHAPELESS = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, OSError, RecursionError)
_PENDING = ("queued", "in_progress")
_ROLES = ("system", "user", "assistant", "tool")
_ASIDE = {"role": "user", "content": "(the recorded conversation is in call.request)"}


@dataclass(frozen=True)
class NotJudged:
    """A recording that cannot be judged: it is of nobody's API in the table, or out of scope; `why` says it."""

    why: str
    unknown_api: bool = False


def recordings(path: Path) -> Iterator[Scenario | NotJudged]:
    """Yield each interaction of a cassette as a scenario, or why it is none.

    Raises BadFileError for a file that is no VCR cassette.
    """
    metadata, interactions = cassette.load_bare(path)
    fidelity = str(metadata.get("fidelity", "raw"))
    for number, interaction in enumerate(interactions):
        name = path.stem if len(interactions) == 1 else f"{path.stem}#{number}"
        if isinstance(interaction, Unreadable):
            yield NotJudged(interaction.why)
        else:
            yield _recording(path, name, interaction, metadata, fidelity)


def _recording(
    path: Path, name: str, interaction: Interaction, metadata: Mapping[str, Any], fidelity: str
) -> Scenario | NotJudged:
    if fidelity not in _CLAIMED:
        return NotJudged(f"a body of fidelity {fidelity} needs a scenario file")
    known = providers.recognise(interaction.uri)
    row = known[0] if known else providers.table().get((str(metadata.get("provider")), str(metadata.get("api"))))
    if row is None:
        host = interaction.uri.partition("//")[2].partition("/")[0]
        return NotJudged(f"no row in the provider table for a request to {host}", unknown_api=True)
    request = interaction.request
    model = (known and known[1].model) or request.get("model") or metadata.get("model")
    if not isinstance(model, str):
        return NotJudged("the request names no model")
    by_path = known is not None and row.path != row.stream_path and known[1].template == row.stream_path
    asks_for_stream = by_path or bool(request.get("stream"))
    mode: Mode = "stream" if interaction.streamed or (asks_for_stream and interaction.status >= 400) else "json"
    if interaction.status < 400 and mode == "json" and asks_for_stream:
        return NotJudged("a stream in another framing than server-sent events")
    try:
        truth = _error(interaction) if interaction.status >= 400 else _truth(interaction, row, model, fidelity)
    except _SHAPELESS as error:
        return NotJudged(f"the body is not of the shape of {row}: {type(error).__name__}")
    if isinstance(truth, NotJudged):
        return truth
    return Scenario(
        id=f"{path.parent.name}/{name}",
        path=path,
        title=f"A bare recording of {row}",
        provider=row,
        think_profile=row.think_profile(model),
        model=model,
        messages=tuple(_messages(request)),
        tools=tuple(tool for tool in _list(request.get("tools")) if _is_openai_tool(tool)),
        params={mode: _params(request)},
        match=(),
        interactions={mode: interaction},
        same_content=False,
        truths={mode: truth},
        evidence="recorded" if fidelity in ("raw", "body+headers-only") else "edited",
        replayable=known is not None,
    )


def _error(interaction: Interaction) -> Truth:
    return Truth(stated=frozenset({"error"}), error=error_for_status(interaction.status).__name__)


def _truth(interaction: Interaction, row: Provider, model: str, fidelity: str) -> Truth | NotJudged:
    facts = derivation.derive(interaction, row)
    if facts.finish in _PENDING and not interaction.streamed:
        return NotJudged("an answer that is still pending")
    if facts.error or (interaction.streamed and facts.finish is None and not facts.ended):
        return Truth(stated=frozenset({"error"}), error="LLMError")
    if not any((facts.text, facts.reasoning, facts.refusal, facts.tool_calls, facts.media, facts.finish)):
        return NotJudged("a body without any part of an answer")
    profile = row.think_profile(model)
    expected = expectation.expect(facts, row, profile)
    outside = any(start is None and citation.start is not None for start, _, citation in expected.annotations)
    may_refuse = outside or not _keeps_the_wire_schema(interaction, row)
    stated = _ALWAYS_CLAIMED | _CLAIMED[fidelity]
    if expected.by_tag or facts.found:
        stated -= {"annotations"}
    # Cut off while it thought, or did not think at all: nobody can say whether the text is reasoning.
    undecided = profile == "prefilled" and not facts.reasoning and "</think>" not in facts.text
    if undecided:
        stated -= {"message", "reasoning", "annotations"}
    return Truth(
        stated=stated | ({"attachments"} if facts.media else frozenset()),
        ids=tuple(facts.ids) or (None,),
        model=facts.model or model,
        times=expected.times or (None,),
        message=expected.message,
        message_is_json=expected.message_is_json,
        refusal=expected.refusal,
        reasoning=None if undecided else expected.reasoning,
        reasoning_source="tag" if expected.by_tag else "native",
        annotations=tuple(_annotations(expected)) if "annotations" in stated else (),
        attachments=tuple(
            {key: piece[key] for key in ("id", "data", "transcript") if piece.get(key)} for piece in facts.media
        ),
        tool_calls=expected.tool_calls,
        usage=expected.usage,
        finish_reasons=expected.finish_reasons,
        raw_finish_reasons=tuple(dict.fromkeys((facts.finish, facts.finish_also or facts.finish))),
        may_raise=("ValidationError",) if may_refuse else (),
        shows_early=shown_early(interaction, row) if interaction.streamed else frozenset(),
        offset_unit=row.offset_unit,
    )


def _keeps_the_wire_schema(interaction: Interaction, row: Provider) -> bool:
    """Whether the body is of the documented form; who refuses another is not to blame."""
    part = f"wire/{row.wire}#/$defs/{'chunk' if interaction.streamed else 'response'}"
    return not any(True for each in derivation.documents(interaction) for _ in schema.problems(part, each))


def _annotations(expected: Expectation) -> Iterator[ExpectedAnnotation]:
    for start, end, citation in expected.annotations:
        text = None if start is None or end is None else expected.message[start:end]
        nowhere = citation.start == citation.end == 0
        yield ExpectedAnnotation(start, end, text, citation.data, may_be_unanchored=nowhere)


def _messages(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the conversation where it is plain text; what is more than that only the adapter's own form can say."""
    said = _list(request.get("messages"))
    plain = [
        {"role": each["role"], "content": each["content"]}
        for each in said
        if isinstance(each, Mapping) and each.get("role") in _ROLES[:3] and isinstance(each.get("content"), str)
    ]
    yield from plain if plain and len(plain) == len(said) else [_ASIDE]


def _params(request: Mapping[str, Any]) -> Mapping[str, Any]:
    named = {key: value for key, value in request.items() if key not in ("model", "messages", "tools", "stream")}
    hosted = [tool for tool in _list(request.get("tools")) if not _is_openai_tool(tool)]
    return named | ({"tools": hosted} if hosted else {})


def _is_openai_tool(tool: Any) -> bool:
    return isinstance(tool, Mapping) and tool.get("type") == "function" and isinstance(tool.get("function"), Mapping)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
