"""Read TOML files that people write, and find the lines of problems in them."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from llm_conformance import limits
from llm_conformance.yaml_files import BadFileError, FileProblem

Where = tuple[str | int, ...]
"""A place in a document: keys of tables, and positions in lists."""


def read(path: Path) -> tuple[dict[str, Any], str]:
    """Return the document and the text of a file. Raises BadFileError if it cannot be read or is not TOML."""
    try:
        if path.stat().st_size > limits.BYTES:
            raise BadFileError(FileProblem(path, 1, f"is larger than {limits.BYTES:,} bytes"))
        text = path.read_text("utf-8")
    except OSError as error:
        raise BadFileError(FileProblem(path, 1, f"cannot be read: {error.strerror}")) from error
    except UnicodeDecodeError as error:
        raise BadFileError(FileProblem(path, 1, f"not valid TOML: {error}")) from error
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        at_line = re.search(r"at line (\d+)", str(error))
        line = int(at_line[1]) if at_line else len(text.splitlines())  # "at end of document"
        raise BadFileError(FileProblem(path, line, f"not valid TOML: {error}")) from error
    except (ValueError, RecursionError) as error:  # a number with too many digits, or lists nested too deep
        raise BadFileError(FileProblem(path, 1, f"cannot be read: {error}")) from error


def line_of(text: str, where: Where) -> int:
    """Return the line, counted from 1, of the key at `where`, or of its nearest parent that the text names."""
    lines = _line_by_place(text)
    return next((lines[where[:depth]] for depth in range(len(where), 0, -1) if where[:depth] in lines), 1)


@functools.lru_cache(maxsize=8)
def _line_by_place(text: str) -> Mapping[Where, int]:
    return dict(_lines(text))


def _lines(text: str) -> Iterator[tuple[Where, int]]:
    """Yield (place, line of a statement) for each place in a text. If a place has several, the last is most precise."""
    table: Where = ()
    lengths: dict[Where, int] = {}  # of lists of tables, such as [[deviation]]
    for line, statement in _statements(text):
        document = tomllib.loads(statement)
        if not statement.lstrip().startswith("["):
            yield from ((table + where, line) for where in _places(document))
            continue
        table = ()
        *parents, name = next(reversed(list(_places(document, into_lists=False))), ("",))
        for key in parents:
            table = (*table, key)
            table = (*table, lengths[table] - 1) if table in lengths else table
        table = (*table, name)
        if statement.lstrip().startswith("[["):
            lengths[table] = lengths.get(table, 0) + 1
            table = (*table, lengths[table] - 1)
        yield table, line


_TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'{3}.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|\#[^\n]*|[\[\]{}]|\n''', re.DOTALL
)
"""A text, a comment, a bracket, or the end of a line."""


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield (first line, statement) for each header and each `key = value` of a valid text."""
    text += "\n"
    begin = line = depth = 0
    first = 1
    for token in _TOKEN.finditer(text):
        line += token[0].count("\n")
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if token[0] != "\n" or depth:
            continue
        statement, begin = text[begin : token.end()], token.end()
        if statement.strip() and not statement.lstrip().startswith("#"):
            yield first, statement
        first = line + 1


def _places(value: Any, where: Where = (), into_lists: bool = True) -> Iterator[Where]:
    if where:
        yield where
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    if into_lists or not isinstance(value, list):
        for key, inner in items:
            yield from _places(inner, (*where, key), into_lists)
