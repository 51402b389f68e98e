"""The contract between an adapter and the suite, as frozen Python types.

    bytes of the provider  ->  adapter  ->  Response, or an iterable of StreamEvent

`schemas/*.schema.json` is the normative form. An adapter does not have to import these classes: it may return mappings,
dataclasses, or objects with `to_dict` or `model_dump` that have the same fields.
"""

from __future__ import annotations

from llm_conformance.contract.call import Call, HttpResponse
from llm_conformance.contract.errors import (
    ERROR_TYPES,
    AuthenticationError,
    InvalidRequestError,
    LLMError,
    RateLimitError,
    ResourceNotFoundError,
    ServiceUnavailableError,
    TimeoutError,
    ValidationError,
    error_for_status,
)
from llm_conformance.contract.events import EVENT_TYPES, StreamEvent, ToolCallPiece
from llm_conformance.contract.response import Annotation, Attachment, ProviderMeta, Response, Segment, ToolCall, Usage

__all__ = [
    "ERROR_TYPES",
    "EVENT_TYPES",
    "Annotation",
    "Attachment",
    "AuthenticationError",
    "Call",
    "HttpResponse",
    "InvalidRequestError",
    "LLMError",
    "ProviderMeta",
    "RateLimitError",
    "ResourceNotFoundError",
    "Response",
    "Segment",
    "ServiceUnavailableError",
    "StreamEvent",
    "TimeoutError",
    "ToolCall",
    "ToolCallPiece",
    "Usage",
    "ValidationError",
    "error_for_status",
]
