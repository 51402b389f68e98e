"""Text completions of Amazon Bedrock's InvokeModel: each maker has its own field names.

https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ._completions import Maker, Piece, completions_adapter
from ._framing import aws_messages
from ._provider import ProviderAdapter

Document = Mapping[str, Any]

_METRICS = "amazon-bedrock-invocationMetrics"


def _own_counts(document: Document) -> Document:
    """Return Bedrock's own counts, which only streams have."""
    return document.get(_METRICS) or {}


def _titan(document: Document) -> Piece:
    if "results" in document:
        result = document["results"][0]
        return Piece(result["outputText"], result["completionReason"])
    word = document.get("completionReason")
    if word is None and "totalOutputTextTokenCount" in document:  # a guardrail has blocked the request
        word = document.get("amazon-bedrock-guardrailAction")
    return Piece(document["outputText"], word)


def _titan_counts(document: Document) -> Document:
    return {**document, **document["results"][0]} if "results" in document else document


def _llama(document: Document) -> Piece:
    return Piece(document["generation"], document["stop_reason"])


def _mistral(document: Document) -> Piece:
    output = document["outputs"][0]
    return Piece(output["text"], output["stop_reason"])


def _cohere(document: Document) -> Piece:
    if "is_finished" in document:
        return Piece(document.get("text"), document.get("finish_reason"))
    generation = document["generations"][0]
    return Piece(generation["text"], generation["finish_reason"])


def _anthropic(document: Document) -> Piece:
    return Piece(document["completion"], document["stop_reason"])


TITAN = Maker(
    _titan,
    {
        "FINISH": "stop",
        "FINISHED": "stop",
        "STOP_CRITERIA_MET": "stop",
        "LENGTH": "length",
        "CONTENT_FILTERED": "content_filter",
        "INTERVENED": "content_filter",
    },
    ("inputTextTokenCount",),
    ("tokenCount", "totalOutputTextTokenCount"),
    _titan_counts,
    field="inputText",
)
LLAMA = Maker(_llama, {"stop": "stop", "length": "length"}, ("prompt_token_count",), ("generation_token_count",))
_OWN = (("inputTokenCount",), ("outputTokenCount",), _own_counts)
MISTRAL = Maker(_mistral, {"stop": "stop", "length": "length"}, *_OWN)
COMMAND = Maker(
    _cohere,
    {"COMPLETE": "stop", "MAX_TOKENS": "length", "ERROR": "error", "ERROR_TOXIC": "content_filter"},
    *_OWN,
)
ANTHROPIC = Maker(_anthropic, {"stop_sequence": "stop", "max_tokens": "length"}, *_OWN)


def adapters() -> Iterator[ProviderAdapter]:
    """Yield the adapters of all makers."""
    makers = {"titan": TITAN, "llama": LLAMA, "mistral": MISTRAL, "command": COMMAND, "complete": ANTHROPIC}
    for name, maker in makers.items():
        yield completions_adapter(f"bedrock:{name}", maker, unframe=aws_messages)
