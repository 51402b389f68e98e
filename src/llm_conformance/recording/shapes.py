"""The shape of a recorded response: its fields, types, event order and conventions, without its texts.

Two recordings of the same request may differ in every word. But the provider has changed if there is a new field, a
changed type, a changed order of events, token counts that no longer add up, or offsets in a different unit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance import schema
from llm_conformance.wire import answers
from llm_conformance.wire.answers import CitationFacts, WireFacts
from llm_conformance.wire.framings.server_sent_events import EVENT_STREAM
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api

# The model or the user chooses the fields of these objects, so they are content, not shape.
_FREE_FORM = frozenset({"input", "args", "arguments", "logit_bias", "metadata"})
UNITS: Mapping[str, Callable[[str], int]] = {
    "code points": len,
    "UTF-16 units": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
}
"""Maps a unit of offsets to a function that returns the length of a text in that unit."""

_DOCUMENTED = {"code points": "code points", "utf-8 bytes": "bytes"}


@dataclass(frozen=True)
class Shape:
    """The shape of a response.

    Attributes:
        status: The HTTP status.
        content_type: The content type without parameters.
        fields: Maps each path to its JSON types. In a stream, the path begins with the type of the chunk.
        order: The kinds of documents in the order of their first occurrence.
        claims: Maps the names of further properties to their values: whether the response ends, whether its counts add
            up, the unit of its offsets.
        problems: The violations of the documented schema.
    """

    status: int
    content_type: str
    fields: Mapping[str, frozenset[str]]
    order: tuple[str, ...]
    claims: Mapping[str, str]
    problems: tuple[str, ...]


def shape_of(interaction: Interaction, api: Api) -> Shape:
    """Return the shape of a response, as far as it can be read."""
    found, readable = _documents(interaction)
    claims = {"body": "JSON" if readable else "incomplete, or not JSON", **_framing(interaction)}
    try:
        claims |= dict(_claims(answers.derive(interaction, api), api, interaction.streamed))
    except answers.SHAPELESS:
        claims["body"] = f"not in the format of {api}" if readable else claims["body"]
    part = f"wire/{api.wire}#/$defs/{'chunk' if interaction.streamed else 'response'}"
    problems = _problems(part, found) if interaction.status < 400 else ()
    return Shape(
        status=interaction.status,
        content_type=interaction.headers.get("content-type", "").partition(";")[0].strip(),
        fields=_fields(found),
        order=tuple(dict.fromkeys(_kind(each, api, interaction.streamed) for each in found if not _is_keepalive(each))),
        claims=claims,
        problems=tuple(dict.fromkeys(problems)),
    )


_OR = " or "


def _may_be_the_same(was: str, now: str) -> bool:
    """Return True if two claims can both be true. In an ASCII text, for example, all units of offsets fit."""
    return was == now or not set(was.split(_OR)).isdisjoint(now.split(_OR))


def differences(old: Shape, new: Shape) -> Iterator[str]:
    """Yield the changes from one shape to another, one sentence each."""
    if old.status != new.status:
        yield f"the status was {old.status}, and is {new.status}"
    if old.content_type != new.content_type:
        yield f"the content type was {old.content_type or 'missing'}, and is {new.content_type or 'missing'}"
    for about in (*old.claims, *(key for key in new.claims if key not in old.claims)):
        was, now = old.claims.get(about, "missing"), new.claims.get(about, "missing")
        if not _may_be_the_same(was, now):
            yield f"{about}: was {was}, and is {now}"
    for path in sorted(old.fields.keys() | new.fields.keys()):
        was_types, types = old.fields.get(path), new.fields.get(path)
        if _lacks_parent(path, old.fields) or _lacks_parent(path, new.fields):
            continue
        if was_types is None and types is not None:
            yield f"field {path} has appeared ({_either(types)})"
        elif types is None and was_types is not None:
            yield f"field {path} has disappeared (it was {_either(was_types)})"
        elif types != was_types and types is not None and was_types is not None:
            yield f"field {path} was {_either(was_types)}, and is {_either(types)}"
    if old.order != new.order:
        yield f"the order was {_arrows(old.order)}; it is {_arrows(new.order)}"
    for problem in new.problems:
        if problem not in old.problems:
            yield f"it violates the schema: {problem}"


def _lacks_parent(path: str, fields: Mapping[str, frozenset[str]]) -> bool:
    """Return True if a field is missing because its list is empty, or because its parent is missing and reported."""
    if path in fields:
        return False
    above = path.rpartition("/")[0]
    if "/[" in path[len(above) :]:  # an item of a list, whose length is not part of the shape
        return "a list" in fields.get(above, ()) and not any(each.startswith(f"{above}/[") for each in fields)
    return bool(above) and above not in fields


def _is_keepalive(document: Any) -> bool:
    return isinstance(document, Mapping) and document.get("type") in ("ping", "keepalive")


def _documents(interaction: Interaction) -> tuple[list[Any], bool]:
    """Return (JSON documents up to the first unreadable one, whether all could be read) of a response."""
    found: list[Any] = []
    try:
        for document in answers.documents(interaction):
            found.append(document)  # one by one, to keep the documents before an error
    except answers.SHAPELESS:
        return found, False
    return found, True


def _fields(documents: Iterable[Any]) -> dict[str, frozenset[str]]:
    types: dict[str, set[str]] = {}
    for document in documents:
        kind = document.get("type") if isinstance(document, Mapping) else None
        for path, name in _walk(document, f"{kind}:" if isinstance(kind, str) else ""):
            types.setdefault(path, set()).add(name)
    return {path: frozenset(names) for path, names in types.items()}


def _walk(value: Any, path: str) -> Iterator[tuple[str, str]]:
    yield path or "(the body)", _type(value)
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name in _FREE_FORM:
                yield f"{path}/{name}", _type(inner)
            else:
                yield from _walk(inner, f"{path}/{name}")
    elif isinstance(value, list):
        for inner in value:
            kind = inner.get("type") if isinstance(inner, Mapping) else None
            yield from _walk(inner, f"{path}/[{kind if isinstance(kind, str) else ''}]")


def _type(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    names |= {int: "an integer", float: "a number"}
    return names.get(type(value), "a number")


def _kind(document: Any, api: Api, streamed: bool) -> str:
    """Return the kind of a document: its `type` and the keys of the read rules that find something in it."""
    held = answers.kinds(document, api, streamed) if isinstance(document, Mapping) else ()
    named = document.get("type") if isinstance(document, Mapping) else None
    contents = "+".join(held)
    if isinstance(named, str):
        return f"{named}({contents})" if contents else named
    return contents or "nothing"


def _framing(interaction: Interaction) -> dict[str, str]:
    """Return the claims about the framing of a stream."""
    if not interaction.streamed:
        return {}
    if interaction.framing is not EVENT_STREAM:
        return {"framing": interaction.framing.name if interaction.framing else ""}
    lines = interaction.body.splitlines()
    return {
        "line ends": "CR LF" if b"\r\n" in interaction.body else "LF",
        "event names": "present" if any(line.startswith(b"event:") for line in lines) else "missing",
        "[DONE]": "present" if any(line.removeprefix(b"data:").strip() == b"[DONE]" for line in lines) else "missing",
    }


def _claims(facts: WireFacts, api: Api, streamed: bool) -> Iterator[tuple[str, str]]:
    if facts.error:
        yield "an error", "in the response"
    if streamed:
        yield "the end", "marked" if facts.finish is not None or facts.ended else "missing: the stream is incomplete"
    if facts.finish is not None:
        yield "finish reason", "known" if facts.finish in api.finish else f"unknown ({facts.finish!r})"
    yield "counts", _counts(facts, api)
    if facts.citations:
        yield "offsets count", _offsets(facts, api)


def _counts(facts: WireFacts, api: Api) -> str:
    usage = api.normalise(facts.usage)
    if usage is None:
        return "none"
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return "some are missing"
    whole = usage.prompt_tokens + usage.completion_tokens
    return "prompt + completion = total" if usage.total_tokens == whole else "prompt + completion is not the total"


def _offsets(facts: WireFacts, api: Api) -> str:
    """Return the unit in which the offsets of all citations fit the text. The documented unit comes first."""
    placed = [each for each in facts.citations if each.start is not None and each.end is not None]
    if not placed:
        return "nothing (there are no offsets)"
    fitting = [unit for unit in UNITS if all(_fits(each, facts, unit) for each in placed)]
    documented = _DOCUMENTED.get(api.offset_unit)
    if documented in fitting:
        return f"{documented}, as documented"
    return _OR.join(fitting) or "no unit that fits"


def _fits(citation: CitationFacts, facts: WireFacts, unit: str) -> bool:
    text = facts.text if citation.block is None else facts.blocks.get(citation.block, "")
    places = _place(text, citation.start or 0, unit), _place(text, citation.end or 0, unit)
    if places[0] is None or places[1] is None:
        return False
    marked = text[places[0] : places[1]]
    if citation.annotated is not None:
        return marked == citation.annotated
    link = citation.data.get("url")
    if isinstance(link, str) and link in text:
        return link in marked
    # A citation does not begin or end within a word.
    edges = (text[places[0] - 1 : places[0] + 1], text[places[1] - 1 : places[1] + 1])
    return not any(len(edge) == 2 and edge.isascii() and edge.isalnum() for edge in edges)


def _place(text: str, offset: int, unit: str) -> int | None:
    """Convert an offset from a unit to code points; None if it is outside the text or within a character."""
    count = 0
    for place, character in enumerate(text):
        if count >= offset:
            return place if count == offset else None
        count += UNITS[unit](character)
    return len(text) if count == offset else None


def _problems(part: str, documents: Iterable[Any]) -> Iterator[str]:
    for document in documents:
        for where, message in schema.problems(part, document):
            path = "/".join("[]" if isinstance(step, int) else step for step in where)
            yield f"/{path}: {json.dumps(message)[1:-1]}" if "\n" in message else f"/{path}: {message}"


def _either(types: Iterable[str]) -> str:
    return " or ".join(sorted(types))


def _arrows(order: tuple[str, ...]) -> str:
    return " > ".join(order) or "nothing"
