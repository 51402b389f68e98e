"""The recognisers of all wire formats, which read the ways of an answer.

A recogniser is the counterpart of a generator. In everything that a generator draws for an API, it finds only ways of
the API's row. Tests demand the same of every recorded answer: if a way is not in the row, the row lacks a fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_conformance.contract.call import ThinkProfile
from llm_conformance.formats.chat import recogniser as chat
from llm_conformance.formats.chat.variations import VARIATIONS as CHAT
from llm_conformance.formats.cohere import recogniser as cohere
from llm_conformance.formats.cohere.variations import VARIATIONS as COHERE
from llm_conformance.formats.cohere_v1 import recogniser as cohere_v1
from llm_conformance.formats.cohere_v1.variations import VARIATIONS as COHERE_V1
from llm_conformance.formats.completions import recogniser as completions
from llm_conformance.formats.completions.variations import VARIATIONS as COMPLETIONS
from llm_conformance.formats.converse import recogniser as converse
from llm_conformance.formats.converse.variations import VARIATIONS as CONVERSE
from llm_conformance.formats.errors import known_error
from llm_conformance.formats.gemini import recogniser as gemini
from llm_conformance.formats.gemini.variations import VARIATIONS as GEMINI
from llm_conformance.formats.interactions import recogniser as interactions
from llm_conformance.formats.interactions.variations import VARIATIONS as INTERACTIONS
from llm_conformance.formats.messages import recogniser as messages
from llm_conformance.formats.messages.variations import VARIATIONS as MESSAGES
from llm_conformance.formats.ollama import recogniser as ollama
from llm_conformance.formats.ollama.variations import VARIATIONS as OLLAMA
from llm_conformance.formats.responses import recogniser as responses
from llm_conformance.formats.responses.variations import VARIATIONS as RESPONSES
from llm_conformance.formats.think_recogniser import ways_of_a_text
from llm_conformance.formats.workers_ai import recogniser as workers_ai
from llm_conformance.formats.workers_ai.variations import VARIATIONS as WORKERS_AI
from llm_conformance.generate.answers import style_of
from llm_conformance.generate.count_ways import PART_COUNTS, Shown, missing_way, ways_of_parts
from llm_conformance.generate.ids import has_form
from llm_conformance.generate.think import VARIATIONS as THINKING
from llm_conformance.generate.variations import ARGUMENTS, FINISH_WORDS, MISSING_COUNTS, ZERO_COUNTS, Variation
from llm_conformance.generate.writing import VARIATIONS as WRITING
from llm_conformance.generate.writing import ways_of_bytes
from llm_conformance.pointers import at_pointer
from llm_conformance.wire import think_tags
from llm_conformance.wire.answers import SHAPELESS, WireFacts, derive, documents
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.narrowing import backends

Found = Iterator[tuple[Variation, str]]

THE_FORMAT = "usual in this wire format"
"""The source of a way that no row has to state."""


@dataclass(frozen=True)
class Recogniser:
    """Reads the ways of one wire format.

    Attributes:
        variations: All variations of the format.
        body: Yields the ways of a plain answer.
        stream: Yields the ways of a stream from its documents, including its end marker.
    """

    variations: tuple[Variation, ...]
    body: Callable[[Api, Any], Found]
    stream: Callable[[Api, Sequence[Any]], Found]


RECOGNISERS: Mapping[str, Recogniser] = {
    "chat": Recogniser(CHAT, chat.ways_of_a_body, chat.ways_of_a_stream),
    "cohere": Recogniser(COHERE, cohere.ways_of_a_body, cohere.ways_of_a_stream),
    "gemini": Recogniser(GEMINI, gemini.ways_of_a_body, gemini.ways_of_a_stream),
    "interactions": Recogniser(INTERACTIONS, interactions.ways_of_a_body, interactions.ways_of_a_stream),
    "responses": Recogniser(RESPONSES, responses.ways_of_a_body, responses.ways_of_a_stream),
    "ollama": Recogniser(OLLAMA, ollama.ways_of_a_body, ollama.ways_of_a_stream),
    "cohere_v1": Recogniser(COHERE_V1, cohere_v1.ways_of_a_body, cohere_v1.ways_of_a_stream),
    "completions": Recogniser(COMPLETIONS, completions.ways_of_a_body, completions.ways_of_a_stream),
    "converse": Recogniser(CONVERSE, converse.ways_of_a_body, converse.ways_of_a_stream),
    "messages": Recogniser(MESSAGES, messages.ways_of_a_body, messages.ways_of_a_stream),
    "workers_ai": Recogniser(WORKERS_AI, workers_ai.ways_of_a_body, workers_ai.ways_of_a_stream),
}
"""The recognisers, by the name of the wire format in the provider table."""

ERRORS = "errors"
"""The variation whose ways are errors: those in the columns `statuses` and `stream_errors`, and those of gateways."""

BACKEND = "backend"
"""The variation whose way is the backend that answers. If several backends are possible, the first one is the way."""

_PIECES_OF_TEXT = ("converse", "interactions", "messages")
"""Wire formats that stream arguments as pieces of text, although plain answers have an object."""

SHARED = (ARGUMENTS, FINISH_WORDS, MISSING_COUNTS, ZERO_COUNTS, *PART_COUNTS, *WRITING)
"""The variations that all formats have."""


@dataclass(frozen=True)
class Way:
    """One way of an answer.

    `source` is the evidence that the API answers in this way; None if its row lacks the way.
    """

    variation: str
    way: str
    source: str | None

    def __str__(self) -> str:
        """Return `variation: way`, the name by which an adapter excludes it."""
        return f"{self.variation}: {self.way}"


def variations_of(api: Api) -> tuple[Variation, ...]:
    """Return all variations of an API's wire format."""
    of_thinking = THINKING if api.think else ()
    return (*SHARED, *of_thinking, *RECOGNISERS[api.wire].variations)


def recognise(api: Api, interaction: Interaction) -> tuple[Way, ...]:
    """Return the ways of an answer, each once; () if the answer is not of the API's format."""
    try:
        ways = tuple(dict.fromkeys(_recognised(api, interaction)))
    except SHAPELESS:
        return ()
    if not api.backends or not ways or any(way.variation == ERRORS or way.source is None for way in ways):
        return ways
    return (*ways, _backend(api, interaction))


def _backend(api: Api, interaction: Interaction) -> Way:
    """Return the way for the first backend that has all ways of an answer.

    If the row lists the requested model, the backend must have this model, too. If no backend fits, the way says what
    is wrong with the answer for the backend that fits best.
    """
    asked = _asked(api, interaction)
    strange: dict[str, tuple[str, ...]] = {}
    for name, narrowed in backends(api).items():
        found = dict.fromkeys(str(way) for way in _recognised(narrowed, interaction) if way.source is None)
        is_others = asked in api.models and asked not in (narrowed.models or api.models)
        others = (f"model: {asked}",) if is_others else ()
        strange[name] = (*found, *others)
        if not strange[name]:
            return Way(BACKEND, name, api.backends[name].source)
    closest = min(strange, key=lambda name: len(strange[name]))
    return Way(BACKEND, f"none, {closest} does not have {', '.join(strange[closest])}", None)


def _asked(api: Api, interaction: Interaction) -> str | None:
    """Return the model that a request asks for; None if it names none."""
    place = api.place(interaction.uri)
    return (place and place.model) or interaction.request.get("model")


def _recognised(api: Api, interaction: Interaction) -> Iterator[Way]:
    error = known_error(api, interaction)
    if error is not None:
        yield Way(ERRORS, str(error), error.source)
        return
    if interaction.status >= 400:
        yield Way(ERRORS, str(interaction.status), None)
        return
    facts = derive(interaction, api)
    if facts.error is not None:
        return
    ids = [("answer", id, "") for id in facts.ids] + [("call", id, name) for id, name, _ in facts.tool_calls if id]
    for kind, id, name in ids:
        if not has_form(api, kind, id, name):
            yield Way(f"id of the {kind}", id, None)
    if facts.finish:
        yield _way(api, FINISH_WORDS, facts.finish if facts.finish in api.finish else "new")
    if api.tool_arguments == "text" or (interaction.streamed and api.wire in _PIECES_OF_TEXT):
        styles = (style_of(arguments) for _, _, arguments in facts.tool_calls)
        for style in filter(None, styles):
            yield _way(api, ARGUMENTS, style)
    if facts.usage:
        if any(at_pointer(facts.usage, f"/{path}") == 0 for path in api.count_paths):
            yield _way(api, ZERO_COUNTS, "sent")
        yield _way(api, MISSING_COUNTS, missing_way(api, facts.usage, facts.null_counts))
        shown = Shown(_has_reasoning(api, interaction, facts), bool(facts.media))
        for variation, way in ways_of_parts(api, facts.usage, shown):
            yield _way(api, variation, way)
    for variation, way in (*ways_of_bytes(interaction), *_of_thinking(api, interaction, facts)):
        yield _way(api, variation, way)
    recogniser = RECOGNISERS[api.wire]
    framing = interaction.framing
    if framing is None:
        found = recogniser.body(api, *documents(interaction))
    else:
        found = recogniser.stream(api, list(framing.documents(interaction.body)))
    for variation, way in found:
        yield _way(api, variation, way)


def _way(api: Api, variation: Variation, way: str) -> Way:
    stated = api.varies.get(variation.name)
    known = stated.get(way) if stated else THE_FORMAT if way == variation.usual else None
    return Way(variation.name, way, known)


def _of_thinking(api: Api, interaction: Interaction, facts: WireFacts) -> Found:
    """Yield the ways of a text with think tags.

    Nothing is yielded if the row does not say that the model sends think tags, or if the reasoning is in a field.
    """
    profile = _profile(api, interaction, facts)
    if profile is None or facts.reasoning:
        return
    is_cut_off = api.finish.get(facts.finish or "") == "length"
    yield from ways_of_a_text(
        facts.text, profile, api.think_tag, is_cut_off=is_cut_off, has_calls=bool(facts.tool_calls)
    )


def _profile(api: Api, interaction: Interaction, facts: WireFacts) -> ThinkProfile | None:
    """Return the think profile of an answer; None if the row states none for the model."""
    profile = api.stated_profile(_asked(api, interaction) or facts.model or "")
    is_prefilled = think_tags.closes_on_a_line_of_its_own(facts.text, api.think_tag)
    return "prefilled" if profile == "leading" and is_prefilled else profile


def _has_reasoning(api: Api, interaction: Interaction, facts: WireFacts) -> bool:
    """Return True if an answer has reasoning in a field of its own, encrypted, or between think tags."""
    if facts.reasoning or facts.opaque:
        return True
    profile = _profile(api, interaction, facts)
    return profile is not None and any(think_tags.split(facts.text, profile, api.think_tag)[1])
