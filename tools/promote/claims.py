"""The claims of an answer: what it has, and another answer of the same API may lack.

A claim is a short text. `kind` says when the claim counts (tools.promote.point). A recording shows a claim if it has a
claim with the same text. Documents of a stream and items of a list have labels. A recording shows their order if it has
the same labels in the same order, with or without others between them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from llm_conformance.contract.call import ThinkProfile
from llm_conformance.generate.writing import ESCAPES, ways_of_bytes
from llm_conformance.scenarios import derive
from llm_conformance.wire import answers
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api
from tools.promote import fields, order, requests, traits

Kind = Literal[
    "answer",  # what the answer has, and how it ends
    "error",  # the body of an error
    "word",  # a word from a closed list, such as a finish word or a type
    "field",  # a field that means something to an adapter, and what it holds
    "further field",  # any other field
    "count",  # a canonical count that the answer has
    "bytes",  # an unusual way in which the bytes are written
    "request",  # a part of an earlier answer that the request has
    "absence",  # a part that the answer lacks
    "letters",
    "white space",
    "tags",
    "spans",
    "arguments",
    "zero",
    "model",
    "json",
]
"""The kind of a claim, which decides when it counts (tools.promote.point)."""


class Claim(NamedTuple):
    """One claim."""

    kind: Kind
    text: str


Order = tuple[str, tuple[str, ...]]
"""(`stream` or the path of a list, the labels of its documents or items in their order)."""


@dataclass(frozen=True)
class Claims:
    """What an answer claims.

    Attributes:
        all: The claims.
        orders: The labels that have to come in an order.
        unsent: Paths that its request must not have.
    """

    all: frozenset[Claim]
    orders: frozenset[Order] = frozenset()
    unsent: frozenset[str] = frozenset()


class Shown:
    """What a recording shows."""

    def __init__(self, claims: Iterable[Claim], orders: Iterable[Order]) -> None:
        self._texts = frozenset(sys.intern(each.text) for each in claims)
        self._orders: dict[str, set[tuple[str, ...]]] = {}
        for path, labels in orders:
            self._orders.setdefault(path, set()).add(tuple(map(sys.intern, labels)))

    def missing(self, claims: Claims) -> list[str]:
        """Return the claims that the recording does not show, sorted."""
        lacking = {each.text for each in claims.all} - self._texts
        for path, labels in claims.orders:
            if not any(order.is_within(labels, other) for other in self._orders.get(path, ())):
                lacking.add(f"{path}: {' > '.join(labels)}")
        sent = {requests.plain(text) for text in self._texts} if claims.unsent else set()
        return sorted(lacking | {f"a request without {path}" for path in claims.unsent & sent})


def of_scenario(
    interaction: Interaction, api: Api, model: str, profile: ThinkProfile, round_trip: Mapping[str, Any] | None
) -> Claims:
    """Return the claims of a scenario in one mode.

    `round_trip` is the scenario's requirement for the parts of earlier answers in the request. If it is None, the
    scenario is about the answer.
    """
    found = [*_of_answer(interaction, api, model, profile), *_of_bytes(interaction, api)]
    orders = set(_orders(interaction, api))
    unsent: frozenset[str] = frozenset()
    if round_trip is not None:
        found += [Claim("request", text) for text in requests.fields_of(interaction.request)]
        orders |= set(requests.orders_of(interaction.request))
        unsent = frozenset(map(requests.path_of, round_trip.get("absent", ())))
    return Claims(frozenset(found), frozenset(orders), unsent)


_LAID_OUT_ANEW = ("json-reserialised", "json-asciified", "redacted-reserialised")
"""The fidelities that say that the recorder has written the JSON anew."""


def of_recording(interaction: Interaction, api: Api, model: str, profile: ThinkProfile, fidelity: str) -> Shown:
    """Return what a recording shows. A recording does not show what its recorder has altered."""
    found = [*_of_answer(interaction, api, model, profile)]
    if fidelity not in _LAID_OUT_ANEW:
        found += _of_bytes(interaction, api)
    found += [Claim("request", text) for text in requests.fields_of(interaction.request)]
    return Shown(found, [*_orders(interaction, api), *requests.orders_of(interaction.request)])


def _of_answer(interaction: Interaction, api: Api, model: str, profile: ThinkProfile) -> Iterator[Claim]:
    yield Claim("answer", f"status {interaction.status}")
    documents = _documents(interaction)
    if documents is None:
        yield Claim("answer", "a body that is not readable")
        return
    if interaction.status >= 400:
        if "retry-after" in interaction.headers:
            yield Claim("error", "the header retry-after")
        yield from (Claim("error", each.text) for document in documents for each in fields.fields(document))
        return
    if any(len(choices) > 1 for choices in _choices(documents)):
        yield Claim("answer", "several choices")
    is_read = _reader(api, interaction.streamed)
    for document in documents:
        for each in fields.fields(document, is_read(document)):
            kind: Kind = "further field" if not each.is_read else "word" if each.is_word else "field"
            yield Claim(kind, each.text)
    facts = answers.derive_if_readable(interaction, api)
    if facts is None:
        yield Claim("answer", "an answer that is not of the form of its API")
        return
    try:
        expected = derive.expect(facts, api, profile, model)
    except answers.SHAPELESS:  # such as a time that cannot be read
        return
    yield from (Claim(kind, text) for kind, text in traits.traits(facts, expected, api, model))


def _choices(documents: Iterable[Any]) -> Iterator[set[Any]]:
    """Yield the numbers of the choices of an answer."""
    for name in ("choices", "candidates"):
        lists = (each.get(name) for each in documents if isinstance(each, Mapping))
        yield {item.get("index") or 0 for each in lists for item in each or () if isinstance(item, Mapping)}


def _reader(api: Api, streamed: bool) -> Callable[[Any], frozenset[tuple[int, str]]]:
    return lambda document: frozenset(order.read_fields(document, api, streamed))


def _of_bytes(interaction: Interaction, api: Api) -> Iterator[Claim]:
    for variation, way in ways_of_bytes(interaction):
        if way not in (variation.usual, next(iter(api.varies.get(variation.name, ())), None)):
            yield Claim("letters" if variation is ESCAPES else "bytes", f"{variation.name}: {way}")


def _orders(interaction: Interaction, api: Api) -> Iterator[Order]:
    documents = _documents(interaction) or ()
    for document in documents:
        yield from ((path, tuple(labels)) for path, labels in order.lists(document) if order.is_content(path))
    if interaction.streamed and interaction.status < 400:
        yield "stream", tuple(order.labels(documents, api, streamed=True))


def _documents(interaction: Interaction) -> list[Any] | None:
    try:
        return list(answers.documents(interaction))
    except answers.SHAPELESS:
        return None
