"""The input of an adapter: one call to one provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from llm_conformance.contract.values import Value

CANARY_KEY = "llm-conformance-canary-key"
"""The API key of every call. It must not appear in anything that an adapter returns, raises or logs."""

ThinkProfile = Literal["off", "leading", "prefilled", "anywhere"]


@dataclass(frozen=True)
class HttpResponse:
    """A provider's HTTP response as it was recorded.

    Attributes:
        status: The HTTP status.
        headers: The headers, with names in lower case.
        body: The whole body, without content encoding. In `call.http` it is empty, because `parse_stream` gets the body
            in chunks.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    def to_dict(self) -> dict[str, Any]:
        """Return status and headers. The body is left out, because JSON has no bytes."""
        return {"status": self.status, "headers": dict(self.headers)}


@dataclass(frozen=True)
class Call(Value):
    """One call to one provider.

    Attributes:
        provider: The name of the provider, such as `openai`.
        api: The name of its API, such as `chat` or `responses`.
        model: The requested model.
        messages: The conversation: objects with a `role` of `system`, `user`, `assistant` or `tool`, as in OpenAI's
            chat API. `content` is a text, or a list of parts in the form of the provider's own API. A tool message has
            `tool_call_id`, `content`, and the `name` of the tool. An earlier answer is the very object that the adapter
            returned. For an API of text completions, there is only one message. It is the user's, and its content is
            the whole prompt.
        base_url: The URL to use in place of the base URL of the provider's SDK.
        path: The path of the API, which follows the base URL.
        api_key: The key to send, always `CANARY_KEY`.
        stream: Whether a stream is requested.
        timeout_s: The time limit in seconds, for all attempts together.
        correlation_id: An identifier for the adapter's own errors and logs.
        tools: The tools, in the form of OpenAI's chat API.
        params: Further fields of the provider's request, under the provider's names.
        request: The recorded request body, for adapters that do not build a request. The adapter has to put the earlier
            answers into it.
        think_profile: Where the model puts its reasoning between tags: `off` (nowhere: tags are part of the answer),
            `leading` (at the beginning of the text), `prefilled` (at the beginning, without the opening tag),
            `anywhere`. The tag is `<think>`, unless the provider table has another `think_tag`.
        http: Status and headers of the response for `parse_stream`; None for the other methods.
    """

    provider: str
    api: str
    model: str
    messages: tuple[Any, ...]
    base_url: str
    path: str
    api_key: str
    stream: bool
    timeout_s: float
    correlation_id: str
    tools: tuple[Mapping[str, Any], ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    request: Mapping[str, Any] = field(default_factory=dict)
    think_profile: ThinkProfile = "off"
    http: HttpResponse | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the call as JSON values."""
        result = super().to_dict()
        result["http"] = self.http.to_dict() if self.http else None
        return result
