"""What one provider's chat API does differently. For a new provider of OpenAI-shaped chat, state the facts here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llm_conformance.contract import Call, Response
from llm_conformance.contract.response import FinishReason

from ._counting import OPENAI, Counting, Path
from ._think import TAG


@dataclass(frozen=True)
class Dialect:
    """What one provider's chat API does differently from OpenAI's.

    Args:
        reasoning: Fields of the message that may hold reasoning, as text or as a list of steps with a `thought`. The
            first field that is present is used.
        counting: How tokens are counted.
        finish: Finish reasons in addition to OpenAI's.
        sources: Fields of the completion that list what the provider's search found, as objects or bare URLs. The first
            field that is present is used.
        round_trip: Returns fields for the assistant message of an earlier response. They extend its content and tool
            calls, or replace them.
        think_tag: The tag around reasoning in the content.
        signature: The path of the signature in a message or a tool call.
        sealed: Field of the message that holds encrypted reasoning.
        extension: Field of the completion with an object that may also hold an error and the usage.
        hosted_calls: Field of the message with the calls that the provider's own tools have answered.
        own_error: Returns the error in a response with status 200, if the provider has its own place for errors; None
            if there is no error.
        error_codes: Maps the provider's own error codes to HTTP statuses.
    """

    reasoning: tuple[str, ...] = ()
    counting: Counting = OPENAI
    finish: Mapping[str, FinishReason] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    round_trip: Callable[[Response, Call], Mapping[str, Any]] = lambda _response, _call: {}
    think_tag: str = TAG
    signature: Path = ()
    sealed: str = ""
    extension: str = ""
    hosted_calls: str = ""
    own_error: Callable[[Mapping[str, Any]], Mapping[str, Any] | None] = lambda _completion: None
    error_codes: Mapping[str, int] = field(default_factory=dict)


def reasoning_with_calls(response: Response, _call: Call) -> Mapping[str, str]:
    """A `round_trip` for providers that demand the reasoning only with the tool calls that it led to."""
    return {"reasoning_content": response.reasoning} if response.reasoning and response.tool_calls else {}
