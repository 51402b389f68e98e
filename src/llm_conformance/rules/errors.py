"""Describe the errors of adapters: exceptions, and `response.error` events."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from llm_conformance.calling.exceptions.facts import ErrorFacts, status_of
from llm_conformance.calling.exceptions.retry_after import retry_after
from llm_conformance.calling.without_values import without_values
from llm_conformance.compare import shown
from llm_conformance.rules.error_class import contract_class
from llm_conformance.rules.outcome import Raised


def raised(facts: ErrorFacts, table: Mapping[str, str], status_is_the_providers: bool = True) -> Raised:
    """Describe an exception. `table` is the adapter's `errors`; `contract_class` explains the last argument."""
    return Raised(
        type=facts.names[0],
        contract_type=contract_class(
            facts.names, facts.status, table, status_is_the_providers, facts.status_of_response
        ),
        text=facts.text,
        provider=facts.provider,
        has_origin=facts.has_origin,
        dump=facts.dump,
        headers=facts.headers,
        retry_after=facts.retry_after,
        cause=_cause(facts.names[0], facts.text),
    )


def read_error_event(
    event: Mapping[str, Any], table: Mapping[str, str], status_is_the_providers: bool = True
) -> Raised:
    """Describe the error of a `response.error` event; `raised` explains the other arguments."""
    value = event.get("error")
    error = value if isinstance(value, Mapping) else {}
    context = error.get("extra_context")
    status = status_of(error) or status_of(context if isinstance(context, Mapping) else {})
    name = str(error.get("error_type"))
    return Raised(
        type=name,
        contract_type=contract_class([name], status, table, status_is_the_providers),
        text=str(error.get("message", "")),
        provider=error.get("provider") if isinstance(error.get("provider"), str) else None,
        has_origin=True,
        dump=shown(value),
        headers=shown(value),
        retry_after=retry_after(error),
        cause=_cause(name, str(error.get("message", ""))),
    )


def _cause(name: str, text: str) -> str:
    return f"{name}: {without_values(text)}"


def is_same_wait(actual: str | None, expected: str) -> bool:
    """Return True if two waits are equal. If both are numbers, their values are compared (`41.0` is `41`)."""
    if actual is None:
        return False
    try:
        return Decimal(actual) == Decimal(expected)
    except InvalidOperation:
        return actual.strip() == expected.strip()
