"""The error classes, and the class of each HTTP status.

An adapter does not have to raise these classes. Its exceptions are recognised by the table `errors` that it declares,
by the name of their class, or by an attribute with the HTTP status (`status_code`, `status`, `http_status`, `code`).
"""

from __future__ import annotations

import contextvars
import uuid
from collections.abc import Mapping
from typing import Any

correlation_id_var: contextvars.ContextVar[str | None] = contextvars.ContextVar("correlation_id", default=None)
"""The correlation id for errors that are created without one."""


class LLMError(Exception):
    """The base class of all errors that an adapter raises.

    Args:
        message: What went wrong, without secrets.
        correlation_id: The identifier of the request. The default is `correlation_id_var`, or else a new UUID 4.
        provider: The name of the provider, as in the call.
        original_error: The exception that caused this error.
        extra_context: Further JSON-serialisable values, such as `status_code` and `retry_after`.
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
        """Return `message [provider=...] [correlation_id=...]`."""
        return f"{self.message} [provider={self.provider}] [correlation_id={self.correlation_id}]"

    def to_dict(self) -> dict[str, Any]:
        """Return the error as JSON values, without the original exception."""
        return {
            "error_type": type(self).__name__,
            "message": self.message,
            "provider": self.provider,
            "correlation_id": self.correlation_id,
            "extra_context": self.extra_context,
        }


class AuthenticationError(LLMError):
    """Status 401 or 403: the key is missing, wrong or lacks a permission."""


class RateLimitError(LLMError):
    """Status 429: too many requests or tokens."""


class TimeoutError(LLMError):
    """A timeout of the client, or status 408 or 504."""


class ValidationError(LLMError):
    """The response is malformed: not JSON, truncated, or of an unknown shape."""


class ServiceUnavailableError(LLMError):
    """A broken connection, or status 500, 502, 503, 529 or any other 5xx but 504."""


class ResourceNotFoundError(LLMError):
    """Status 404: there is no such model or endpoint."""


class InvalidRequestError(LLMError):
    """Status 400, 413, 422 or any other 4xx: the request is wrong."""


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
    """Return the error class for an HTTP status from 400 to 599."""
    fallback = ServiceUnavailableError if status >= 500 else InvalidRequestError
    return _BY_STATUS.get(status, fallback)
