"""The truth of a recording as its own bytes give it, where nobody has written one by hand.

Claimed is only what the recorder left intact, which a cassette may say in `metadata.fidelity`:

| fidelity | what is claimed |
|---|---|
| `raw`, or nothing said | everything that the bytes decide |
| `body+headers-only` | the same; a body without its request can only be parsed |
| `json-asciified` | all but the message code point for code point, and places in it |
| `redacted-reserialised` | the same, and no ids and times |
| anything else | nothing: such a body needs a scenario file |

Reasoning and the arguments of tool calls are claimed exactly, whatever the fidelity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from llm_conformance import schema
from llm_conformance.contract import Segment, error_for_status
from llm_conformance.contract.call import ThinkProfile
from llm_conformance.scenarios import expectation
from llm_conformance.scenarios.expectation import Expectation, shown_early
from llm_conformance.scenarios.expected import Expected, ExpectedAnnotation
from llm_conformance.wire import answers
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api

CLAIMED: Mapping[str, frozenset[str]] = {
    "raw": frozenset({"id", "created", "message", "annotations"}),
    "json-asciified": frozenset({"id", "created"}),
    "redacted-reserialised": frozenset(),
    "body+headers-only": frozenset({"id", "created", "message", "annotations"}),
}
"""What is claimed by fidelity, beside what always is."""
_ALWAYS_CLAIMED = frozenset({"model", "reasoning", "tool_calls", "usage", "finish_reason", "raw_finish_reason"})
_PENDING = ("queued", "in_progress")


@dataclass(frozen=True)
class Undecided:
    """A recording whose bytes give no truth; `why` says what is in the way."""

    why: str


def derived_expected(
    interaction: Interaction, api: Api, model: str, profile: ThinkProfile, fidelity: str = "raw"
) -> Expected | Undecided:
    """Return the truth of an answer, or of an error."""
    try:
        if interaction.status >= 400:
            wait = interaction.headers.get("retry-after")
            stated = {"error"} if wait is None else {"error", "retry_after"}
            named = error_for_status(interaction.status).__name__
            return Expected(stated=frozenset(stated), error=named, retry_after=wait)
        return _of_answer(interaction, api, model, profile, fidelity)
    except answers.SHAPELESS as error:
        return Undecided(f"the body is not of the shape of {api}: {type(error).__name__}")


def with_segments(expected: Expected, interaction: Interaction, api: Api) -> Expected:
    """Return a truth that also states the segments, where the bytes leave no doubt: reasoning, then text, then calls.

    Only of chat completions: what other formats have in their blocks is not read one by one.
    """
    if (
        expected.error
        or api.wire != "chat"
        or expected.refusal
        or expected.message_is_json
        or "attachments" in expected.stated
    ):
        return expected
    if answers.derive(interaction, api).found:  # what the provider's own tools did is said in segments, too
        return expected
    order = [
        _RANKS[kind]
        for document in answers.documents(interaction)
        for kind in _parts(document, api, interaction.streamed)
    ]
    if order != sorted(order):
        return expected
    segments = [Segment("reasoning", expected.reasoning)] if expected.reasoning else []
    segments += [Segment("text", expected.message)] if expected.message else []
    segments += [Segment("tool_call", "") for _ in expected.tool_calls]
    return replace(expected, segments=tuple(segments), stated=expected.stated | {"segments"})


_RANKS = {"reasoning": 0, "text": 1, "name": 2, "arguments": 2}


def _parts(document: Mapping[str, object], api: Api, streamed: bool) -> list[str]:
    held = answers.kinds(document, api, streamed)
    return sorted((kind for kind in held if kind in _RANKS), key=lambda kind: _RANKS[kind])


def _of_answer(
    interaction: Interaction, api: Api, model: str, profile: ThinkProfile, fidelity: str
) -> Expected | Undecided:
    facts = answers.derive(interaction, api)
    if facts.finish in _PENDING and not interaction.streamed:
        return Undecided("an answer that is still pending")
    parts = (facts.text, facts.reasoning, facts.refusal, facts.tool_calls, facts.media, facts.finish)
    breaks_off = interaction.streamed and facts.finish is None and not facts.ended
    # A stream that begins and breaks off is of the documented form; one of something else is nobody's error.
    if facts.error or (breaks_off and (any(parts) or _keeps_the_wire_schema(interaction, api))):
        return Expected(stated=frozenset({"error"}), error="LLMError")
    if not any(parts):
        return Undecided("a body without any part of an answer")
    expected = expectation.expect(facts, api, profile)
    outside = any(start is None and citation.start is not None for start, _, citation in expected.annotations)
    may_refuse = outside or not _keeps_the_wire_schema(interaction, api)
    stated = _ALWAYS_CLAIMED | CLAIMED[fidelity]
    if expected.by_tag or facts.found:
        stated -= {"annotations"}
    # Cut off while it thought, or did not think at all: nobody can say whether the text is reasoning.
    undecided = profile == "prefilled" and not facts.reasoning and f"</{api.think_tag}>" not in facts.text
    if undecided:
        stated -= {"message", "reasoning", "annotations"}
    return Expected(
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
        shows_early=shown_early(interaction, api) if interaction.streamed else frozenset(),
        offset_unit=api.offset_unit,
    )


def _keeps_the_wire_schema(interaction: Interaction, api: Api) -> bool:
    """Whether the body is of the documented form; who refuses another is not to blame."""
    part = f"wire/{api.wire}#/$defs/{'chunk' if interaction.streamed else 'response'}"
    return not any(True for each in answers.documents(interaction) for _ in schema.problems(part, each))


def _annotations(expected: Expectation) -> Iterator[ExpectedAnnotation]:
    for start, end, citation in expected.annotations:
        text = None if start is None or end is None else expected.message[start:end]
        nowhere = citation.start == citation.end == 0
        yield ExpectedAnnotation(start, end, text, citation.data, may_be_unanchored=nowhere)
