"""Helpers of the themes with faults: the expected values of a call that fails, and the values in its error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llm_conformance.contract import error_for_status
from llm_conformance.generate.generator import CREATED
from llm_conformance.generate.ids import example
from llm_conformance.scenarios.expected import Expected, Unreported
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.errors import MESSAGE, StatusError, StreamError

ANY = "LLMError"
"""The expected error of a call for which every class of the contract is right."""


def failure(
    error: str,
    fault: Unreported = "",
    retry_after: str | None = None,
    may_raise: tuple[str, ...] = (),
) -> Expected:
    """Return the expected values of a call that fails; `Expected` explains the arguments."""
    return Expected(stated=frozenset({"error"}), error=error, fault=fault, retry_after=retry_after, may_raise=may_raise)


def class_meant(error: StatusError | StreamError) -> str:
    """Return the class of exception that an error demands: that of its status, or ANY if there is no status."""
    status = error.status if isinstance(error, StatusError) and error.status != 200 else error.means
    return error_for_status(status).__name__ if status else ANY


def values(api: Api, message: str, model: str, answer: str | None = None) -> Mapping[str, Any]:
    """Return the values of an error that differ from answer to answer.

    Args:
        api: The API.
        message: The text of the error.
        model: The model that answers.
        answer: The id of the answer that the error ends, if there was one.
    """
    kind = "request" if "request" in api.ids or "answer" not in api.ids else "answer"
    forms = api.ids.get(kind, ())
    own = example(forms[0], 0) if forms else "error-1"
    id = own if kind == "request" or answer is None else answer
    return {MESSAGE: message, "$id": id, "$model": model, "$created": CREATED, "$number": 9}
