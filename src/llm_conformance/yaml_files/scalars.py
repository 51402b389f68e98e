"""Read plain scalars of YAML as numbers, truth values, null or text, by PyYAML's own rules.

These are the rules of YAML 1.1, which vcrpy uses, too. 0x1f, 0b11 and 1:59:59 are numbers, too.
"""

from __future__ import annotations

import functools
from typing import Any

import yaml

from llm_conformance import limits

BINARY = "tag:yaml.org,2002:binary"
_NUMBERS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("int", "float"))
_TYPED = _NUMBERS | {"tag:yaml.org,2002:null", "tag:yaml.org,2002:bool"}


class BadScalarError(Exception):
    """A scalar cannot be read; the message says why."""


class _Scalars(yaml.constructor.SafeConstructor, yaml.resolver.Resolver):
    """PyYAML's rules for the types and values of plain scalars."""

    def __init__(self) -> None:
        yaml.constructor.SafeConstructor.__init__(self)
        yaml.resolver.Resolver.__init__(self)


_SCALARS = _Scalars()


def value_of(event: yaml.ScalarEvent) -> Any:
    """Return the value of a scalar. Raises BadScalarError."""
    if event.tag == BINARY:
        return _constructed(BINARY, event.value)
    return _plain(event.value) if event.implicit[0] else event.value


@functools.lru_cache(maxsize=4096)
def _plain(text: str) -> Any:
    tag = _SCALARS.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    if tag in _NUMBERS and len(text) > limits.NUMBER:
        what = f"a number of {len(text):,} characters; at most {limits.NUMBER:,} are allowed, text needs quotes"
        raise BadScalarError(what)
    return _constructed(tag, text) if tag in _TYPED else text


def _constructed(tag: str, text: str) -> Any:
    try:
        return _SCALARS.construct_document(yaml.ScalarNode(tag, text))
    except (yaml.MarkedYAMLError, ValueError, OverflowError) as error:
        why = error.problem if isinstance(error, yaml.MarkedYAMLError) else f"{error}; text needs quotes"
        raise BadScalarError(f"not valid YAML: {why}") from error
