"""What is expected of a call of a hostile function, and of the healthy call behind it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Function = Callable[..., Any]

_METHODS = {("http", "call"): "parse", ("chunks", "call"): "parse_stream", ("call",): "complete"}


@dataclass(frozen=True)
class Hostile:
    """A hostile function.

    Attributes:
        method: The method of the adapter in whose place it is called.
        run: The function.
        fault: A part of the fault that the call ends with; "" if it ends with an answer.
        broken: The rules that fail.
        spoils: A part of the fault of the next, healthy call in the same process; "" if that call is right.
        renews: Whether what it leaves behind would spoil calls of other functions, so that these get a new process.
    """

    method: str
    run: Function
    fault: str = ""
    broken: frozenset[str] = frozenset()
    spoils: str = ""
    renews: bool = False


BATTERY: dict[str, Hostile] = {}
"""All hostile functions, by module and name."""


def right(function: Function) -> Function:
    """Mark a function whose answer is right: what it does besides harms nobody."""
    return _added(function)


def harmless_but_lasting(function: Function) -> Function:
    """Mark a function whose answer is right, and that changes its process for good; the next call is right, too."""
    return _added(function, renews=True)


def fault(part: str, *rules: str, **more: Any) -> Callable[[Function], Function]:
    """Mark a function that ends with a fault. `rules` report the fault; SHP-1 does if there are none."""
    return lambda function: _added(function, fault=part, broken=frozenset(rules or {"SHP-1"}), **more)


def breaks(*rules: str, **more: Any) -> Callable[[Function], Function]:
    """Mark a function that gives an answer which these rules find wrong."""
    return lambda function: _added(function, broken=frozenset(rules), **more)


def _added(function: Function, method: str = "", **expected: Any) -> Function:
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    if name in BATTERY:
        raise ValueError(f"two functions have the name {name}")
    found = method or _METHODS[tuple(inspect.signature(function).parameters)]
    BATTERY[name] = Hostile(found, function, **expected)
    return function


def called(names: Mapping[str, Hostile], correlation_id: str, method: str) -> Function | None:
    """Return the hostile function that a call is meant for; None if the call is a healthy one."""
    hostile = names.get(correlation_id.split("/")[2])
    return hostile.run if hostile and hostile.method == method else None
