"""Traits of the values of an answer, as claims: which parts it has, its letters, calls, spans and counts."""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

from llm_conformance.contract import Usage
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.answers import WireFacts
from llm_conformance.wire.providers.api import COUNTS, Api

Kind = Literal[
    "answer", "absence", "letters", "white space", "tags", "spans", "arguments", "count", "zero", "model", "json"
]
Found = Iterator[tuple[Kind, str]]

_TAG = re.compile(r"<\s*(/?\s*(?:think|thinking|thought|reasoning|analysis|scratchpad)\b[^>]{0,20})>", re.IGNORECASE)
_LINK = re.compile(r"\[[^\]]*\]\(https?://")
_DATE = re.compile(r"[-@]?(\d{8}|\d{4}-\d\d-\d\d|\d{4}|latest|preview)(-v\d+(:\d+)?)?$")


def traits(facts: WireFacts, expected: Expected, api: Api, model: str) -> Found:
    """Yield the traits of an answer, each with the kind of its claim."""
    yield from _parts(facts, expected)
    yield from _texts(facts, expected, api)
    yield from _calls(facts)
    yield from _citations(facts, expected)
    yield from _counts(facts, expected)
    yield "answer", f"an answer that ends as {' or '.join(map(str, expected.finish_reasons))}"
    for name, values in (("ids", facts.ids), ("times", facts.times)):
        if len(values) > 1:
            yield "answer", f"several {name}"
    if facts.model and facts.model != model:
        is_dated = _DATE.sub("", facts.model) == _DATE.sub("", model)
        yield "model", f"the model is named {'with its date' if is_dated else 'in another way'}"


def _parts(facts: WireFacts, expected: Expected) -> Found:
    """Yield a claim for each part of an answer: that the answer has the part, or that the part is missing."""
    parts = {
        "text": expected.message,
        "reasoning": expected.reasoning,
        "calls": facts.tool_calls,
        "citations": facts.citations,
        "a refusal": facts.refusal,
        "media": facts.media,
        "sealed data": any(facts.opaque),
        "a finish word": facts.finish,
        "counts": facts.usage,
        "an error": facts.error,
        "an id": facts.ids,
        "a model": facts.model,
    }
    for name, value in parts.items():
        yield ("answer", f"an answer with {name}") if value else ("absence", f"an answer without {name}")


def _texts(facts: WireFacts, expected: Expected, api: Api) -> Found:
    if facts.text_is_json:
        yield "answer", "a text that is another JSON value than a string"
    arguments = "".join(call[2] for call in facts.tool_calls)
    for name, text in (("text", expected.message), ("reasoning", expected.reasoning or ""), ("arguments", arguments)):
        yield from (("letters", f"{name} with {trait}") for trait in _letters(text))
    for name, text in (("text", expected.message), ("reasoning", expected.reasoning or "")):
        if text[:1].isspace():
            yield "white space", f"{name} that begins with white space"
        if text[-1:].isspace():
            yield "white space", f"{name} that ends with white space"
        yield from (("tags", f"{name} with the tag {found[1].lower().strip()}") for found in _TAG.finditer(text))
    yield from _think_block(facts, expected, api)
    if expected.message.lstrip()[:1] in ("{", "[") and _is_json(expected.message):
        yield "json", "a text that is JSON"


def _think_block(facts: WireFacts, expected: Expected, api: Api) -> Found:
    if facts.reasoning or facts.text == expected.message:
        return
    yield "answer", "reasoning between think tags"
    opens, closes = (tag in facts.text for tag in (f"<{api.think_tag}>", f"</{api.think_tag}>"))
    yield "answer", "a think block that begins" if opens else "a think block without its beginning"
    yield "answer", "a think block that ends" if closes else "a think block without its end"
    if not (expected.reasoning or "").strip():
        yield "answer", "a blank think block"


def _letters(text: str) -> Iterator[str]:
    if not text.isascii():
        yield "letters that are not ASCII"
    if any(ord(letter) > 0xFFFF for letter in text):
        yield "letters beyond the basic plane"
    for name, letters in (("line separators of Unicode", "\u2028\u2029\x85"), ("a carriage return", "\r")):
        if any(letter in text for letter in letters):
            yield name
    if any(unicodedata.combining(letter) for letter in text):
        yield "combining letters"


def _calls(facts: WireFacts) -> Found:
    calls = facts.tool_calls
    names = {name for _, name, _ in calls}
    if len(calls) > 1:
        yield "answer", "several calls"
        yield "arguments", "several calls of one tool" if len(names) < len(calls) else "calls of several tools"
    for id, _, arguments in calls:
        if not id:
            yield "answer", "a call without an id"
        if not arguments:
            yield "arguments", "a call whose arguments are empty"
        elif not _is_json(arguments):
            yield "answer", "a call whose arguments are no JSON"
        elif json.loads(arguments) == {}:
            yield "arguments", "a call whose arguments are an empty object"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _citations(facts: WireFacts, expected: Expected) -> Found:
    for wire, found in zip(facts.citations, expected.annotations, strict=True):
        if found.start is None:
            is_outside = wire.start is not None
            yield "answer", f"a citation {'with a span outside of the text' if is_outside else 'without a span'}"
            continue
        yield "answer", "a citation with a span"
        before = expected.message[: found.start]
        if not before.isascii():
            yield "letters", "a citation behind letters that are not ASCII"
        if any(ord(letter) > 0xFFFF for letter in before):
            yield "letters", "a citation behind letters beyond the basic plane"
        if _LINK.search(found.text or ""):
            yield "spans", "a citation of a link"
        if found.text == "":
            yield "spans", "a citation of no text"
    spans = [(each.start, each.end) for each in expected.annotations if each.start is not None and each.end is not None]
    for (start, end), (other_start, other_end) in itertools.combinations(spans, 2):
        if (start, end) == (other_start, other_end):
            yield "spans", "citations of the same span"
        elif start < other_end and other_start < end:
            yield "spans", "citations that overlap"
        if other_start < start:
            yield "spans", "citations that are not in the order of the text"
    if len(facts.blocks) > 1 and any(each.block == list(facts.blocks)[-1] for each in facts.citations):
        yield "spans", "a citation in the last of several blocks"


def _counts(facts: WireFacts, expected: Expected) -> Found:
    usage = expected.usage or Usage()
    for name in COUNTS if facts.usage else ():
        value = getattr(usage, name)
        if value is not None:
            yield "count", f"{name} is counted"
            yield "zero", f"{name} is {'0' if value == 0 else 'not 0'}"
    for name in expected.oversized:
        yield "answer", f"{name} is larger than its whole"
