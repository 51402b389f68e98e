"""Broken adapters that take what Google's and Amazon's clouds serve for the API that it resembles."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters._chat import ChatDecoder, Dialect
from adapters._think import TAG
from adapters.gemini import NUMBERS, GenerateDecoder
from llm_conformance.contract import Call
from tests.broken.kinds import Misunderstood
from tests.broken.replay import Client

# Vertex AI


class Renumbered(GenerateDecoder):
    def __init__(self, call: Call, **_numbers: Any) -> None:
        super().__init__(call, {**NUMBERS, **dict.fromkeys(("7", "8", "9"), "content_filter"), "10": "error"})


class NumbersOfTheOtherEnum(Misunderstood):
    fails = ("FIN-1",)
    says = 'expected finish_reason "content_filter"; got "error"'
    decoders = MappingProxyType({GenerateDecoder: Renumbered})


class ModelWrittenIntoTheBody(Client):
    """Where it stands in the path, too."""

    fails = ("RPL-2",)
    says = "expected no /model in the request"

    def ask(self, body: dict[str, Any], call: Call) -> dict[str, Any]:
        return {"model": call.model, **body}


# Gemini's OpenAI-compatible endpoint


class Conventional(ChatDecoder):
    def __init__(self, call: Call, dialect: Dialect) -> None:
        super().__init__(call, replace(dialect, think_tag=TAG))


class OnlyTheUsualThinkTagKnown(Misunderstood):
    fails = ("MSG-1", "MSG-2", "RSN-1", "RSN-3")
    says = "<thought>"
    decoders = MappingProxyType({ChatDecoder: Conventional})


class Literal(ChatDecoder):
    def __init__(self, call: Call, dialect: Dialect) -> None:
        super().__init__(call, replace(dialect, hides_thoughts=False))


class HiddenThoughtsLeftOutOfTheCompletion(Misunderstood):
    fails = ("USE-1", "USE-3", "USE-5")
    says = "expected total_tokens = "
    decoders = MappingProxyType({ChatDecoder: Literal})


class SignatureOfACallLost(Client):
    fails = ("RPL-1",)
    says = "thought_signature"

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        for message in body.get("messages", ()):
            for call in message.get("tool_calls") or ():
                call.pop("extra_content", None)
        return body
