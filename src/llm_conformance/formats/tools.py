"""The tools of a request, in a form that does not depend on the wire format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.formats.turns import objects

_DATE = re.compile(r"_20\d{6}$")
_SCHEMAS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
_DECLARATIONS = ("functionDeclarations", "function_declarations")
_COMPOSED = frozenset({"$ref", "allOf", "anyOf", "oneOf"})


@dataclass(frozen=True)
class Tool:
    """A tool that a request offers to the model.

    Attributes:
        name: The name of a function; for a tool that the provider defines, its type without the date.
        hosted: Whether the provider defines it.
        parameters: The names of a function's parameters; None if they are not known.
    """

    name: str
    hosted: bool = False
    parameters: frozenset[str] | None = None

    def __str__(self) -> str:
        """Return the tool for a message."""
        return f"the provider's tool {self.name!r}" if self.hosted else f"the tool {self.name!r}"


def tools_of(request: Mapping[str, Any]) -> Iterator[Tool]:
    """Yield the tools of a request of any wire format."""
    config = request.get("toolConfig")
    lists = (request.get("tools"), request.get("functions"), config.get("tools") if isinstance(config, Mapping) else ())
    for declared in lists:
        for tool in [declared] if isinstance(declared, Mapping) else objects(declared):  # Gemini takes a single tool
            yield from _tools_in(tool)


def _tools_in(tool: Mapping[str, Any]) -> Iterator[Tool]:
    """Yield the tools of one item. In formats that declare functions in a list, an item has several tools."""
    kind = tool.get("type")
    for name in _DECLARATIONS:
        yield from map(_function, objects(tool.get(name)))
    tool = {key: value for key, value in tool.items() if key not in _DECLARATIONS}
    if not tool:
        return
    inner = tool.get(kind if kind in ("function", "custom") else "toolSpec" if "toolSpec" in tool else "function")
    system_tool = tool.get("systemTool")
    if isinstance(inner, Mapping):
        yield _function(inner)
    elif isinstance(tool.get("name"), str) and (kind in (None, "function", "custom") or "input_schema" in tool):
        yield _function(tool)
    elif isinstance(system_tool, Mapping):
        yield Tool(str(system_tool.get("name")), hosted=True)
    elif isinstance(kind, str):
        yield Tool(_DATE.sub("", kind), hosted=True)
    else:
        names = (name for name in tool if name not in ("cachePoint", "cache_control") and tool[name] is not None)
        yield from (Tool(name, hosted=True) for name in names)


def _function(function: Mapping[str, Any]) -> Tool:
    found = (function[name] for name in _SCHEMAS if isinstance(function.get(name), Mapping))
    schema: Mapping[str, Any] = next(found, {})
    schema = schema["json"] if isinstance(schema.get("json"), Mapping) else schema
    properties = schema.get("properties")
    known = isinstance(properties, Mapping) or not _COMPOSED & set(schema)
    names = frozenset(properties) if isinstance(properties, Mapping) else frozenset()
    return Tool(str(function.get("name")), parameters=names if known else None)
