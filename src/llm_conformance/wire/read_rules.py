"""The rules by which an answer of a wire format is read, from `formats/<wire>/read.toml`."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from typing import Any

from llm_conformance.locations import FORMATS


@functools.cache
def reading_rules() -> Mapping[str, tuple[Mapping[str, Any], ...]]:
    """Return the rules by which answers are read, by wire format."""
    found = sorted(FORMATS.glob("*/read.toml"))
    return {path.parent.name: tuple(tomllib.loads(path.read_text("utf-8"))["read"]) for path in found}


def places_of(rule: Mapping[str, Any]) -> Mapping[str, str]:
    """Return where a rule looks, by mode (`json`, `stream`): mostly in the same place, which is written once."""
    at = rule.get("at", "")
    return at if isinstance(at, Mapping) else {"json": at, "stream": at}
