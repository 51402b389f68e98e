"""What the suite asks of an adapter: one call to one provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from llm_conformance.contract.values import Value

CANARY_KEY = "llm-conformance-canary-key"
"""Given as every call's API key; it may appear in nothing that comes back."""

ThinkProfile = Literal["off", "leading", "prefilled", "anywhere"]


@dataclass(frozen=True)
class HttpResponse:
    """A provider's answer as it came over the wire. Header names are lower case; `body` is empty for `call.http`."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    def to_dict(self) -> dict[str, Any]:
        """Return status and headers; the body is bytes and stays out."""
        return {"status": self.status, "headers": dict(self.headers)}


@dataclass(frozen=True)
class Call(Value):
    """One call.

    `base_url` stands where the base URL of the provider's documented SDK stands; `path` is what follows it.
    `params` is what else the provider's request carries, under its own names; `request` the recorded request body, for
    adapters that are thin. `api_key` is a canary that may appear nowhere. `timeout_s` is in seconds.
    `think_profile` says what the model is known to do: `off` (never parse tags), `leading`, `prefilled`, `anywhere`;
    the tag is `<think>`, but for providers that have another (`think_tag` in the provider table).
    `http` is set for `parse_stream` only.
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
        """Return the call as plain JSON values."""
        result = super().to_dict()
        result["http"] = self.http.to_dict() if self.http else None
        return result
