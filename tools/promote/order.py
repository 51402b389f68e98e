"""The order of an answer: labels of the documents of a stream, and labels of the items of lists.

Two documents of a stream have the same label if they have the same type and the same meaningful fields. A field is
meaningful if a read rule of the format reads it: text, reasoning, calls, citations, the finish word, counts, errors.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.wire.paths import Place, places
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.read_rules import ONLY_CALL, ReadRule, as_list, compiled_rules, paths_of
from tools.promote.fields import BLOCKS, state, tag_of

CONTENTS = (
    *("content", "parts", "output", "steps", "tool_calls", "outputs", "summary", "thinking"),
    *("reasoning_details", "reasoningContent"),
)
"""The lists whose order counts. They have the parts of an answer."""
_KINDS = (
    *("error", "text", "reasoning", "refusal", "name", "arguments", "whole_arguments", "partial_arguments"),
    *("citation", "media", "opaque", "asks", "found", "finish", "usage"),
)
_CALLS = ("name", "arguments", "whole_arguments", "partial_arguments")
_SIGNS_OF_LIFE = frozenset({"ping", "keepalive"})
_WHOLE = ("usage", "citation", "media")
"""Read rules with these keys read a whole object, with all of its fields."""
_NOT_FIELDS = ("at", "block", "span", "start_default", "usage_replaces")


def labels(documents: Iterable[Any], api: Api, streamed: bool) -> list[str]:
    """Return the labels of the documents of a stream. Consecutive documents with the same label yield it once."""
    calls = _Calls()
    found = (_label(document, api, streamed, calls) for document in documents)
    return [label for label, _ in itertools.groupby(each for each in found if each not in _SIGNS_OF_LIFE)]


def lists(document: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield the path and the labels of each list of objects in a document.

    The label of an object is its type. If the object has no type, the label names its fields.
    """
    if isinstance(document, Mapping):
        own = f"{path}[{tag_of(document)}]" if tag_of(document) else path
        for key, value in document.items():
            yield from lists(value, f"{own}/{key}" if own else key)
    elif isinstance(document, list):
        if any(isinstance(item, Mapping) for item in document):
            found = [tag_of(item) or "+".join(sorted(_given(item))) for item in document]
            yield path, [label for label, _ in itertools.groupby(found)]
        for item in document:
            yield from lists(item, f"{path}/*")


def is_content(path: str) -> bool:
    """Return True if a list is part of what an answer consists of."""
    return path.endswith(CONTENTS) and "logprobs" not in path


def is_within(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return True if `other` has all labels of `one` in the same order, with or without others between them."""
    left = iter(other)
    return all(any(each == label for each in left) for label in one)


def read_fields(document: Any, api: Api, streamed: bool) -> Iterator[tuple[int, str]]:
    """Yield the fields of a document that read rules read, as (`id()` of their object, name)."""
    if not isinstance(document, Mapping):
        return
    for steps, rule in compiled_rules(api.wire, streamed):
        for place in places(document, steps):
            for key in rule:
                for path in paths_of(rule, key, api) if key not in _NOT_FIELDS else ():
                    if path.startswith(("#", "-")) or path == ".":
                        continue
                    holder, name = place.holder(path)
                    if isinstance(holder, Mapping) and name in holder:
                        yield id(holder), name
                for path in as_list(rule[key]) if key in _WHOLE else ():
                    yield from _within(place.find(path))


def _within(value: Any) -> Iterator[tuple[int, str]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield id(value), name
            yield from _within(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _within(item)


class _Calls:
    """Tells whether a piece belongs to a new call, to the one before it, or to an earlier one."""

    def __init__(self) -> None:
        self._seen: list[Any] = []
        self._last: Any = None

    def relation(self, key: Any) -> str:
        is_known, before = key in self._seen, self._last
        self._last = key
        if is_known:
            return "the call" if key == before else "an earlier call"
        self._seen.append(key)
        return "a call" if len(self._seen) == 1 else "another call"


def _given(item: Any) -> Iterator[str]:
    if isinstance(item, Mapping):
        yield from (key for key, value in item.items() if value not in (None, "", [], {}))


def _label(document: Any, api: Api, streamed: bool, calls: _Calls) -> str:
    if not isinstance(document, Mapping):
        return state(document)
    inner = [tag_of(document[key]) for key in BLOCKS if isinstance(document.get(key), Mapping)]
    found: dict[str, None] = {}
    for steps, rule in compiled_rules(api.wire, streamed):
        for place in places(document, steps):
            found |= dict.fromkeys(_kinds(place, rule, api, calls))
    return " ".join([*filter(None, [tag_of(document), *inner]), *found]) or "nothing"


def _kinds(place: Place, rule: ReadRule, api: Api, calls: _Calls) -> Iterator[str]:
    for kind in _KINDS:
        if kind not in rule:
            continue
        value = place.first(paths_of(rule, kind, api))
        if isinstance(value, list) and kind in ("text", "reasoning"):
            continue
        if value is not None:
            yield kind
        elif kind in ("text", "reasoning", "arguments"):
            yield from _empty(place, rule, kind, api)
    if any(kind in rule for kind in _CALLS):
        named = rule.get("call")
        if named is not None:
            key = ONLY_CALL if named == ONLY_CALL else str(place.first(as_list(named)))
            yield f"of {calls.relation(key)}"
        if "call_id" in rule and place.first(rule["call_id"]) is not None:
            yield "with its id"


def _empty(place: Place, rule: ReadRule, kind: str, api: Api) -> Iterator[str]:
    for path in paths_of(rule, kind, api):
        holder, name = place.holder(path)
        if isinstance(holder, Mapping) and name in holder:
            yield f"{kind} {state(holder[name])}"
            return
