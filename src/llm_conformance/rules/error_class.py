"""Find the contract's class for an error of an adapter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from llm_conformance.contract import ERROR_TYPES, error_for_status


def contract_class(
    names: Iterable[str],
    status: int | None,
    table: Mapping[str, str],
    status_is_the_providers: bool,
    status_of_response: int | None = None,
) -> str | None:
    """Return the name of the contract's class for an error; None if nothing decides it.

    The first of these decides:

    1. an entry of `table` for a class and the status (`APIStatusError 429`);
    2. the status, if the provider reported an error;
    3. an entry of `table` for a class;
    4. a class name that the contract has, too;
    5. the status.

    Many libraries have one class for all statuses, so an entry for the class alone must not hide the status. Many
    libraries also make up a status, for example for a lost connection. So the status comes last if the provider
    reported no error.

    Args:
        names: The names of the error's class and its base classes.
        status: The HTTP status that the error has; None if it has none.
        table: The adapter's `errors`.
        status_is_the_providers: Whether the provider reported an error.
        status_of_response: The status of the response that the error keeps. It replaces a missing `status` in step 1
            only, because callers of the library do not see this status on the error.
    """
    names = list(names)
    looked_up = status or status_of_response
    by_status = None if status is None else error_for_status(status).__name__
    exact = [table[f"{name} {looked_up}"] for name in names if f"{name} {looked_up}" in table]
    by_table = [table[name] for name in names if name in table]
    by_name = [name for name in names if name in ERROR_TYPES]
    first = [by_status] if status_is_the_providers else []
    return next((found for found in (*exact, *first, *by_table, *by_name, by_status) if found), None)
