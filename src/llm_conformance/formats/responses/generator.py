"""Generator of OpenAI responses: output items, or the events that build them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.formats.responses import variations as vary
from llm_conformance.formats.responses.events import events_of_items, is_numbered
from llm_conformance.formats.responses.items import (
    COMPLETED,
    DECLARED,
    HOSTED_TOOLS,
    Fields,
    annotation,
    draw_items,
    head,
    place_of,
    reasoning_part,
    response,
)
from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Call, Citation, Hosted, Reasoning, Refusal, Text
from llm_conformance.generate.block_ways import KINDS
from llm_conformance.generate.blocks import BlocksGenerator
from llm_conformance.generate.chance import at_most
from llm_conformance.generate.generator import Generator
from llm_conformance.generate.ids import draw_id
from llm_conformance.generate.variations import Variation, choose, empty, ways_of
from llm_conformance.scenarios.expected import ExpectedAnnotation
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api


class ResponsesGenerator(BlocksGenerator):
    """Writes a `response` with items. Offsets count in the content part with the annotation."""

    seal: ClassVar[str] = "encrypted"
    history: ClassVar[str] = "input"
    structure: ClassVar[tuple[str, ...]] = ("/output", "/output/0")
    carriers: ClassVar[tuple[str, ...]] = ("response.completed", "response.incomplete")
    hosted_calls: ClassVar[Mapping[str, str]] = {tool: tool for tool in HOSTED_TOOLS}
    declared: ClassVar[Mapping[str, Mapping[str, Any]]] = DECLARED
    places: ClassVar[tuple[str, ...]] = ("url_citation",)
    found_by: ClassVar[Mapping[str, str]] = {"url_citation": "web_search_call"}
    signature: ClassVar[Variation] = vary.SIGNATURE

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw reasoning, messages and hosted calls in any order, then calls.

        In a few cases, draw a refusal instead.
        """
        if "refusal" in ways_of(api, KINDS) and at_most(draw, 7) == 7:
            return (Refusal(draw(texts.answers(3).filter(bool))),)
        return super().blocks(draw, api)

    def hosted(self, draw: DrawFn, api: Api, number: int, result: str, failed: bool) -> tuple[Block, ...]:
        """Draw a hosted call that succeeds. Its result has no block of its own."""
        return (Hosted(draw_id(draw, api, result, number), result, "{}"),)

    def settled(self, draw: DrawFn, answer: Answer, mode: Mode) -> Answer:
        """Return the answer. A refusal always has the status of a complete answer."""
        return replace(answer, word=COMPLETED) if answer.refusal else super().settled(draw, answer, mode)

    def params(self, answer: Answer) -> Mapping[str, Any]:
        """Return the tools that the provider runs, and the fields that ask for encrypted reasoning.

        An API that stores answers needs no encrypted reasoning: a request gives the ids of the items instead.
        """
        is_sealed = any(isinstance(block, Reasoning) and block.seal for block in answer.blocks)
        sealed = {"store": False, "include": ["reasoning.encrypted_content"]} if is_sealed else {}
        return {**super().params(answer), **sealed}

    def words(self, api: Api) -> Mapping[str, str | None]:
        """Return the status of a complete answer, and the reasons for an incomplete one."""
        words = (COMPLETED, "max_output_tokens", "content_filter")
        return {word: api.finish[word] for word in words if word in api.finish}

    def raw_finish_reasons(self, answer: Answer) -> tuple[str | None, ...]:
        """Return the reason for an incomplete answer, and its status. An adapter may return either."""
        return (answer.word,) if answer.word == COMPLETED else (answer.word, "incomplete")

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a `url_citation`."""
        return {key: value for key, value in annotation(citation).items() if not key.endswith("_index")}

    def annotations(self, answer: Answer) -> Iterator[ExpectedAnnotation]:
        """Yield the annotations that the adapter has to return."""
        return Generator.annotations(self, answer)

    def sends_back_of(self, api: Api) -> bool:
        """Return True if reasoning may be encrypted.

        Reasoning that is not encrypted goes back only to a server that stores it.
        """
        return "given" in ways_of(api, self.signature)

    def reasoning_to_send_back(self, draw: DrawFn, api: Api, text: str) -> Reasoning:
        """Draw encrypted reasoning."""
        return Reasoning(text, answers.seals(draw))

    def sent_back(self, answer: Answer) -> Mapping[str, Any]:
        """Return the reasoning items without their ids. Only a server that has stored the items knows the ids."""
        return {
            f"/input/{1 + index}": _sent_back(answer.api, block)
            for index, block in enumerate(answer.blocks)
            if isinstance(block, Reasoning)
        }

    def turn(self, answer: Answer) -> list[Mapping[str, Any]]:
        """Return the items without their ids, as `sent_back` does."""
        return [_item_sent_back(answer.api, block) for block in answer.blocks]

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a `response`."""
        return response(draw, answer, draw_items(draw, answer))

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream of events. The last one has the whole response. APIs that send `[DONE]` do not name events."""
        api = answer.api
        started: Fields = {**head(answer), "status": "in_progress", "error": None, "output": [], "usage": None}
        started |= empty(draw, api, vary.INCOMPLETE, "incomplete_details")
        kinds = ["created"] + (["in_progress"] if choose(draw, api, vary.IN_PROGRESS) == "sent" else [])
        events: list[Fields] = [{"type": f"response.{kind}", "response": started} for kind in kinds]
        items = draw_items(draw, answer)
        events += events_of_items(draw, api, items)
        has_output = choose(draw, api, vary.LAST_OUTPUT) == "given"
        whole = response(draw, answer, items if has_output else [])
        if "error" not in whole:  # then it is absent at the start, too
            del started["error"]
        events.append({"type": f"response.{whole['status']}", "response": whole})
        if is_numbered(draw, api):
            events = [{**event, "sequence_number": number} for number, event in enumerate(events)]
        as_chat = api.end_marker == "[DONE]"
        last = events[-1]["type"]
        frames = [Frame(event, None if as_chat else event["type"], ends=event["type"] == last) for event in events]
        return [*frames, Frame("[DONE]")] if as_chat else frames


def _item_sent_back(api: Api, block: Block) -> Fields:
    if isinstance(block, Reasoning):
        return {"summary": [], **_sent_back(api, block)}
    if isinstance(block, Call):
        called = {"call_id": block.id, "name": block.name, "arguments": block.arguments or "{}"}
        return {"type": "function_call", **called}
    if isinstance(block, Text):
        return {"role": "assistant", "content": block.text}
    raise NotImplementedError(type(block))


def _sent_back(api: Api, block: Reasoning) -> Fields:
    """Return the part of a reasoning item that goes back.

    It has the text only if the row names the field with the text.
    """
    item: Fields = {"type": "reasoning"}
    place = place_of(api, block)
    if not block.text or place in api.hidden_fields:
        item |= {"summary": []} | ({place: [reasoning_part(api, block)]} if block.text else {})
    return item | ({"encrypted_content": block.seal} if block.seal else {})
