"""The expected values of a recording that has no scenario file, derived from its bytes.

A cassette may say in `metadata.fidelity` what its recorder altered. If nothing is known about the recorder, the
fidelity is `raw`, or `json-asciified` for a response with a `parsed_body`. Only values that the recorder left intact
are expected:

| fidelity | expected |
|---|---|
| `raw` | everything that the bytes decide |
| `body+headers-only` | the same; a body without its request is judged with `parse` and `parse_stream` only |
| `json-reserialised` | everything: only the layout of the JSON differs |
| `json-asciified` | all except the message, its annotations and the segments |
| `redacted-reserialised` | like `json-asciified`, without ids and times |
| anything else | nothing: such a body needs a scenario file |

Reasoning and the arguments of tool calls are expected exactly, whatever the fidelity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from llm_conformance import schema
from llm_conformance.contract import Segment, error_for_status
from llm_conformance.contract.call import ThinkProfile
from llm_conformance.scenarios import derive
from llm_conformance.scenarios.expected import FAILED, Expected, with_plain_segments
from llm_conformance.wire import answers, think_tags
from llm_conformance.wire.answers import WireFacts
from llm_conformance.wire.blocks import TEXTS, Block, blocks, has_other_parts
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api

CLAIMED: Mapping[str, frozenset[str]] = {
    "raw": frozenset({"id", "created", "message", "annotations"}),
    "json-reserialised": frozenset({"id", "created", "message", "annotations"}),
    "json-asciified": frozenset({"id", "created"}),
    "redacted-reserialised": frozenset(),
    "body+headers-only": frozenset({"id", "created", "message", "annotations"}),
}
"""Maps a fidelity to the keys that are expected, besides `_ALWAYS_CLAIMED`."""
_ALWAYS_CLAIMED = frozenset({"model", "reasoning", "tool_calls", "usage", "finish_reason", "raw_finish_reason"})
_SELDOM_TAG = "thinking"
"""The tag of Amazon Nova and of the first Claude models with tools. No API documents it; some libraries parse it."""
_PENDING = ("queued", "in_progress")


@dataclass(frozen=True)
class Undecided:
    """A recording whose bytes do not decide what is expected; `why` is the reason."""

    why: str


def think_profile(interaction: Interaction, api: Api, model: str) -> ThinkProfile:
    """Return the think profile of the model in this answer.

    Most models open the think block themselves, but a prompt may open it for them (Ollama with `think: false`). The
    answer then closes a block that it never opened.
    """
    profile = api.think_profile(model)
    facts = answers.derive_if_readable(interaction, api) if profile == "leading" else None
    if facts is None or facts.reasoning or not think_tags.closes_on_a_line_of_its_own(facts.text, api.think_tag):
        return profile
    return "prefilled"


def expected_from_bytes(
    interaction: Interaction, api: Api, model: str, profile: ThinkProfile, fidelity: str = "raw"
) -> Expected | Undecided:
    """Return the expected values of an answer or of an error."""
    try:
        if interaction.status >= 400:
            wait = interaction.headers.get("retry-after")
            stated = {"error"} if wait is None else {"error", "retry_after"}
            error = error_for_status(interaction.status).__name__
            return Expected(stated=frozenset(stated), error=error, retry_after=wait)
        return _of_answer(interaction, api, model, profile, fidelity)
    except answers.SHAPELESS as error:
        return Undecided(f"the body is not of the shape of {api}: {type(error).__name__}")


def with_segments(expected: Expected, interaction: Interaction, api: Api) -> Expected:
    """Return the expected values with segments if the bytes decide the segments; else unchanged.

    For chat completions, the bytes decide them if the answer is in plain order: reasoning, text, then tool calls. In
    formats with blocks, each block is a segment with its opaque data, and the joined blocks have to give the expected
    texts.
    """
    if expected.error or not expected.stated >= _SEGMENTED or expected.message_is_json:
        return expected
    if api.wire == "chat":
        return _with_segments_in_plain_order(expected, interaction, api)
    found = _blocks(interaction, api)
    if found is None or expected.reasoning_source == "tag" or any(each.kind is None for each in found):
        return expected
    segments = tuple(Segment(each.kind, each.content, dict(each.opaque)) for each in found if each.kind is not None)
    texts = ("".join(each.content for each in segments if each.type == kind) for kind in ("text", "reasoning"))
    if (*texts,) != (expected.message, expected.reasoning or ""):
        return expected
    return replace(expected, segments=segments, stated=expected.stated | {"segments"})


_SEGMENTED = frozenset({"message", "reasoning", "tool_calls"})
"""Segments are stated only if all of these keys are stated."""


def _with_segments_in_plain_order(expected: Expected, interaction: Interaction, api: Api) -> Expected:
    undecided = expected.refusal or "attachments" in expected.stated or has_other_parts(interaction)
    facts = answers.derive(interaction, api)
    # Results of the provider's own tools are segments, too. Several blocks of thinking are several segments.
    if undecided or facts.found or not derive.in_plain_order(interaction, api):
        return expected
    if expected.reasoning_source == "tag" and not think_tags.has_only_a_leading_block(facts.text, api.think_tag):
        return expected
    return with_plain_segments(expected)


def with_unknown_block(expected: Expected, interaction: Interaction, api: Api) -> Expected:
    """Return the expected values with `unknown` set to the first block type that the suite does not know.

    An adapter that knows the type may show the block as any segment.
    """
    found = [] if expected.error else _blocks(interaction, api) or []
    unknown = [each.name for each in found if each.kind is None]
    if not unknown:
        return expected
    shown = sum(bool(each.content or each.opaque or each.kind not in (None, *TEXTS)) for each in found)
    may_raise = (*expected.may_raise, "ValidationError", "LLMError")
    return replace(expected, unknown=unknown[0], beside_unknown=shown, may_raise=tuple(dict.fromkeys(may_raise)))


def _blocks(interaction: Interaction, api: Api) -> list[Block] | None:
    try:
        return blocks(interaction, api)
    except answers.SHAPELESS:
        return None


def _of_answer(
    interaction: Interaction, api: Api, model: str, profile: ThinkProfile, fidelity: str
) -> Expected | Undecided:
    facts = answers.derive(interaction, api)
    if facts.finish in _PENDING and not interaction.streamed:
        return Undecided("an answer that is still pending")
    parts = (facts.text, facts.reasoning, facts.refusal, facts.tool_calls, facts.media, facts.finish)
    breaks_off = interaction.streamed and facts.finish is None and not facts.ended
    # A stream that breaks off is an error of the provider only if the sent part is of the documented form.
    if facts.error or (breaks_off and (any(parts) or _is_known(interaction, api))):
        return Expected(stated=frozenset({"error"}), error="LLMError", fault="" if facts.error else "incomplete")
    if not any(parts):
        return Undecided(f"the body is not of the shape of {api}: it is without any part of an answer")
    if not any(parts[:-1]) and not _is_known(interaction, api):
        return Undecided(
            f"the body is not of the shape of {api}: it has a finish word, and what was finished is elsewhere"
        )
    expected = derive.expect(facts, api, profile, model)
    may_be_reasoning = _may_be_reasoning(facts, api, profile)
    stated = _stated(expected, facts, fidelity, may_be_reasoning)
    if not api.decides_counts(facts.usage):
        expected, stated = replace(expected, usage=None, oversized=frozenset(), unread=frozenset()), stated - {"usage"}
    may_reject = _has_outside_span(expected, facts) or not _matches_wire_schema(interaction, api)
    return replace(
        expected,
        stated=stated,
        reasoning=None if may_be_reasoning else expected.reasoning,
        annotations=expected.annotations if "annotations" in stated else (),
        may_raise=(
            *(("ValidationError",) if may_reject else ()),
            *(FAILED if "error" in expected.finish_reasons else ()),
        ),
        shows_early=derive.shown_early(interaction, api) if interaction.streamed else frozenset(),
    )


def _stated(expected: Expected, facts: WireFacts, fidelity: str, may_be_reasoning: bool) -> frozenset[str]:
    stated = _ALWAYS_CLAIMED | CLAIMED[fidelity]
    if expected.reasoning_source == "tag" or facts.found:
        stated -= {"annotations"}
    if facts.asks:  # an adapter may return a request for approval as a tool call, but need not
        stated -= {"tool_calls"}
    if facts.whole_reasoning not in ("", facts.reasoning):  # pieces and whole differ; both are right
        stated -= {"reasoning"}
    if may_be_reasoning:
        stated -= {"message", "reasoning", "annotations"}
    return stated | ({"attachments"} if facts.media else frozenset())


def _may_be_reasoning(facts: WireFacts, api: Api, profile: ThinkProfile) -> bool:
    """Return True if nothing tells whether the text, or its beginning, is reasoning or part of the answer.

    There are three such cases. The prompt opens the think block and the answer does not close it: the model did not
    think, or was cut off while thinking. A tag closes a block that was never opened. A model writes tags although it is
    not known to write any.
    """
    if facts.reasoning:
        return False
    text, tag = facts.text, api.think_tag
    if profile == "prefilled":
        return not think_tags.is_closed(text, tag)
    if profile == "leading":
        return think_tags.closes_unopened(text, tag)
    opens = any(think_tags.begins_with_tag(text, name) for name in (tag, _SELDOM_TAG))
    return profile == "off" and (opens or think_tags.closes_on_a_line_of_its_own(text, tag))


def _has_outside_span(expected: Expected, facts: WireFacts) -> bool:
    """Return True if the span of a citation on the wire is not within the message."""
    pairs = zip(expected.annotations, facts.citations, strict=True)
    return any(annotation.start is None and citation.start is not None for annotation, citation in pairs)


def _is_known(interaction: Interaction, api: Api) -> bool:
    """Return True if an answer without content is of the documented form.

    The schema alone does not decide this, because it allows events of any other type.
    """
    documents = list(answers.documents(interaction))
    is_named = not documents or any(answers.is_named(each, api, interaction.streamed) for each in documents)
    return is_named and _matches_wire_schema(interaction, api)


def _matches_wire_schema(interaction: Interaction, api: Api) -> bool:
    """Return True if the body matches the wire schema. If it does not, an adapter may reject it."""
    part = f"wire/{api.wire}#/$defs/{'chunk' if interaction.streamed else 'response'}"
    return not any(True for document in answers.documents(interaction) for _ in schema.problems(part, document))
