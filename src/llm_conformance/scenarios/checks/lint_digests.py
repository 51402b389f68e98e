"""The digests of the suite's own scenarios that passed the lint, so that a run does not lint them again.

    python -m llm_conformance.scenarios.lint cassettes --write

writes `cassettes/lint.sha256`. Its first line is the digest of the schemas and read rules. Each other line has the
digest and the id of a scenario. A scenario is linted again if its digest is missing or different. If the first digest
is different, all scenarios are linted again. Users' own directories are linted every time.

A change of the lint's own code does not change the digests, so CI lints all scenarios, whatever their digests.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from llm_conformance import yaml_files
from llm_conformance.locations import CASSETTES, FORMATS, SCHEMAS
from llm_conformance.scenarios import load
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError

_NAME = "lint.sha256"
_LINT = "(the schemas and the read rules)"
_ANSWER_OF = re.compile("answer_of")
_NAMED_ANSWER = re.compile(r"\banswer_of: *([a-z0-9.-]+)(?=[ \t]*(?:$|[},#]))", re.MULTILINE)


def passed(directory: Path) -> Mapping[str, str]:
    """Return the digests of the scenarios in a directory that passed the current lint, by scenario id."""
    if not is_ours(directory):
        return {}
    try:
        lines = file_of(directory).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    digests = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    return digests if digests.pop(_LINT, None) == _of_lint() else {}


def of_scenario(path: Path) -> str | None:
    """Return the digest of a scenario: of its file, its cassette, its API, and the scenarios whose answers it contains.

    Return None if these scenarios cannot be found without parsing the YAML.
    """
    try:
        return _of_scenario(path, {})
    except (BadFileError, UnicodeDecodeError, RecursionError):
        return None


def text(files: Iterable[Path]) -> str:
    """Return the text of a digest file for scenarios that passed the lint."""
    digests = {load.id_of(path): of_scenario(path) for path in files}
    lines = [f"{_of_lint()}  {_LINT}", *(f"{digest}  {id}" for id, digest in sorted(digests.items()) if digest)]
    return "\n".join(lines) + "\n"


def file_of(directory: Path) -> Path:
    """Return the path of the digest file of a directory."""
    return directory / _NAME


def is_ours(directory: Path) -> bool:
    """Return True for the suite's own directory. A digest file in any other directory is not trusted."""
    return directory.resolve() == CASSETTES.resolve()


def _of_scenario(path: Path, known: dict[Path, str | None]) -> str | None:
    """Return the digest of a scenario. While a digest is being computed, it is None in `known`."""
    if path not in known:
        known[path] = None
        known[path] = _of_files(path, known)
    return known[path]


def _of_files(path: Path, known: dict[Path, str | None]) -> str | None:
    content = yaml_files.read_bytes(path)
    source = content.decode("utf-8")
    api = load.api_in(source)
    names = _NAMED_ANSWER.findall(source)
    if api is None or len(names) != len(_ANSWER_OF.findall(source)):
        return None
    earlier = [_of_scenario(path.with_name(f"{name}{load.SUFFIX}"), known) for name in names]
    if None in earlier:
        return None
    return _digest(
        [load.id_of(path), content, yaml_files.read_bytes(load.cassette_path(path)), _columns(api), *map(str, earlier)]
    )


@functools.cache
def _columns(api: Api) -> str:
    """Return all columns of an API as a text."""
    columns = ((column.name, getattr(api, column.name)) for column in dataclasses.fields(api))
    return f"Api({', '.join(f'{name}={value!r}' for name, value in columns)})"


@functools.cache
def _of_lint() -> str:
    """Return the digest of the schemas and the read rules that a lint depends on."""
    # Names are relative, because a wheel and a clone have the schemas in different folders.
    files = {f"{path.parent.name}/{path.name}": path for path in _lint_files()}
    return _digest(part for name in sorted(files) for part in (name, files[name].read_bytes()))


def _lint_files() -> Iterator[Path]:
    yield from SCHEMAS.glob("*.schema.json")
    yield from FORMATS.glob("*/schema.json")
    yield from FORMATS.glob("*/read.toml")


def _digest(parts: Iterable[str | bytes]) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part.encode("utf-8") if isinstance(part, str) else part).digest())
    return total.hexdigest()
