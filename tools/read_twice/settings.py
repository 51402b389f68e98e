"""Read `sdks.toml`, which says which SDK reads which API, and `explained.toml`, which lists the known differences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from llm_conformance import schema, toml_files
from llm_conformance.wire.providers import table
from llm_conformance.wording import did_you_mean, no_such
from llm_conformance.yaml_files import BadFileError, FileProblem
from tools.read_twice.difference import Difference
from tools.sdk_types import settings as sdk_types
from tools.sdk_types.settings import Sdk

SDKS = Path(__file__).with_name("sdks.toml")
EXPLAINED = Path(__file__).with_name("explained.toml")


@dataclass(frozen=True)
class Reads:
    """An SDK and the APIs whose answers it reads.

    Attributes:
        sdk: The SDK with its requirements.
        reader: The module of `readers/` that calls it.
        options: The options of this module.
        apis: `provider:api`.
    """

    sdk: Sdk
    reader: str
    apis: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Explanation:
    """Differences that are known, and why. Each glob has to match something.

    Attributes:
        apis: Globs of `provider:api`.
        fields: Globs of fields.
        reason: Why the expected value is right, or why the SDK does not read it.
        source: Where the reason can be seen.
        shape: The shape of the difference, "" for any.
        mode: `json` or `stream`, "" for both.
        recordings: Globs of ids.
        found: A glob for both values, as they are listed.
        generated: Whether the difference occurs in drawn answers only. Then no recording has to match.
        line: The line of the file.
    """

    apis: tuple[str, ...]
    fields: tuple[str, ...]
    reason: str
    source: str
    shape: str = ""
    mode: str = ""
    recordings: tuple[str, ...] = ("*",)
    found: str = "*"
    generated: bool = False
    line: int = 0

    def globs(self) -> Iterator[tuple[str, str]]:
        """Yield (column, glob) for each glob."""
        for column in ("apis", "fields", "recordings"):
            yield from ((column, glob) for glob in getattr(self, column))

    def fits(self, difference: Difference) -> list[tuple[str, str]]:
        """Return the globs that match a difference; [] if the explanation is about other differences."""
        values = {"apis": difference.api, "fields": difference.field, "recordings": difference.recording}
        if self.shape not in ("", difference.shape) or self.mode not in ("", difference.mode):
            return []
        if not fnmatchcase(difference.found, self.found):
            return []
        matching = [(column, glob) for column, glob in self.globs() if fnmatchcase(values[column], glob)]
        return matching if {column for column, _ in matching} == set(values) else []


class Explained:
    """Finds explanations, and remembers which of their globs have matched."""

    def __init__(self, explanations: Sequence[Explanation]) -> None:
        self._explanations = explanations
        self._used: set[tuple[int, str, str]] = set()

    def of(self, difference: Difference) -> Explanation | None:
        """Return the first explanation that fits. Remember the globs of all that fit."""
        first = None
        for number, each in enumerate(self._explanations):
            matching = each.fits(difference)
            self._used |= {(number, *pair) for pair in matching}
            first = first or (each if matching else None)
        return first

    def unused(self) -> Iterator[str]:
        """Yield the globs that matched no difference, without those for drawn answers."""
        for number, each in enumerate(self._explanations):
            for column, glob in each.globs():
                if (number, column, glob) not in self._used and not each.generated:
                    yield f"{glob} of `{column}` in line {each.line} ({each.reason})"


def reads(path: Path) -> list[Reads]:
    """Return which SDK reads which APIs. Raises BadFileError with everything that is wrong with the file."""
    document, text = toml_files.read(path)
    problems = list(_problems(path, text, document, SDKS))
    pinned = sdk_types.sdks(sdk_types.SDKS)
    known = [str(api) for api in table.table().values()]
    for number, each in enumerate([] if problems else document["reads"]):
        if "requirements" not in each and each["sdk"] not in pinned:
            message = f"{each['sdk']}: no such SDK in {sdk_types.SDKS.name} of tools/sdk_types, and no `requirements`"
            problems.append(FileProblem(path, toml_files.line_of(text, ("reads", number, "sdk")), message))
        for index, api in enumerate(each["apis"]):
            if api not in known:
                line = toml_files.line_of(text, ("reads", number, "apis", index))
                wrong = no_such("API", did_you_mean(api, known), "llm-conformance list providers")
                problems.append(FileProblem(path, line, f"{api}: {wrong}"))
    if problems:
        raise BadFileError(*problems)
    return [
        Reads(_sdk(each, pinned), each["reader"], tuple(each["apis"]), each.get("options", {}))
        for each in document["reads"]
    ]


def _sdk(columns: Mapping[str, Any], pinned: Mapping[str, Sdk]) -> Sdk:
    name = columns["sdk"]
    requirements = columns.get("requirements") or pinned[name].requirements
    return Sdk(name, tuple(requirements), ())


def explanations(path: Path) -> list[Explanation]:
    """Return the explained differences. Raises BadFileError."""
    document, text = toml_files.read(path)
    problems = list(_problems(path, text, document, EXPLAINED))
    if problems:
        raise BadFileError(*problems)
    return [
        Explanation(**_frozen(each), line=toml_files.line_of(text, ("explained", number)))
        for number, each in enumerate(document.get("explained", ()))
    ]


def _frozen(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in columns.items()}


def _problems(path: Path, text: str, document: Mapping[str, Any], form: Path) -> Iterable[FileProblem]:
    """Yield the violations of the schema `form`: `sdks.schema.json` or `explained.schema.json`."""
    validator = Draft202012Validator(json.loads(form.with_suffix(".schema.json").read_text("utf-8")))
    for where, message in schema.violations(validator, document):
        yield FileProblem(path, toml_files.line_of(text, where), f"{schema.dotted(where)}: {message}")
