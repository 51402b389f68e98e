"""Read a YAML document, and find the lines of its values.

A file is refused if it is nested too deep, has too many values (`limits`), a tag other than `!!binary`, an anchor (a
small file with aliases can expand without end), or the same key twice. Dates stay texts.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from llm_conformance import limits
from llm_conformance.yaml_files.problems import BadFileError, FileProblem, RefusedError
from llm_conformance.yaml_files.scalars import BINARY, BadScalarError, value_of

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML was built without libyaml: it is slower, but equally safe
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

Where: TypeAlias = tuple[str | int, ...]
"""A path in a document: keys and indices."""


def parse(path: Path, text: str, of_recorder: bool = False) -> Any:
    """Return the only YAML document in `text`. Raises BadFileError with the line if it is refused.

    With `of_recorder`, tags of Ruby's recorders are allowed: `!binary` means `!!binary`, and `!ruby/...` is ignored.
    """
    try:
        return _read(text, of_recorder=of_recorder)
    except _RefusedYamlError as refused:
        raise refused.error(FileProblem(path, refused.line, refused.message)) from refused
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "is not YAML"
        raise BadFileError(FileProblem(path, mark.line + 1 if mark else 1, f"not valid YAML: {what}")) from error
    except (yaml.YAMLError, ValueError) as error:
        raise BadFileError(FileProblem(path, 1, f"not valid YAML: {error}")) from error


def line_of(text: str, where: Where) -> int:
    """Return the line, counted from 1, of the value at a path, or of its nearest parent that exists."""
    lines = _lines(text)
    while where and where not in lines:
        where = where[:-1]
    return lines.get(where, 1)


@functools.lru_cache(maxsize=8)
def _lines(text: str) -> Mapping[Where, int]:
    """Map the path of every value in a text to its line. JSON that is not YAML is read up to the part that is not."""
    lines: dict[Where, int] = {}
    with contextlib.suppress(_RefusedYamlError, yaml.YAMLError, ValueError):
        _read(text, lines, of_recorder=True)
    return lines


class _RefusedYamlError(Exception):
    """A text is refused; says why, and in which line."""

    def __init__(self, event: yaml.Event, message: str, error: type[BadFileError] = BadFileError) -> None:
        super().__init__(message)
        self.line = _line(event)
        self.message = message
        self.error = error


@dataclass
class _Collection:
    """A mapping or a list that is being read; `key` is the path step of its next value."""

    value: dict[Any, Any] | list[Any]
    where: Where
    names: set[str] = field(default_factory=set)
    key: Any = None
    has_key: bool = False


def _read(text: str, lines: dict[Where, int] | None = None, of_recorder: bool = False) -> Any:
    """Build the document in one pass over the parser's events; put the line of every value into `lines`."""
    reader = _Reader(lines, of_recorder)
    for event in yaml.parse(text, Loader=_SafeLoader):
        reader.take(event)
    return reader.document


class _Reader:
    """Builds a document from the events of the parser, and refuses what is not allowed."""

    def __init__(self, lines: dict[Where, int] | None, of_recorder: bool = False) -> None:
        self.document: Any = None
        self._documents = 0
        self._values = 0
        self._open: list[_Collection] = []
        self._lines = lines
        self._of_recorder = of_recorder

    def take(self, event: yaml.Event) -> None:
        """Read the next event."""
        if isinstance(event, yaml.NodeEvent):
            self._refuse_anchor_and_tag(event)
            self._values += 1
            if self._values > limits.VALUES:
                raise _RefusedYamlError(event, f"more than {limits.VALUES:,} keys and values; split the file")
        if isinstance(event, yaml.ScalarEvent):
            self._take_scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._start(event, {})
        elif isinstance(event, yaml.SequenceStartEvent):
            self._start(event, [])
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise _RefusedYamlError(event, "not valid YAML: expected a single document")

    def _refuse_anchor_and_tag(self, event: yaml.NodeEvent) -> None:
        tag = getattr(event, "tag", None)
        if self._of_recorder and tag is not None and (tag == "!binary" or tag.startswith("!ruby/")):
            tag = BINARY if tag == "!binary" else None
            event.tag = tag  # type: ignore[attr-defined]
        if tag is not None and tag != BINARY:
            raise _RefusedYamlError(event, f"YAML tag {tag!r} refused; only !!binary is allowed")
        if event.anchor is not None:
            raise _RefusedYamlError(event, "YAML anchors and aliases are refused; write the value out", RefusedError)

    def _take_scalar(self, event: yaml.ScalarEvent) -> None:
        inner = self._open[-1] if self._open else None
        if inner is None or isinstance(inner.value, list) or inner.has_key:
            self._put(event, _value(event))
            return
        if event.value in inner.names:
            raise _RefusedYamlError(event, f"not valid YAML: the key {event.value!r} occurs twice")
        inner.names.add(event.value)
        inner.key, inner.has_key = _value(event), True
        self._note(event, (*inner.where, event.value))

    def _start(self, event: yaml.Event, value: dict[Any, Any] | list[Any]) -> None:
        inner = self._open[-1] if self._open else None
        if inner is not None and isinstance(inner.value, dict) and not inner.has_key:
            raise _RefusedYamlError(event, "not valid YAML: a key has to be plain text")
        if len(self._open) == limits.DEPTH:
            raise _RefusedYamlError(event, f"nested deeper than {limits.DEPTH} levels")
        self._open.append(_Collection(value, self._put(event, value)))

    def _put(self, event: yaml.Event, value: Any) -> Where:
        """Put a value into its place, and return its path. Paths are built only if lines are wanted."""
        if not self._open:
            self.document = value
            return ()
        inner = self._open[-1]
        if isinstance(inner.value, list):
            inner.value.append(value)
            step: Any = len(inner.value) - 1
        else:
            step = inner.key
            inner.value[step] = value
            inner.has_key = False
        if self._lines is None:
            return ()
        where = (*inner.where, step)
        if isinstance(inner.value, list):
            self._note(event, where)
        return where

    def _note(self, event: yaml.Event, where: Where) -> None:
        if self._lines is not None:
            self._lines[where] = _line(event)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _value(event: yaml.ScalarEvent) -> Any:
    try:
        return value_of(event)
    except BadScalarError as error:
        raise _RefusedYamlError(event, str(error)) from error
