"""The errors to raise: for an HTTP status, for an error object with status 200, and for a malformed body."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from llm_conformance.contract import Call, HttpResponse, LLMError, ValidationError, error_for_status

_STATUSES: Mapping[str, int] = {
    # Anthropic: https://docs.anthropic.com/en/api/errors
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "invalid_request_error": 400,
    "timeout_error": 504,
    # OpenAI: https://platform.openai.com/docs/api-reference/responses/object
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "too_many_requests": 429,  # Azure
    "invalid_prompt": 400,
    "vector_store_timeout": 504,
}
"""Maps the `type` or `code` of an error object to its HTTP status, as many providers use them."""
_NO_CODES: Mapping[str, int] = MappingProxyType({})


def status_error(http: HttpResponse, call: Call) -> LLMError:
    """Return the error for a response with a status of 400 or more."""
    message = _redacted(http.body.decode("utf-8", "replace"), call)[:500]
    context = {"status_code": http.status, "retry_after": http.headers.get("retry-after")}
    known = {name: value for name, value in context.items() if value is not None}
    return error_for_status(http.status)(message, provider=call.provider, extra_context=known)


def error_in_band(error: Any, call: Call, codes: Mapping[str, int] = _NO_CODES) -> LLMError:
    """Return the error for an error object that came with status 200.

    If its `status_code` or `code` is an HTTP status, this status decides the class. Otherwise the table above or the
    provider's own `codes` map its `type` or `code` to a status. An unknown error counts as status 500.
    """
    details = json.loads(_redacted(json.dumps(error if isinstance(error, Mapping) else {"message": error}), call))
    statuses = {**_STATUSES, **codes}
    numbers = (details.get("status_code"), details.get("code"))
    words = (str(details.get("type")), str(details.get("code")))
    known = [number for number in numbers if isinstance(number, int) and 400 <= number <= 599]
    known += [statuses[word] for word in words if word in statuses]
    status = known[0] if known else 500
    message = str(details.get("message") or "error in mid-stream")
    return error_for_status(status)(message, provider=call.provider, extra_context={"error": details})


@contextlib.contextmanager
def malformed_is_invalid(call: Call) -> Iterator[None]:
    """Within the `with` block, turn any error that a malformed body causes into a ValidationError."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        message = _redacted(f"malformed answer: {type(error).__name__}: {error}", call)
        raise ValidationError(message, provider=call.provider, original_error=error) from error


def _redacted(text: str, call: Call) -> str:
    return text.replace(call.api_key, "***") if call.api_key else text
