"""Themes: what is generated for each API, as scenarios like the recorded ones.

A theme draws conversations in the API's own format, and states the expected values. These come from what was drawn,
never from reading the bytes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from llm_conformance import editions
from llm_conformance.generate.answers import Answer
from llm_conformance.generate.chance import pick
from llm_conformance.generate.models import answers_plainly
from llm_conformance.locations import CASSETTES
from llm_conformance.pointers import at_pointer
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.scenario import Scenario, recut
from llm_conformance.themes import broken_streams, connections, malformed, second_turns, statuses
from llm_conformance.themes.contents import anything, citing, counting, has_citations, thinking, thinks
from llm_conformance.themes.conversation import Conversation, answered
from llm_conformance.themes.cuts import cut_or_none
from llm_conformance.themes.request import params_of, request_for
from llm_conformance.wire.interaction import MODES, Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.narrowing import backends

Drawn = Callable[[DrawFn, Api, Mode], Conversation]


@dataclass(frozen=True)
class Theme:
    """A kind of conversation.

    Attributes:
        name: The end of its scenario ids.
        title: The end of its scenarios' titles.
        effort: How many examples it gets, as a multiple of the usual number.
        drawn: A function that draws a conversation with an API.
        suits: A function that returns True if an API or one of its backends can have such conversations. Most themes
            need a model that answers without think tags.
        modes: The modes of such conversations.
        over_http: Whether only `complete` and `stream` are judged, because a parser sees no connection.
        listed: A function that returns conversations that are judged besides those that are drawn.
        is_probe: Whether no provider is known to send such conversations.
        since: The edition that introduced the theme (`llm_conformance.editions`).
    """

    name: str
    title: str
    effort: float
    drawn: Drawn
    suits: Callable[[Api], bool] = answers_plainly
    modes: tuple[Mode, ...] = MODES
    over_http: bool = False
    listed: Callable[[Api, Mode], Iterable[Conversation]] = lambda _api, _mode: ()
    is_probe: bool = False
    since: str = editions.FIRST

    def scenarios(self, api: Api, mode: Mode) -> SearchStrategy[Scenario]:
        """Return a strategy for scenarios of an API. Streams also have a way to cut them."""
        return _scenarios(self, api, mode)

    def all_listed(self, api: Api, mode: Mode) -> Iterator[Scenario]:
        """Yield the scenarios of an API that are judged besides those that are drawn."""
        return (_scenario(self, api, conversation) for conversation in self.listed(api, mode))

    def scenario_id(self, api: Api) -> str:
        """Return the id that all scenarios of the theme and an API share."""
        return f"{api.provider}/generated-{api.name}-{self.name}"


@st.composite
def _scenarios(draw: DrawFn, theme: Theme, api: Api, mode: Mode) -> Scenario:
    suiting = [narrowed for narrowed in backends(api).values() if narrowed.models and theme.suits(narrowed)]
    backend = pick(draw, *suiting) if api.backends else api
    scenario = _scenario(theme, api, theme.drawn(draw, backend, mode))
    interaction = scenario.interactions[mode]
    is_cut = mode == "stream" and interaction.streamed and not scenario.over_http
    cut = cut_or_none(draw, interaction.body) if is_cut else None
    return scenario if cut is None else recut(scenario, cut)


def _scenario(theme: Theme, api: Api, conversation: Conversation) -> Scenario:
    requests = {mode: request_for(api, mode, conversation) for mode in conversation.interactions}
    interactions = {mode: replace(each, request=requests[mode]) for mode, each in conversation.interactions.items()}
    *_, own = requests.values()  # a stream may have a plain response beside it
    unbroken, outage = conversation.unbroken, conversation.outage
    return Scenario(
        id=theme.scenario_id(api),
        path=CASSETTES / api.provider / f"generated-{api.name}-{theme.name}.scenario.yaml",
        title=f"Generated: {theme.title}",
        api=api,
        think_profile=conversation.think_profile,
        model=conversation.model,
        messages=conversation.messages,
        tools=conversation.tools,
        params={mode: params_of(api, mode, conversation) for mode in interactions},
        match=(),
        interactions=interactions,
        same_content=len(interactions) == 2,
        expected={mode: _expected(api, conversation.expected, request) for mode, request in requests.items()},
        provenance="generated",
        grounds="probe" if theme.is_probe else None,
        since=theme.since,
        fault=conversation.fault,
        unbroken=unbroken and replace(unbroken, request=own),
        outage=outage and replace(outage, request=own),
        earlier={number: _scenario(theme, api, each) for number, each in conversation.before.items()},
    )


def _expected(api: Api, expected: Expected, request: Mapping[str, Any]) -> Expected:
    """Return the expected values, completed with those that follow from the request."""
    round_trip = expected.round_trip and replace(expected.round_trip, recorded=request)
    switches = {pointer: at_pointer(request, pointer) for pointer in api.switches}
    return replace(expected, round_trip=round_trip, switches=switches)


def _with(
    make: Callable[[DrawFn, Answer, Mode], Conversation],
    answer: Callable[[DrawFn, Api, Mode], Answer] = anything,
) -> Drawn:
    return lambda draw, api, mode: make(draw, answer(draw, api, mode), mode)


THEMES = (
    Theme("answers", "an answer with anything that the provider sends", 2, _with(answered)),
    Theme(
        "think-blocks",
        "reasoning between tags in the text",
        4,
        _with(answered, thinking),
        suits=thinks,
    ),
    Theme("citations", "citations in every position", 2, _with(answered, citing), suits=has_citations),
    Theme("usage", "token counts", 1, _with(answered, counting)),
    Theme(
        "second-turns",
        "reasoning that goes back with tool results",
        0.5,
        second_turns.second_turn,
        suits=second_turns.wants_reasoning_back,
        over_http=True,
    ),
    Theme(
        "broken-streams",
        "a stream that breaks off or fails",
        1,
        _with(broken_streams.broken),
        modes=("stream",),
    ),
    Theme("statuses", "an error status", 0.5, statuses.refused, listed=statuses.every_status),
    Theme("malformed", "a malformed body", 1, _with(malformed.malformed)),
    Theme("mistyped", "JSON that is no answer", 0.5, _with(malformed.mistyped), is_probe=True),
    Theme("disconnected", "a connection that is lost", 0.5, _with(connections.disconnected, counting), over_http=True),
    Theme("outages", "an answer to the second attempt", 0.2, _with(statuses.outage, counting), over_http=True),
    Theme("silent", "a server that goes silent", 0.1, _with(connections.silent, counting), over_http=True),
)
