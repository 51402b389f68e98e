"""The requests to send to a provider: those recorded in a scenario, or those of a draft."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.formats.requests import request_of
from llm_conformance.recording.draft import Draft
from llm_conformance.scenarios.load import ScenarioFile
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

_ACCOUNT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")
"""The characters of accounts, projects and regions. Older projects of Google have the form `example.com:project`."""


class CannotRecordError(Exception):
    """A scenario cannot be recorded; the message says why."""


@dataclass(frozen=True)
class ProviderRequest:
    """One request.

    Attributes:
        base_url: The provider's base URL with zeros in place of the account, as in the cassette.
        path: What follows the base URL, with the query.
        body: The JSON body.
        recorded_status: The status of the present recording; None if there is none.
    """

    mode: Mode
    api: Api
    base_url: str
    path: str
    body: Mapping[str, Any]
    recorded_status: int | None = None

    @property
    def uri(self) -> str:
        """The URI that the cassette keeps."""
        return self.base_url + self.path


def requests_of_draft(draft: Draft, model: str | None) -> Iterator[ProviderRequest]:
    """Yield the requests of a draft: its own `request`, or a request in the provider's form made from its `call`.

    Raises:
        CannotRecordError: The conversation has an earlier answer, and the draft has no `request`.
    """
    call = {**draft.document["call"], **({"model": model} if model else {})}
    if not draft.request and any(_is_of_another_form(draft.api, message) for message in call["messages"]):
        raise CannotRecordError("its conversation has an earlier answer; add `request:` with the body to send")
    base_url = re.sub(r"\{\w+\}", "0" * 32, draft.api.base_urls[0])
    for mode in draft.modes:
        body = dict(draft.request) or request_of(draft.api, call, mode)
        if draft.request and not draft.api.names_model_in_path:
            body |= {"model": model} if model else {}
            body |= draft.api.stream_field(mode == "stream")
        yield ProviderRequest(mode, draft.api, base_url, draft.api.path_for(mode == "stream", call["model"]), body)


def _is_of_another_form(api: Api, message: Mapping[str, Any]) -> bool:
    """Return True for an earlier answer that has to be in the provider's own form."""
    return "role" not in message or (bool(message.get("tool_calls")) and api.wire != "chat")


def requests_of_scenario(file: ScenarioFile, model: str | None) -> Iterator[ProviderRequest]:
    """Yield the recorded requests of a scenario, with a new `model` if one is given.

    Raises:
        CannotRecordError: Nobody can make a provider answer in the way that the scenario needs.
    """
    expected = file.document["expected"]
    if any(key in file.document or key in expected for key in ("fault", "unknown")):
        raise CannotRecordError("it shows a fault or something that does not exist, which no provider can be asked for")
    if file.outage is not None:
        raise CannotRecordError("it begins with an outage, which no provider can be asked for")
    api = file.api
    for mode in file.modes:
        recorded = file.interaction(mode)
        place = api.place(recorded.uri)
        if place is None:
            raise CannotRecordError(f"its cassette has a request to {recorded.uri}, which is not a URL of {api}")
        body = dict(recorded.request)
        path = place.path
        if model and "model" in body:
            body["model"] = model
        if model and place.model:
            path = path.replace(place.model, model)
        if not body:
            raise CannotRecordError("its cassette has no request")
        yield ProviderRequest(mode, api, place.base_url, path, body, recorded.status)


def base_url_for(request: ProviderRequest, given: str | None, variables: Mapping[str, str]) -> str:
    """Return the base URL for a request: `given`, or else the provider's base URL with the user's account filled in.

    Raises:
        CannotRecordError: An environment variable that the URL needs is not set or has characters that no account has,
            or a key alone does not give access to the API.
    """
    if given is not None:
        return given.rstrip("/")
    if request.api.drafts.impossible:
        raise CannotRecordError(request.api.drafts.impossible)
    missing = missing_url_variables(request.api, variables)
    if missing:
        raise CannotRecordError(f"{', '.join(missing)} is not set; {request.api} needs it for {_template(request.api)}")
    accounts = {name: variables[variable].strip() for name, variable in request.api.url_variables.items()}
    return _template(request.api).format(**accounts) if accounts else request.base_url


def missing_url_variables(api: Api, variables: Mapping[str, str]) -> list[str]:
    """Return the environment variables for the base URL of an API that are unset or empty.

    Raises:
        CannotRecordError: A variable has characters that no account has, such as those that end the host of a URL.
    """
    values = {variable: variables.get(variable, "").strip() for variable in api.url_variables.values()}
    for variable, value in values.items():
        if value and not _ACCOUNT.fullmatch(value):
            raise CannotRecordError(f"{variable} has characters that an account or a region cannot have")
    return [variable for variable, value in values.items() if not value]


def _template(api: Api) -> str:
    """Return the base URL that has a part for each of the API's `url_variables`; "" if there is no such URL."""
    return next((url for url in api.base_urls if all(f"{{{name}}}" in url for name in api.url_variables)), "")
