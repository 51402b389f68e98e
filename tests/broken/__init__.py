"""Broken adapters: the reference adapters with one fault each, named by the fault.

Each states in `fails` the rules that it must fail, its main rule first, and in `says` what the main rule's failure must
say. The set is exact: `test_broken.py` checks that no other rule fails. An adapter is in the module of its main rule's
family, below a comment with the rule's id; `base.py` has the base classes.
"""

# No `from __future__ import annotations`: the name would hide the module of the same name.
from collections.abc import Iterator
from types import ModuleType

from tests.broken import (
    annotation_spans,
    annotations,
    asked,
    attachments,
    errors,
    finish,
    message,
    message_dialects,
    message_leaks,
    provenance,
    reasoning,
    round_trip,
    shape,
    streaming,
    tools,
    usage,
    usage_streams,
)
from tests.broken.base import Broken

_MODULES = (
    shape,
    message_leaks,
    message,
    message_dialects,
    reasoning,
    annotations,
    annotation_spans,
    usage,
    usage_streams,
    streaming,
    attachments,
    tools,
    finish,
    round_trip,
    asked,
    errors,
    provenance,
)


def _in(module: ModuleType) -> Iterator[type[Broken]]:
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Broken) and hasattr(value, "fails"):
            yield value


BROKEN = tuple(adapter for module in _MODULES for adapter in _in(module))
