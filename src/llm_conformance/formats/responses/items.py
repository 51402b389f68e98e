"""Output items, and the whole response with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.formats.responses import variations as vary
from llm_conformance.generate.answers import TOOL_NAMES, Answer, Block, Call, Citation, Hosted, Reasoning, Refusal, Text
from llm_conformance.generate.chance import pick
from llm_conformance.generate.generator import CREATED
from llm_conformance.generate.ids import draw_id
from llm_conformance.generate.variations import as_empty, choose, empty, ways_of
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]

COMPLETED = "completed"

HOSTED_TOOLS = ("web_search_call", "file_search_call", "code_interpreter_call")
"""The types of hosted calls that a generator can write."""

DECLARED: Mapping[str, Mapping[str, Any]] = {
    "web_search_call": {"type": "web_search"},
    "file_search_call": {"type": "file_search", "vector_store_ids": ["vs_1"]},
    "code_interpreter_call": {"type": "code_interpreter", "container": {"type": "auto"}},
}
"""How a request declares the tools of these calls."""


def head(answer: Answer) -> Fields:
    """Return the fields that the response has from its start."""
    start = {"id": answer.id, "object": "response", "created_at": CREATED, "model": answer.model}
    repeats_tools = "tools" in answer.api.further.get(".[object=response]", ())
    return {**start, "tools": [*_tools(answer)]} if repeats_tools else start


def _tools(answer: Answer) -> Iterator[Mapping[str, Any]]:
    """Yield the tools of the request. The response repeats them."""
    ran = dict.fromkeys(block.tool for block in answer.blocks if isinstance(block, Hosted))
    yield from (DECLARED[tool] for tool in ran)
    for name in TOOL_NAMES if answer.calls or answer.is_second else ():
        about = {"description": None, "parameters": {"type": "object"}, "strict": False}
        yield {"type": "function", "name": name, **about}


def response(draw: DrawFn, answer: Answer, items: Sequence[Fields]) -> Fields:
    """Draw the whole response."""
    whole = answer.word == COMPLETED
    if whole:
        end = {"status": COMPLETED, **empty(draw, answer.api, vary.INCOMPLETE, "incomplete_details")}
    else:
        end = {"status": "incomplete", "incomplete_details": {"reason": answer.word}}
    error = empty(draw, answer.api, vary.ERROR, "error")
    return {**head(answer), **end, **error, "output": list(items), "usage": answer.counts.raw}


def draw_items(draw: DrawFn, answer: Answer) -> list[Fields]:
    """Draw the items of an answer. The last item of an incomplete answer is incomplete."""
    items = []
    for index, block in enumerate(answer.blocks):
        is_last = index == len(answer.blocks) - 1
        status = "incomplete" if is_last and answer.word != COMPLETED else COMPLETED
        items.append(_item(draw, answer.api, index, block, status, is_last))
    return items


def _item(draw: DrawFn, api: Api, index: int, block: Block, status: str, is_last: bool) -> Fields:
    if isinstance(block, Reasoning):
        return _reasoning(draw, api, index, block, status)
    if isinstance(block, Call):
        id = draw_id(draw, api, "function_call", index)
        has_id = choose(draw, api, vary.CALL_ID) == "id"
        named = {"id": id} if has_id else {"item_id": id, "output_index": index}
        call = {"call_id": block.id, "name": block.name, "arguments": block.arguments or "{}"}
        return {"type": "function_call", **named, "status": status, **call}
    if isinstance(block, Hosted):
        return {"type": block.tool, "id": block.id, "status": COMPLETED, **_HOSTED[block.tool]}
    if isinstance(block, Refusal):
        part: Fields = {"type": "refusal", "refusal": block.text}
    elif isinstance(block, Text):
        part = _text(draw, api, block)
    else:
        raise NotImplementedError(type(block))
    item = {"type": "message", "id": draw_id(draw, api, "message", index), "role": "assistant", "status": status}
    return {**item, **_phase(draw, api, is_last), "content": [part]}


_HOSTED: Mapping[str, Fields] = {
    "web_search_call": {"action": {"type": "search", "query": "a", "queries": ["a"]}},
    "file_search_call": {"queries": ["a"], "results": None},
    "code_interpreter_call": {"code": "print(1)", "container_id": "cntr_1", "outputs": None},
}


def _text(draw: DrawFn, api: Api, block: Text) -> Fields:
    annotations = [annotation(each) for each in block.citations]
    listed = {"annotations": annotations} if annotations else empty(draw, api, vary.ANNOTATIONS, "annotations", [])
    return {"type": "output_text", "text": block.text, **listed, **empty(draw, api, vary.LOGPROBS, "logprobs", [])}


def annotation(citation: Citation) -> Fields:
    """Return a `url_citation`. Its offsets are relative to the content part that has it."""
    source = {"type": "url_citation", "url": f"https://example.org/{citation.number}", "title": "Found"}
    return {**source, "start_index": citation.start, "end_index": citation.end}


def _phase(draw: DrawFn, api: Api, is_last: bool) -> Fields:
    """Draw the phase of a message. Only the last message is the final answer."""
    known = ways_of(api, vary.PHASE)
    fitting = [way for way in known if way != ("commentary" if is_last else "final_answer")]
    way = pick(draw, *(fitting or known))
    return {} if way == "absent" else {"phase": None if way == "null" else way}


def _reasoning(draw: DrawFn, api: Api, index: int, block: Reasoning, status: str) -> Fields:
    item: Fields = {"type": "reasoning", "id": draw_id(draw, api, "reasoning", index), "summary": []}
    if choose(draw, api, vary.STATUS) == "given":
        item["status"] = status
    if block.text and place_of(api, block) == "content":
        item["content"] = [reasoning_part(api, block)]
    else:
        item["summary"] = [reasoning_part(api, block)] if block.text else []
        item |= empty(draw, api, vary.CONTENT_OF_REASONING, "content", [])
    if block.seal:
        return item | {"encrypted_content": block.seal}
    unsealed = [way for way in ways_of(api, vary.SIGNATURE) if way != "given"]
    return item | as_empty(pick(draw, *(unsealed or ["absent"])), "encrypted_content")


def place_of(api: Api, block: Reasoning) -> str:
    """Return the field with the text of reasoning. The field stays the same each time that a block is written."""
    known = ways_of(api, vary.PLACE)
    return known[len(block.text) % len(known)]


def reasoning_part(api: Api, block: Reasoning) -> Fields:
    """Return the part with the text of reasoning."""
    kind = "reasoning_text" if place_of(api, block) == "content" else "summary_text"
    return {"type": kind, "text": block.text}
