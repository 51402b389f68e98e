"""Load the provider table: one TOML file for each provider, with a table `[api.<name>]` for each API."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance import schema, toml_files
from llm_conformance.locations import PROVIDERS
from llm_conformance.wire.framings.registry import named
from llm_conformance.wire.providers import checks, drafts
from llm_conformance.wire.providers.api import Api, Place, RoundTrip
from llm_conformance.wire.providers.backend import Backend
from llm_conformance.wire.providers.errors import StatusError, StreamError
from llm_conformance.yaml_files import BadFileError, FileProblem


@functools.cache
def table() -> Mapping[tuple[str, str], Api]:
    """Return all APIs by (provider, name). Raises BadFileError with all problems of all files."""
    return load(PROVIDERS)


def load(directory: Path) -> Mapping[tuple[str, str], Api]:
    """Return the APIs of the files `<provider>.toml` in a directory, by (provider, name).

    Raises BadFileError with all problems of all files. The columns are checked only if all files are valid against
    their schema, because an API may inherit columns from another file.
    """
    files: list[_File] = []
    problems: list[FileProblem] = []
    for path in sorted(directory.glob("*.toml")):
        try:
            document, text = toml_files.read(path)
        except BadFileError as bad:
            problems += bad.problems
            continue
        problems += schema.file_problems("provider", path, text, document)
        files.append(_File(path, text, document))
    if not problems:
        apis = {f"{file.provider}:{name}": columns for file in files for name, columns in file.document["api"].items()}
        problems += [problem for file in files for problem in file.problems(apis)]
    if problems:
        raise BadFileError(*problems)
    return {
        (file.provider, name): _api(file.provider, name, {**_inherited(columns, apis), **columns})
        for file in files
        for name, columns in file.document["api"].items()
    }


def recognise(uri: str, request: Mapping[str, Any] | None = None) -> tuple[Api, Place] | None:
    """Return the API to which a recorded request was sent; None if the table does not have it.

    If several APIs have the URL, the API that names the model is returned. Some models take both prompts and messages
    at one URL. For these, an API of text completions is returned only if `request`, the body, has a prompt.
    """
    for api in sorted(table().values(), key=lambda api: not api.path_models):
        if request and api.path_models and api.wire == "completions" and api.prompt_field not in request:
            continue
        place = api.place(uri)
        if place is not None:
            return api, place
    return None


@dataclass(frozen=True)
class _File:
    path: Path
    text: str
    document: Mapping[str, Any]

    @property
    def provider(self) -> str:
        return self.path.stem

    def problems(self, apis: Mapping[str, checks.Columns]) -> Iterator[FileProblem]:
        for name, stated in self.document["api"].items():
            like_problem = checks.like_problem(f"{self.provider}:{name}", apis)
            if like_problem:
                yield self._problem(("api", name, "like"), like_problem)
                continue
            for where, message in checks.problems(stated, _inherited(stated, apis)):
                yield self._problem(("api", name, *where), message)

    def _problem(self, where: toml_files.Where, message: str) -> FileProblem:
        return FileProblem(self.path, toml_files.line_of(self.text, where), f"{schema.dotted(where)}: {message}")


def _inherited(stated: checks.Columns, apis: Mapping[str, checks.Columns]) -> checks.Columns:
    """Return the columns of the API that `like` names; {} if the API has no `like`.

    `drafts` is not inherited, because each API is recorded in its own way.
    """
    if "like" not in stated:
        return {}
    other = apis[stated["like"]]
    return {key: value for key, value in {**_inherited(other, apis), **other}.items() if key != "drafts"}


def _api(provider: str, name: str, stated: checks.Columns) -> Api:
    columns: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in stated.items() if key != "like"
    }
    columns["usage"] = {count: tuple(paths) for count, paths in stated["usage"].items()}
    columns["repeated_counts"] = {at: tuple(paths) for at, paths in stated.get("repeated_counts", {}).items()}
    columns["finish"] = {word: reason or None for word, reason in stated["finish"].items()}
    round_trip = stated["round_trip"]
    columns["round_trip"] = RoundTrip(**{**round_trip, "fields": tuple(round_trip.get("fields", ()))})
    columns["ids"] = {kind: tuple(forms) for kind, forms in stated.get("ids", {}).items()}
    columns["further"] = _further(stated)
    columns["drafts"] = drafts.read(stated.get("drafts", {}))
    columns["backends"] = {name: _backend(each) for name, each in stated.get("backends", {}).items()}
    columns.setdefault("stream_path", stated["path"])
    columns["statuses"] = tuple(StatusError(**each) for each in stated.get("statuses", ()))
    columns["stream_errors"] = tuple(
        StreamError(**{**each, "then": tuple(each.get("then", ()))}) for each in stated.get("stream_errors", ())
    )
    if "framing" in stated:
        columns["framing"] = named(stated["framing"])
    return Api(provider=provider, name=name, **columns)


def _backend(stated: Mapping[str, Any]) -> Backend:
    return Backend(
        source=stated["source"],
        models=tuple(stated["models"]) if "models" in stated else None,
        ids={kind: tuple(forms) for kind, forms in stated.get("ids", {}).items()},
        varies={variation: tuple(ways) for variation, ways in stated.get("varies", {}).items()},
        further=_further(stated),
    )


def _further(stated: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return {at: json.loads(fields) for at, fields in stated.get("further", {}).items()}
