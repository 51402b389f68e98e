"""What is asked of a provider: the requests of a scenario as they were recorded, or those of a draft."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance import schema, yaml_files
from llm_conformance.formats.requests import request_of
from llm_conformance.scenarios.load import DRAFT, ScenarioFile
from llm_conformance.wire.interaction import MODES, Mode
from llm_conformance.wire.providers import table
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError, FileProblem


@dataclass(frozen=True)
class Ask:
    """One request.

    `uri` is where it goes as the cassette keeps it: with the provider's own base URL, and nobody's account in it.
    `rest` is what follows the base URL; `expected` the status that was recorded, None if nothing was.
    """

    mode: Mode
    api: Api
    base_url: str
    rest: str
    request: Mapping[str, Any]
    expected: int | None = None

    @property
    def uri(self) -> str:
        """The URI that the cassette keeps."""
        return self.base_url + self.rest


class CannotAskError(Exception):
    """A scenario that cannot be recorded; the message says why."""


@dataclass(frozen=True)
class Draft:
    """A conversation that nobody has recorded yet: a scenario file without recordings and truth.

    `document` is what a scenario file of it begins with.
    """

    path: Path
    api: Api
    document: Mapping[str, Any]
    modes: tuple[Mode, ...]
    request: Mapping[str, Any]

    @property
    def id(self) -> str:
        """What the scenario will be called."""
        return f"{self.api.provider}/{self.path.name.removesuffix(DRAFT)}"


def read_draft(path: Path) -> Draft:
    """Read a draft. Raises BadFileError with all that is wrong with it."""
    text = yaml_files.read_text(path)
    document = yaml_files.parse(path, text)
    problems = schema.file_problems("draft", path, text, document)
    if problems:
        raise BadFileError(*problems)
    if path.name == DRAFT:
        raise BadFileError(FileProblem(path, 1, f"has no name; call it <name>{DRAFT}"))
    api = table.table().get((document["provider"], document["api"]))
    if api is None:
        line = yaml_files.line_of(text, ("provider",))
        raise BadFileError(FileProblem(path, line, "this provider and api have no row in the provider table"))
    modes = tuple(mode for mode in MODES if mode in document.get("modes", MODES))
    kept = {key: value for key, value in document.items() if key not in ("modes", "request")}
    return Draft(path, api, kept, modes, document.get("request") or {})


def asks_of_draft(draft: Draft, model: str | None) -> Iterator[Ask]:
    """Yield the requests of a draft: its own, or what its call comes to in the provider's form."""
    call = {**draft.document["call"], **({"model": model} if model else {})}
    if not draft.request and any("role" not in each or each.get("tool_calls") for each in call["messages"]):
        raise CannotAskError("an earlier answer stands in it; write what is to be sent as `request:`, beside `call:`")
    base = re.sub(r"\{\w+\}", lambda found: "0" * 32, draft.api.base_urls[0])
    for mode in draft.modes:
        request = dict(draft.request) or request_of(draft.api, call, mode)
        if draft.request and not draft.api.names_model_in_path:
            request |= {"model": model} if model else {}
            request |= draft.api.stream_field(mode == "stream")
        yield Ask(mode, draft.api, base, draft.api.path_for(mode == "stream", call["model"]), request)


def asks_again(file: ScenarioFile, model: str | None) -> Iterator[Ask]:
    """Yield the requests of a scenario as they were recorded, of another `model` if one is given.

    Raises CannotAskError for one that no provider can be asked for.
    """
    expected = file.document["expected"]
    for key in ("fault", "unknown"):
        if key in file.document or key in expected:
            raise CannotAskError(
                "it shows what goes wrong on the way, or what does not exist; nobody can be asked for it"
            )
    if file.outage is not None:
        raise CannotAskError("it begins with a failure, which no provider has when it is asked to")
    api = file.api
    for mode in file.modes:
        recorded = file.interaction(mode)
        place = api.place(recorded.uri)
        if place is None:
            raise CannotAskError(f"its cassette has a request to {recorded.uri}, which is no call of {api}")
        request = dict(recorded.request)
        rest = place.path
        if model and "model" in request:
            request["model"] = model
        if model and place.model:
            rest = rest.replace(place.model, model)
        if not request:
            raise CannotAskError("its cassette has no request")
        yield Ask(mode, api, place.base_url, rest, request, recorded.status)


def base_url_for(ask: Ask, given: str | None, variables: Mapping[str, str]) -> str:
    """Return where a request really goes. Raises CannotAskError where that takes a variable that is not set."""
    if given is not None:
        return given.rstrip("/")
    for template in ask.api.base_urls:
        names = re.findall(r"\{(\w+)\}", template)
        if names:
            missing = [ask.api.url_variables[name] for name in names if ask.api.url_variables[name] not in variables]
            if missing:
                raise CannotAskError(f"{', '.join(missing)} is not set; {ask.api} is called at {template}")
            return template.format(**{name: variables[ask.api.url_variables[name]] for name in names})
    return ask.base_url
