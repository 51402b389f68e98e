"""Read YAML files that are untrusted input, as scenarios and cassettes are.

A file is refused if it is larger than `MAX_BYTES`, nested deeper than `MAX_DEPTH`, has a tag other than `!!binary`,
has an anchor (a small file with aliases can expand without end), or has the same key twice. Dates stay text. A file
whose name ends in `.gz` is decompressed.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML was built without libyaml: slower, equally safe
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 64

_BINARY = "tag:yaml.org,2002:binary"

Where: TypeAlias = tuple[str | int, ...]
"""A path in a document: keys and indices."""


@dataclass(frozen=True)
class FileProblem:
    """One thing that is wrong with a file; `line` is counted from 1, `message` says what to do about it."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        """Return `path:line: message`."""
        return f"{self.path}:{self.line}: {self.message}"


class BadFileError(Exception):
    """A file that cannot be used, with everything that is wrong with it."""

    def __init__(self, *problems: FileProblem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class RefusedError(BadFileError):
    """A YAML file with anchors, which this suite does not read."""


def read_text(path: Path) -> str:
    """Return the text of a file. Raises BadFileError if it is missing, too large, not UTF-8 or not what `.gz` says."""
    try:
        found = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
        if found is not None and path.suffix == ".gz":
            found = _decompressed(found)
        if found is None:
            raise BadFileError(FileProblem(path, 1, f"larger than {MAX_BYTES // 2**20} MiB; split the recording"))
        return found.decode("utf-8")
    except OSError as error:
        raise BadFileError(FileProblem(path, 1, f"cannot be read: {error.strerror}")) from error
    except zlib.error as error:
        raise BadFileError(FileProblem(path, 1, f"not compressed with gzip: {error}")) from error
    except UnicodeDecodeError as error:
        raise BadFileError(FileProblem(path, 1, f"not UTF-8 at byte {error.start}; write bytes as !!binary")) from error


def _decompressed(found: bytes) -> bytes | None:
    """Return what gzip has compressed, None if that is larger than a file may be."""
    reader = zlib.decompressobj(16 + zlib.MAX_WBITS)
    text = reader.decompress(found, MAX_BYTES + 1)
    if len(text) <= MAX_BYTES and not reader.eof:
        raise zlib.error("the file is cut off")
    return text if len(text) <= MAX_BYTES else None


def parse(path: Path, text: str, of_recorder: bool = False) -> Any:
    """Return the one YAML document in `text`. Raises BadFileError, with the line, if it is refused.

    With `of_recorder` it may have the tags of Ruby's recorders: `!binary` is read as `!!binary`, and what is behind
    `!ruby/...` is read as if it had no tag.
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
    """Return the line of every value in a text that `parse` has accepted, by path."""
    lines: dict[Where, int] = {}
    _read(text, lines)
    return lines


class _RefusedYamlError(Exception):
    """Why a text is refused, and in which line."""

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
    """Return the document in one pass over the parser's events; put the line of every value into `lines`."""
    reader = _Reader(lines, of_recorder)
    for event in yaml.parse(text, Loader=_SafeLoader):
        reader.take(event)
    return reader.document


class _Reader:
    """Builds a document from the events of the parser, and refuses what is not allowed."""

    def __init__(self, lines: dict[Where, int] | None, of_recorder: bool = False) -> None:
        self.document: Any = None
        self._documents = 0
        self._open: list[_Collection] = []
        self._lines = lines
        self._of_recorder = of_recorder

    def take(self, event: yaml.Event) -> None:
        """Read the next event."""
        if isinstance(event, yaml.NodeEvent):
            self._refuse_anchor_and_tag(event)
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
            tag = _BINARY if tag == "!binary" else None
            event.tag = tag  # type: ignore[attr-defined]
        if tag is not None and tag != _BINARY:
            raise _RefusedYamlError(event, f"YAML tag {tag!r} refused; only !!binary is allowed")
        if event.anchor is not None:
            raise _RefusedYamlError(event, "YAML anchors and aliases are refused; write the value out", RefusedError)

    def _take_scalar(self, event: yaml.ScalarEvent) -> None:
        inner = self._open[-1] if self._open else None
        if inner is None or isinstance(inner.value, list) or inner.has_key:
            self._put(event, _scalar(event))
            return
        if event.value in inner.names:
            raise _RefusedYamlError(event, f"not valid YAML: the key {event.value!r} occurs twice")
        inner.names.add(event.value)
        inner.key, inner.has_key = _scalar(event), True
        self._note(event, (*inner.where, event.value))

    def _start(self, event: yaml.Event, value: dict[Any, Any] | list[Any]) -> None:
        inner = self._open[-1] if self._open else None
        if inner is not None and isinstance(inner.value, dict) and not inner.has_key:
            raise _RefusedYamlError(event, "not valid YAML: a key has to be plain text")
        if len(self._open) == MAX_DEPTH:
            raise _RefusedYamlError(event, f"nested deeper than {MAX_DEPTH} levels")
        self._open.append(_Collection(value, self._put(event, value)))

    def _put(self, event: yaml.Event, value: Any) -> Where:
        """Put a value where it belongs, and return its path; paths are built only if lines are wanted."""
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


class _Scalars(yaml.constructor.SafeConstructor, yaml.resolver.Resolver):
    """PyYAML's own rules for plain scalars: which are numbers, truth values or null, and what their values are."""

    def __init__(self) -> None:
        yaml.constructor.SafeConstructor.__init__(self)
        yaml.resolver.Resolver.__init__(self)


_SCALARS = _Scalars()
_TYPED = frozenset(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float"))


def _scalar(event: yaml.ScalarEvent) -> Any:
    if event.tag == _BINARY:
        return _SCALARS.construct_document(yaml.ScalarNode(_BINARY, event.value))
    return _plain(event.value) if event.implicit[0] else event.value


@functools.lru_cache(maxsize=4096)
def _plain(text: str) -> Any:
    tag = _SCALARS.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return _SCALARS.construct_document(yaml.ScalarNode(tag, text)) if tag in _TYPED else text
