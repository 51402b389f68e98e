"""Compare a request with the recorded one, to see whether the recorded answer fits it.

A request has to ask for everything that the recorded request asks for. It may have more fields. Some differences do not
count: libraries add defaults, split and join messages, move system messages, make their own ids, and format JSON in
their own way. If it is not clear whether two requests are equal, they count as equal.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.compare import as_json, show, without_space
from llm_conformance.formats.media import MEDIA, contents
from llm_conformance.formats.requests import turns, with_references
from llm_conformance.formats.switches import missing_switch, set_switches
from llm_conformance.formats.tools import Tool, tools_of
from llm_conformance.formats.turns import Turn
from llm_conformance.wire.providers.api import Api

_ROLES = ("system", "user", "assistant", "tool", "documents")
_OF_ANSWERS = ("assistant", "tool")
_BY_KIND = {"call": "tools", "result": "tools", "document": "annotations", "search result": "annotations"}
_BY_KIND["audio"] = "audio"


@dataclass(frozen=True)
class Difference:
    """The first difference between two requests.

    Attributes:
        expected: What the recorded request has or lacks.
        actual: What the other request has in its place.
        capability: The capability that an adapter needs to send what was recorded; None if it needs none.
    """

    expected: str
    actual: str
    capability: str | None = None

    def __str__(self) -> str:
        """Return the difference in one line."""
        return f"the adapter sent {self.actual}; recorded was {self.expected}"


@dataclass(frozen=True)
class Scope:
    """What is compared.

    Attributes:
        answers: Whether earlier answers and tool results are compared. If False, only the files of the conversation are
            compared.
        follows_answers: Whether the call has earlier answers of the model. A difference in their turns then belongs to
            the capability `round_trip`.
        answer_texts: Whether the texts of earlier answers are compared. They are not if the provider allows reasoning
            in them.
        thinking: Whether the thinking switches are compared.
        usage: Whether the switch that asks a stream for its token counts is compared.
    """

    answers: bool = True
    follows_answers: bool = False
    answer_texts: bool = True
    thinking: bool = True
    usage: bool = True


def difference(
    sent: Mapping[str, Any], recorded: Mapping[str, Any], api: Api, scope: Scope | None = None
) -> Difference | None:
    """Return the first difference between two requests; None if the recorded answer fits both."""
    scope, sent = scope or Scope(), with_references(sent, recorded, api.wire)
    found = _different_tool(list(tools_of(sent)), list(tools_of(recorded))) or _different_turn(
        _turns(sent, api), _turns(recorded, api), scope
    )
    if found is not None:
        return found
    switch = missing_switch(sent, recorded, api, thinking=scope.thinking, usage=scope.usage)
    if switch is None:
        return None
    return Difference(f"a switch for {switch.name}", f"no switch for {switch.name}", switch.capability)


def asked_capabilities(request: Mapping[str, Any], api: Api) -> Iterator[str]:
    """Yield the capabilities that an adapter needs for the parts of a request."""
    yield from map(_capability_of, tools_of(request))
    yield from (_BY_KIND[turn.kind] for turn in _turns(request, api) if turn.kind in _BY_KIND)
    yield from (switch.capability for switch in set_switches(request, api) if switch.capability)


def _different_tool(sent: list[Tool], recorded: list[Tool]) -> Difference | None:
    by_name = {(tool.name, tool.hosted): tool for tool in sent}
    wanted = {(tool.name, tool.hosted) for tool in recorded}
    for tool in recorded:
        own = by_name.get((tool.name, tool.hosted))
        if own is None:
            return Difference(str(tool), _listed(sent), _capability_of(tool))
        if tool.parameters and own.parameters is not None and not tool.parameters <= own.parameters:
            lost = ", ".join(sorted(tool.parameters - own.parameters))
            return Difference(f"{tool} with the parameter {lost}", f"{tool} without it", "tools")
    more = next((tool for tool in sent if (tool.name, tool.hosted) not in wanted), None)
    return None if more is None else Difference(_listed(recorded), _listed(sent), _capability_of(more))


def _listed(tools: list[Tool]) -> str:
    return ", ".join(dict.fromkeys(map(str, tools))) or "no tools"


def _capability_of(tool: Tool) -> str:
    """Return the capability for a tool: `annotations` for a hosted search, because it gives citations; else `tools`."""
    searches = tool.hosted and ("search" in tool.name.lower() or tool.name in ("googleMaps", "urlContext", "retrieval"))
    return "annotations" if searches and not tool.name.startswith("tool_search") else "tools"


def _turns(request: Mapping[str, Any], api: Api) -> list[Turn]:
    """Return the turns of a request, including documents that are outside of its messages."""
    documents = request.get("documents")
    texts = documents if isinstance(documents, list) else []
    return [*turns(request, api.wire), *(Turn("documents", "document", contents(each)) for each in texts)]


def _different_turn(sent: list[Turn], recorded: list[Turn], scope: Scope) -> Difference | None:
    if not scope.answers:
        sent, recorded = ([turn for turn in each if turn.kind in MEDIA] for each in (sent, recorded))
    ours, theirs = _Conversation(sent), _Conversation(recorded)
    for role in dict.fromkeys((*_ROLES, *(turn.role for turn in recorded))):
        if role in _OF_ANSWERS and not scope.answers:
            continue
        has_texts = role != "assistant" or scope.answer_texts
        text = _different_text(ours, theirs, role) if has_texts else None
        found = text or _different_items(ours.items(role), theirs.items(role))
        if found is not None:
            of_answers = role in _OF_ANSWERS and scope.follows_answers
            return Difference(found.expected, found.actual, "round_trip") if of_answers else found
    if scope.answers and scope.answer_texts and ours.order != theirs.order:
        return Difference(f"messages of {', '.join(theirs.order)}", f"messages of {', '.join(ours.order)}")
    return None


def _different_text(ours: _Conversation, theirs: _Conversation, role: str) -> Difference | None:
    """Compare all text of a role. White space and the boundaries of messages and parts make no difference."""
    sent, recorded = ours.text(role), theirs.text(role)
    if without_space(sent) == without_space(recorded):
        return None
    return Difference(_text_of(role, recorded), _text_of(role, sent))


def _text_of(role: str, text: str) -> str:
    return f"the text {show(text)} of {role}" if text else f"no text of {role}"


@dataclass(frozen=True)
class _Item:
    """A tool call, a result, a file or another item; `content` is its content as normalised text."""

    kind: str
    content: str

    def __str__(self) -> str:
        return f"the {self.kind} {show(self.content)}"


def _different_items(sent: Counter[_Item], recorded: Counter[_Item]) -> Difference | None:
    """Compare everything except text. The order does not count: a message may have a file before or after its text."""
    missing, more = next(iter(recorded - sent), None), next(iter(sent - recorded), None)
    for item in (missing, more):
        if item is not None:
            nothing = f"no other {item.kind}"
            return Difference(str(missing or nothing), str(more or nothing), _BY_KIND.get(item.kind))
    return None


class _Conversation:
    """The turns of a request, grouped by role."""

    def __init__(self, all_turns: Iterable[Turn]) -> None:
        self._turns = list(all_turns)
        self._calls = {turn.id: turn for turn in self._turns if turn.kind == "call" and turn.id is not None}
        spoken = [turn.role for turn in self._turns if turn.role in ("user", *_OF_ANSWERS)]
        self.order = [role for at, role in enumerate(spoken) if not at or spoken[at - 1] != role]

    def text(self, role: str) -> str:
        """Return all text of a role."""
        return " ".join(str(turn.content) for turn in self._turns if turn.role == role and turn.kind == "text")

    def items(self, role: str) -> Counter[_Item]:
        """Return what a role has besides text."""
        return Counter(map(self._item, (turn for turn in self._turns if turn.role == role and turn.kind != "text")))

    def _item(self, turn: Turn) -> _Item:
        if turn.kind == "call":
            return _Item("call", _call(turn))
        if turn.kind != "result":
            return _Item(turn.kind, str(turn.content))
        call = self._calls.get(turn.id)
        # The sender chooses the id of a call, but a result has to refer to the right call.
        of = "" if turn.id is None else "an unknown call" if call is None else _call(call)
        return _Item("result", f"{_result(turn.content)} of {of}" if of else _result(turn.content))


def _call(turn: Turn) -> str:
    if not isinstance(turn.content, list):
        return show(turn.content)
    name, arguments, *_ = turn.content
    if isinstance(arguments, Mapping) and set(arguments) == {"text"}:
        arguments = arguments["text"]  # the JSON text of the arguments, as `read_arguments` returns it
    return f"{name}({_json(arguments or {})})"


def _result(content: Any) -> str:
    return _json(content[0] if isinstance(content, list) else content)


def _json(value: Any) -> str:
    """Return a value as normalised JSON text. A JSON text and the value that it encodes give the same result."""
    parsed = as_json(value)
    if isinstance(parsed, str):
        return without_space(parsed)
    return json.dumps(parsed, sort_keys=True, ensure_ascii=False, default=repr)
