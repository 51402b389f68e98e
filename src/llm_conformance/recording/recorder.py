"""Record a scenario: send each of its requests, and propose the responses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path

import httpx

from llm_conformance import secrets
from llm_conformance.recording import client, documents, proposals, provider_request
from llm_conformance.recording.client import RawResponse
from llm_conformance.recording.documents import Recording
from llm_conformance.recording.draft import Draft
from llm_conformance.recording.proposals import Proposal
from llm_conformance.recording.provider_request import CannotRecordError, ProviderRequest
from llm_conformance.recording.scrubbing import cleaned_value, scrub, without_account
from llm_conformance.recording.splice import Splice, splice
from llm_conformance.scenarios.load import ScenarioFile
from llm_conformance.wire import answers
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers.api import Api

_TOKEN = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w-]{16,}")
"""A part of a path that may be a token. Names and versions of APIs are shorter or have no digits."""


@dataclass(frozen=True)
class Task:
    """A scenario to record. `target` is its scenario file; `source` is the present content of that file, or a draft."""

    target: Path
    source: ScenarioFile | Draft

    @property
    def api(self) -> Api:
        """The API to which the requests are sent."""
        return self.source.api

    def requests(self, model: str | None) -> list[ProviderRequest]:
        """Return the requests, one for each mode. Raises CannotRecordError."""
        if isinstance(self.source, Draft):
            return list(provider_request.requests_of_draft(self.source, model))
        return list(provider_request.requests_of_scenario(self.source, model))

    @property
    def earlier(self) -> list[ScenarioFile]:
        """The scenarios whose answers are in its conversation."""
        return [] if isinstance(self.source, Draft) else list(self.source.earlier.values())


@dataclass
class Recorder:
    """Records scenarios one after the other. Earlier turns of a conversation must be recorded first.

    Attributes:
        model: The model to request instead of the recorded one.
        base_url: The base URL to use instead of the provider's.
        source: A note by the user, for the cassette.
        done: A function that is called after each response.
        splices: The replacements for the answers recorded so far, by scenario file and mode.
    """

    cassette_dir: Path
    model: str | None
    base_url: str | None
    environment: Mapping[str, str]
    today: date
    source: str = ""
    done: Callable[[], object] = lambda: None
    splices: dict[tuple[Path, Mode], Splice] = field(default_factory=dict)

    def record(self, task: Task) -> Proposal:
        """Send the requests of a scenario and propose the responses.

        Raises:
            CannotRecordError: The scenario cannot be recorded.
            RefusedError: The provider refuses access.
            LeakError: The response has a secret that cannot be masked.
            httpx.TransportError: There was no response.
        """
        recordings: list[Recording] = []
        masked: set[str] = set()
        known = self._secrets(task.api)
        for request in task.requests(self.model):
            request = self._with_new_answers(task, request)
            base_url = provider_request.base_url_for(request, self.base_url, self.environment)
            key = key_for(request.api, self.environment)
            response = client.send(request, base_url + request.path, key)
            self.done()
            scrubbed = scrub(_interaction(request, response), request.api, known)
            recordings.append(Recording(request, response, scrubbed.interaction))
            masked.update(scrubbed.masked)
        self._remember(task, recordings)
        metadata = documents.metadata(recordings, self.today, self.base_url, self.source)
        metadata["endpoint"] = without_account(metadata["endpoint"], task.api)
        document = documents.scenario(
            task.source.document, recordings, self.model, self._earlier_splices(task, recordings), self._own(task)
        )
        return proposals.propose(
            self.cassette_dir,
            task.target,
            cleaned_value(metadata, known)[0],
            [each.interaction for each in recordings],
            cleaned_value(document, known)[0],
            {
                "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
                "modes": [each.request.mode for each in recordings],
                "attempts": [each.response.attempts for each in recordings],
                "broke_off": [each.response.broke_off for each in recordings],
                "masked": sorted(masked),
                "failed": [[each.request.mode, each.response.status] for each in recordings if _is_new_error(each)],
            },
        )

    def _secrets(self, api: Api) -> list[str]:
        """Return the secrets that the response may repeat: all keys, the account, and parts of the base URL."""
        names = (*api.key_variables, *api.url_variables.values())
        own = [self.environment[name] for name in names if name in self.environment]
        return [*own, *secret_parts(self.base_url or ""), *secrets.of_environment()]

    def _with_new_answers(self, task: Task, request: ProviderRequest) -> ProviderRequest:
        """Return the request with the new answers of the earlier turns in its conversation."""
        for file in task.earlier:
            new_answer = self.splices.get((file.path, request.mode))
            if new_answer is None:
                raise CannotRecordError(f"the earlier turn {file.path.name} was not recorded for {request.mode}")
            request = replace(request, body=new_answer.apply_to_request(request.body))
        return request

    def _remember(self, task: Task, recordings: Iterable[Recording]) -> None:
        """Keep the replacements for the new answers, for later turns of the conversation."""
        if isinstance(task.source, Draft):
            return
        for recording in recordings:
            mode = recording.request.mode
            old = answers.derive_if_readable(task.source.interaction(mode), task.api)
            new = recording.facts
            if old is not None and new is not None:
                try:
                    self.splices[task.source.path, mode] = splice(old, new)
                except CannotRecordError:
                    continue  # then _with_new_answers refuses a later turn

    def _earlier_splices(self, task: Task, recordings: Iterable[Recording]) -> list[Splice]:
        return [self.splices[file.path, each.request.mode] for file in task.earlier for each in recordings]

    def _own(self, task: Task) -> Mapping[Mode, Splice]:
        """Return the replacements for the task's own answer, by mode."""
        return {mode: own for (path, mode), own in self.splices.items() if path == task.target}


def secret_parts(url: str) -> Iterator[str]:
    """Yield the user and password of a URL, and the parts of its path that look like tokens."""
    parts = httpx.URL(url)
    yield from filter(None, [parts.username, parts.password])
    yield from (part for part in parts.path.split("/") if _TOKEN.fullmatch(part))


def key_for(api: Api, environment: Mapping[str, str]) -> str | None:
    """Return the key from the first environment variable that is set; None if no variable is set or no key is needed.

    Raises:
        CannotRecordError: The key has characters that a header cannot have.
    """
    for name in api.key_variables:
        key = environment.get(name, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise CannotRecordError(f"{name} has characters that a key cannot have")
        if key:
            return key
    return None


def missing_variables(api: Api, environment: Mapping[str, str], base_url: str | None) -> list[str]:
    """Return the environment variables for a recording that are unset or empty. For a key, this may be `A or B`.

    Raises:
        CannotRecordError: The key, an account or a region has characters that it cannot have.
    """
    is_open = not api.is_hosted or key_for(api, environment) is not None
    key = [] if is_open else [" or ".join(api.key_variables)]
    return key + ([] if base_url else provider_request.missing_url_variables(api, environment))


def _is_new_error(recording: Recording) -> bool:
    """Return True if the status is an error, but the status of the present recording is not."""
    return recording.response.status >= 400 and (recording.request.recorded_status or 0) < 400


def _interaction(request: ProviderRequest, response: RawResponse) -> Interaction:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Interaction(request.uri, request.body, response.status, headers, response.body)
