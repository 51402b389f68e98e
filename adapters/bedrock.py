"""Amazon Bedrock: Converse, InvokeModel with the bodies of several makers, and the mantle, which has OpenAI's APIs.

All of them accept an API key as a bearer token.

* https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
* https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html
* https://docs.aws.amazon.com/nova/latest/nova2-userguide/using-invoke-api.html
* https://docs.aws.amazon.com/bedrock/latest/userguide/bedrock-mantle.html
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from llm_conformance.contract import Call, StreamEvent

from . import _bedrock_prompts, _converse
from ._chat import chat_adapter
from ._chat import request as chat_request
from ._chat_decoder import ChatDecoder
from ._counting import WITH_CACHE_WRITES
from ._dialect import Dialect
from ._errors import error_in_band
from ._framing import aws_messages
from ._provider import ProviderAdapter, bearer
from ._responses import responses_adapter
from .anthropic import MessagesDecoder
from .anthropic import request as messages_request


class InvokedDecoder(MessagesDecoder):
    """Decodes Anthropic's message. Its events may include Bedrock's own exceptions."""

    def feed(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take the whole message, one event, or an exception as `{type: payload}`."""
        for kind, event in document.items():
            if kind.endswith("Exception"):
                raise _converse.exception(kind, event, self._answer.call)
            if kind == "error":  # from Anthropic, or from Bedrock without a type
                raise error_in_band(event, self._answer.call)
        yield from super().feed(document)


class NovaDecoder(_converse.ConverseDecoder):
    """Decodes Converse's documents with Nova's names for the counts of the cache."""

    cache_counts: ClassVar[tuple[str, str]] = ("cacheReadInputTokenCount", "cacheWriteInputTokenCount")


class InvokedChatDecoder(ChatDecoder):
    """Decodes OpenAI's chat completions. Their chunks may include Bedrock's own exceptions."""

    def feed(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take the whole completion, one chunk, or an exception as `{type: payload}`."""
        for kind, event in document.items():
            if kind.endswith("Exception"):
                raise _converse.exception(kind, event, self._answer.call)
        yield from super().feed(document)


def _invoked_chat(call: Call) -> dict[str, Any]:
    """Return OpenAI's request body without `model` and `stream`, which are in the path."""
    body = chat_request(call, Dialect())
    return {key: value for key, value in body.items() if key not in ("model", "stream")}


def _invoked(call: Call) -> dict[str, Any]:
    """Return Anthropic's request body without `model` and `stream`, which are in the path."""
    body = {key: value for key, value in messages_request(call).items() if key not in ("model", "stream")}
    return {"anthropic_version": "bedrock-2023-05-31", **body}


adapters = (
    ProviderAdapter("bedrock:converse", _converse.ConverseDecoder, _converse.request, bearer, aws_messages),
    ProviderAdapter("bedrock:invoke", InvokedDecoder, _invoked, bearer, aws_messages),
    ProviderAdapter(
        "bedrock:openai",
        functools.partial(InvokedChatDecoder, dialect=Dialect(counting=WITH_CACHE_WRITES, think_tag="reasoning")),
        _invoked_chat,
        bearer,
        aws_messages,
    ),
    ProviderAdapter("bedrock:nova", NovaDecoder, _converse.request, bearer, aws_messages),
    chat_adapter("bedrock", Dialect(reasoning=("reasoning",))),
    responses_adapter("bedrock"),
    *_bedrock_prompts.adapters(),
)
