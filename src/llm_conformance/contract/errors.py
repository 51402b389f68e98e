"""The error hierarchy, and which HTTP status belongs to which class.

Seed 003 (S3-19 to S3-32) names the seven classes and most statuses; 408, 413, 422, 504, 529 and the rest of 4xx and 5xx
are settled in the contract (C-12). An adapter of somebody else need not import these: its exceptions are recognised by
class name or by a status attribute.
"""

from __future__ import annotations

import contextvars
import uuid
from collections.abc import Mapping
from typing import Any

correlation_id_var: contextvars.ContextVar[str | None] = contextvars.ContextVar("correlation_id", default=None)
"""The correlation id of the work in progress; an error that is given none takes this one, else a new UUID 4."""


class LLMError(Exception):
    """Base of all errors an adapter raises.

    Args:
        message: What went wrong, for people; never contains a secret.
        correlation_id: Ties the error to a request; from `correlation_id_var`, or new, if not given.
        provider: The provider's name, as in the call.
        original_error: The exception behind it, if any.
        extra_context: More facts, JSON-serialisable (`status_code`, `retry_after`).
    """

    def __init__(
        self,
        message: str,
        correlation_id: str | None = None,
        provider: str | None = None,
        original_error: BaseException | None = None,
        extra_context: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.correlation_id = correlation_id or correlation_id_var.get() or str(uuid.uuid4())
        self.provider = provider
        self.original_error = original_error
        self.extra_context = dict(extra_context or {})

    def __str__(self) -> str:
        """Return `message [provider=..] [correlation_id=..]` (S3-21)."""
        return f"{self.message} [provider={self.provider}] [correlation_id={self.correlation_id}]"

    def to_dict(self) -> dict[str, Any]:
        """Return the error as plain JSON values, without the original exception (S3-22)."""
        return {
            "error_type": type(self).__name__,
            "message": self.message,
            "provider": self.provider,
            "correlation_id": self.correlation_id,
            "extra_context": self.extra_context,
        }


class AuthenticationError(LLMError):
    """401 and 403: the key is missing, wrong, or not allowed to do this."""


class RateLimitError(LLMError):
    """429: too many requests or tokens."""


class TimeoutError(LLMError):
    """A time-out of the transport, 408 or 504."""


class ValidationError(LLMError):
    """The answer is malformed: not JSON, truncated, wrongly typed, or of an unknown kind."""


class ServiceUnavailableError(LLMError):
    """500, 502, 503, 529, any other 5xx, and broken connections."""


class ResourceNotFoundError(LLMError):
    """404: no such model or endpoint."""


class InvalidRequestError(LLMError):
    """400, 413, 422 and any other 4xx: the request itself is wrong."""


ERROR_TYPES: tuple[str, ...] = (
    "AuthenticationError",
    "InvalidRequestError",
    "LLMError",
    "RateLimitError",
    "ResourceNotFoundError",
    "ServiceUnavailableError",
    "TimeoutError",
    "ValidationError",
)

_BY_STATUS: Mapping[int, type[LLMError]] = {
    401: AuthenticationError,
    403: AuthenticationError,
    404: ResourceNotFoundError,
    408: TimeoutError,
    429: RateLimitError,
    504: TimeoutError,
}


def error_for_status(status: int) -> type[LLMError]:
    """Return the class for an HTTP error status (400 to 599)."""
    fallback = ServiceUnavailableError if status >= 500 else InvalidRequestError
    return _BY_STATUS.get(status, fallback)
