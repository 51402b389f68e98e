"""Read `sdks.toml`, which names the types for each API, and `explained.toml`, which lists the known differences."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

from jsonschema import Draft202012Validator

from llm_conformance import schema, toml_files
from llm_conformance.wire.providers import table
from llm_conformance.wording import did_you_mean, no_such
from llm_conformance.yaml_files import BadFileError, FileProblem
from tools.documents import Kind

SDKS = Path(__file__).with_name("sdks.toml")
EXPLAINED = Path(__file__).with_name("explained.toml")
_SDKS_SCHEMA = Path(__file__).with_name("sdks.schema.json")
_EXPLAINED_SCHEMA = Path(__file__).with_name("explained.schema.json")


@dataclass(frozen=True)
class Holding:
    """The types that the documents of some APIs are compared with. The type with the fewest differences counts.

    Attributes:
        apis: `provider:api`.
        json: The types of plain answers.
        event: The types of the documents of a stream.
        error: The types of errors, also of errors in a stream or with the status 200.
        request: The types of requests.
        note: Why these types describe the API, although the SDK is another provider's.
    """

    apis: tuple[str, ...]
    json: tuple[str, ...]
    event: tuple[str, ...]
    error: tuple[str, ...] = ()
    request: tuple[str, ...] = ()
    note: str = ""

    def types(self, kind: Kind) -> tuple[str, ...]:
        """Return the types that a document of a kind may have. Without types, the document is not compared."""
        own: Mapping[Kind, tuple[str, ...]] = {
            "request": self.request,
            "json": self.json + self.error,
            "event": self.event + self.error,
            "error": self.error,
        }
        return own[kind]


@dataclass(frozen=True)
class Sdk:
    """An SDK, its requirements with exact versions, and its types for APIs."""

    name: str
    requirements: tuple[str, ...]
    holds: tuple[Holding, ...]


@dataclass(frozen=True)
class Explanation:
    """Differences that are known, and why. Each glob has to match something.

    Attributes:
        apis: Globs of `provider:api`.
        at: Globs of places: JSON pointers with `*` for each index.
        reason: Why the scenario is right.
        source: Where the reason can be read.
        kind: The kind of difference, "" for any.
        scenario: A glob of scenario ids.
        found: A glob of what was found, as it is listed: `type='ping'`.
        line: The line of the file.
    """

    apis: tuple[str, ...]
    at: tuple[str, ...]
    reason: str
    source: str
    kind: str = ""
    scenario: str = "*"
    found: str = "*"
    line: int = 0

    def pairs(self) -> list[tuple[str, str]]:
        """Return each pair of a glob for APIs and a glob for places."""
        return [(api, at) for api in self.apis for at in self.at]

    def fits(self, api: str, scenario: str, kind: str, place: str, message: str) -> list[tuple[str, str]]:
        """Return the pairs of globs that match a difference."""
        if self.kind not in ("", kind) or not fnmatchcase(scenario, self.scenario):
            return []
        if not fnmatchcase(message, self.found):
            return []
        return [pair for pair in self.pairs() if fnmatchcase(api, pair[0]) and fnmatchcase(place, pair[1])]


def sdks(path: Path) -> dict[str, Sdk]:
    """Return the SDKs by name. Raises BadFileError with everything that is wrong with the file."""
    document, text = toml_files.read(path)
    _check(path, text, document, _SDKS_SCHEMA)
    _check_apis(path, text, document)
    found = {}
    for name, columns in document.get("sdk", {}).items():
        holds = tuple(
            _record(Holding, each, path, text, ("sdk", name, "holds", number))
            for number, each in enumerate(columns.pop("holds", ()))
        )
        found[name] = _record(Sdk, {"name": name, "holds": holds, **columns}, path, text, ("sdk", name))
    return found


def explanations(path: Path) -> list[Explanation]:
    """Return the explained differences. Raises BadFileError."""
    document, text = toml_files.read(path)
    _check(path, text, document, _EXPLAINED_SCHEMA)
    found = []
    for number, each in enumerate(document.get("explained", ())):
        where: toml_files.Where = ("explained", number)
        line = toml_files.line_of(text, where)
        found.append(_record(Explanation, {**each, "line": line}, path, text, where))
    return found


def _check(path: Path, text: str, document: Mapping[str, Any], form: Path) -> None:
    """Raise BadFileError with all violations of a schema."""
    validator = Draft202012Validator(json.loads(form.read_text("utf-8")))
    problems = [
        FileProblem(path, toml_files.line_of(text, where), f"{schema.dotted(where)}: {message}")
        for where, message in schema.violations(validator, document)
    ]
    if problems:
        raise BadFileError(*problems)


def _check_apis(path: Path, text: str, document: Mapping[str, Any]) -> None:
    """Raise BadFileError with all APIs that the provider table lacks."""
    known = [str(api) for api in table.table().values()]
    problems = [
        FileProblem(
            path,
            toml_files.line_of(text, ("sdk", name, "holds", number, "apis", index)),
            f"{api}: {no_such('API', did_you_mean(api, known), 'llm-conformance list providers')}",
        )
        for name, sdk in document["sdk"].items()
        for number, holding in enumerate(sdk["holds"])
        for index, api in enumerate(holding["apis"])
        if api not in known
    ]
    if problems:
        raise BadFileError(*problems)


T = TypeVar("T", Sdk, Holding, Explanation)


def _record(kind: type[T], columns: Mapping[str, Any], path: Path, text: str, where: toml_files.Where) -> T:
    known = {field.name for field in dataclasses.fields(kind)}
    required = {field.name for field in dataclasses.fields(kind) if field.default is dataclasses.MISSING}
    wrong = sorted(set(columns) - known) + sorted(required - set(columns))
    if wrong:
        message = f"unknown or missing: {', '.join(wrong)}; the columns are {', '.join(sorted(known))}"
        raise BadFileError(FileProblem(path, toml_files.line_of(text, where), message))
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in columns.items()}
    return kind(**values)
