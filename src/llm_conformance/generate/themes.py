"""What is generated for each row of the provider table, as scenarios like the recorded ones.

A theme draws answers that are rich in one thing, writes them in the row's format, and states what a correct adapter
returns: from what was drawn, never by reading the bytes back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from llm_conformance.cassette import Interaction
from llm_conformance.generate import answers, framing, texts
from llm_conformance.generate.answers import Answer, Reasoning, Text
from llm_conformance.generate.chance import at_most, either, some
from llm_conformance.generate.cuts import cuts
from llm_conformance.generate.think import all_think_texts
from llm_conformance.generate.wires import WIRES
from llm_conformance.generate.wires.base import MODEL, Wire
from llm_conformance.locations import CASSETTES
from llm_conformance.providers import Provider
from llm_conformance.scenarios import MODES, Mode, Scenario, Truth, recut

MESSAGES = ({"role": "user", "content": "(generated)"},)


@dataclass(frozen=True)
class Theme:
    """A kind of answers.

    Attributes:
        effort: How many examples it gets, as a multiple of the usual number.
        suits: Whether a row of the provider table has anything of the kind.
        drawn: Draws an answer of a row.
        breaks: Whether the answers are streams that come to no good end.
    """

    name: str
    title: str
    effort: int
    suits: Callable[[Provider], bool]
    drawn: Callable[[DrawFn, Wire, Provider], Answer]
    breaks: bool = False

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that it makes sense in."""
        return ("stream",) if self.breaks else MODES

    def scenarios(self, row: Provider, mode: Mode) -> SearchStrategy[Scenario]:
        """Return generated scenarios of a row; a stream comes with a way to cut it."""
        return _scenarios(self, row, mode)

    def scenario_id(self, row: Provider) -> str:
        """Return the id under which all scenarios of the theme and row are counted."""
        return f"{row.id}/generated-{row.api}-{self.name}"


def _anything(draw: DrawFn, wire: Wire, row: Provider) -> Answer:
    return wire.answer(draw, row, wire.blocks(draw, row))


def _thinking(draw: DrawFn, wire: Wire, row: Provider) -> Answer:
    text = draw(all_think_texts())
    native = some(draw) and row.reasoning_fields and row.wire == "chat" and text.profile == "off"
    before = (Reasoning(draw(texts.reasonings().filter(bool))),) if native else ()
    return wire.answer(draw, row, (*before, Text(text.message)), text)


def _citing(draw: DrawFn, wire: Wire, row: Provider) -> Answer:
    if either(draw) and row.think:
        think = draw(all_think_texts())
        block = answers.cited(draw, think.message)
        whole = tuple(each for each in block.citations if think.on_the_wire(each.start, each.end))
        return wire.answer(draw, row, (Text(block.text, whole),), think)
    blocks = draw(st.composite(lambda draw: wire.blocks(draw, row))().filter(_has_citations))
    return wire.answer(draw, row, blocks)


def _has_citations(blocks: tuple[answers.Block, ...]) -> bool:
    return any(isinstance(block, Text) and block.citations for block in blocks)


def _counting(draw: DrawFn, wire: Wire, row: Provider) -> Answer:
    return wire.answer(draw, row, (Text(draw(texts.answers(2))),))


THEMES = (
    Theme("answers", "an answer with anything that the provider has", 2, lambda row: True, _anything),
    Theme("think-blocks", "reasoning between tags in the text", 4, lambda row: bool(row.think), _thinking),
    Theme(
        "citations",
        "citations in every position",
        2,
        lambda row: row.offset_unit != "none" or row.wire == "messages",
        _citing,
    ),
    Theme("usage", "token counts", 1, lambda row: True, _counting),
    Theme("broken-streams", "a stream that breaks off, or fails", 1, lambda row: True, _anything, breaks=True),
)


@st.composite
def _scenarios(draw: DrawFn, theme: Theme, row: Provider, mode: Mode) -> Scenario:
    wire = WIRES[row.wire]
    answer = theme.drawn(draw, wire, row)
    bodies: dict[Mode, bytes] = {}
    if theme.breaks:
        bodies["stream"] = _broken_stream(draw, wire, answer)
        truth = Truth(stated=frozenset({"error"}), error="LLMError")
    else:
        bodies["json"] = framing.document(draw, wire.body(draw, answer))
        if mode == "stream":
            bodies["stream"] = framing.stream(draw, wire.frames(draw, answer), wire.line_end)
        truth = _truth(answer, wire)
    cut = draw(st.one_of(st.none(), cuts(bodies["stream"]))) if mode == "stream" else None
    scenario = Scenario(
        id=theme.scenario_id(row),
        path=CASSETTES / row.id / f"generated-{row.api}-{theme.name}.scenario.yaml",
        title=f"Generated: {theme.title}",
        provider=row,
        think_profile=answer.profile,
        model=MODEL,
        messages=MESSAGES,
        tools=(),
        params={name: _params(answer) for name in bodies},
        match=(),
        interactions={name: _interaction(row, name, body, _params(answer)) for name, body in bodies.items()},
        same_content=len(bodies) == 2,
        truths=dict.fromkeys(bodies, truth),
        evidence="generated",
    )
    return scenario if cut is None else recut(scenario, cut)


def _truth(answer: Answer, wire: Wire) -> Truth:
    audio = [block for block in answer.blocks if isinstance(block, answers.Audio)]
    by_tag = answer.think is not None and answer.think.sent != answer.message
    stated = {"id", "model", "message", "reasoning", "segments", "annotations", "tool_calls", "usage"}
    return Truth(
        stated=frozenset({*stated, "finish_reason", "raw_finish_reason", *(("attachments",) if audio else ())}),
        ids=wire.ids,
        model=MODEL,
        message=answer.message,
        reasoning=answer.reasoning,
        reasoning_source="tag" if by_tag else "native",
        segments=tuple(answer.segments(wire.seal)),
        annotations=tuple(wire.annotations(answer)),
        attachments=tuple(
            {"id": "audio-1", "type": "audio/wav", "data": block.data, "transcript": block.transcript}
            for block in audio
        ),
        tool_calls=answer.tool_calls,
        usage=answer.counts.usage,
        finish_reasons=answer.finish_reasons,
        raw_finish_reasons=wire.raw_finish_reasons(answer),
        offset_unit=answer.row.offset_unit,
    )


def _params(answer: Answer) -> Mapping[str, Any]:
    spoken = any(isinstance(block, answers.Audio) for block in answer.blocks)
    return {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}} if spoken else {}


def _broken_stream(draw: DrawFn, wire: Wire, answer: Answer) -> bytes:
    """Draw a stream that ends before anything says that it has ended, or in which the server says that it failed."""
    frames = wire.frames(draw, answer)
    unfinished = list(_before_the_end(frames, answer))
    kept = unfinished[: at_most(draw, len(unfinished))]
    if either(draw) or not kept:
        kept.append(wire.error_frame(answer.row))
    return framing.stream(draw, kept, wire.line_end)


def _before_the_end(frames: Sequence[framing.Frame], answer: Answer) -> Iterator[framing.Frame]:
    word = f'"{answer.word}"'
    for frame in frames:
        if frame.data == "[DONE]" or word in json.dumps(frame.data) or frame.event == "message-end":
            return
        yield frame


def _interaction(row: Provider, mode: Mode, body: bytes, params: Mapping[str, Any]) -> Interaction:
    streamed = mode == "stream"
    asked: dict[str, Any] = {"messages": list(MESSAGES), **params}
    if not row.names_model_in_path:
        asked["model"] = MODEL
    if streamed and row.path == row.stream_path:
        asked["stream"] = True
    base = row.base_urls[0].replace("{account_id}", "0" * 32)
    kind = "text/event-stream" if streamed else "application/json"
    return Interaction(base + row.path_for(streamed, MODEL), asked, 200, {"content-type": kind}, body)
