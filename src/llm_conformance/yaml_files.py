"""Reading YAML that nobody has vouched for.

Cassettes and scenarios are untrusted input. A file is refused when it is larger than `MAX_BYTES`, deeper than
`MAX_DEPTH`, carries any tag but `!!binary`, or uses anchors (an alias can make a small file expand without end), or
says the same key twice. Dates stay text.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML built without libyaml: slower, equally safe
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 64
_BINARY = "tag:yaml.org,2002:binary"


@dataclass(frozen=True)
class FileProblem:
    """One thing wrong with a file: where (`line` counted from 1), and why with what to do about it."""

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
    """A file that is YAML, of a kind that is not read."""


class _Loader(_SafeLoader):
    """Safe loading, minus dates, plus refusal of doubled keys."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key has to be plain text", key_node.start_mark)
            if key_node.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key_node.value!r} stands here twice", key_node.start_mark
                )
            seen.add(key_node.value)
        return super().construct_mapping(node, deep=deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _SafeLoader.yaml_implicit_resolvers.items()
}


def read_text(path: Path) -> str:
    """Return the file's text. Raises BadFileError when it is missing, too large or not UTF-8."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadFileError(FileProblem(path, 1, f"larger than {MAX_BYTES // 2**20} MiB; split the recording"))
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise BadFileError(FileProblem(path, 1, f"cannot be read: {error.strerror}")) from error
    except UnicodeDecodeError as error:
        raise BadFileError(FileProblem(path, 1, f"not UTF-8 at byte {error.start}; write bytes as !!binary")) from error


def parse(path: Path, text: str) -> Any:
    """Return the one YAML document in `text`. Raises BadFileError, with the line, when it is refused."""
    try:
        _refuse_dangerous(path, text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - _Loader is a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "is not YAML"
        raise BadFileError(FileProblem(path, mark.line + 1 if mark else 1, f"not valid YAML: {what}")) from error
    except (yaml.YAMLError, ValueError) as error:
        raise BadFileError(FileProblem(path, 1, f"not valid YAML: {error}")) from error


def _refuse_dangerous(path: Path, text: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        tag = getattr(event, "tag", None)
        if tag is not None and tag != _BINARY:
            raise BadFileError(FileProblem(path, line, f"YAML tag {tag!r} refused; only !!binary is allowed"))
        if getattr(event, "anchor", None) is not None:
            raise RefusedError(FileProblem(path, line, "YAML anchors and aliases are refused; write the value out"))
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise BadFileError(FileProblem(path, line, f"nested deeper than {MAX_DEPTH} levels"))
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def line_of(text: str, where: tuple[str | int, ...]) -> int:
    """Return the line, counted from 1, of the value at the path `where`, or of its nearest parent that exists."""
    node = yaml.compose(text, Loader=_Loader)
    line = 1
    for step in where:
        children: dict[str | int, Any] = {}
        if isinstance(node, yaml.MappingNode):
            children = {key.value: (key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)}
        elif isinstance(node, yaml.SequenceNode):
            children = {index: (value, value) for index, value in enumerate(node.value)}
        if step not in children:
            break
        marked, node = children[step]
        line = marked.start_mark.line + 1
    return line
