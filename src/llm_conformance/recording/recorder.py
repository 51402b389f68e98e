"""Recording a scenario: each of its requests made, and what came of it proposed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path

import httpx

from llm_conformance.recording import client, documents, drafts, proposals
from llm_conformance.recording.client import Answer
from llm_conformance.recording.documents import Recorded
from llm_conformance.recording.drafts import Ask, CannotAskError, Draft
from llm_conformance.recording.proposals import Proposal
from llm_conformance.recording.scrubbing import cleaned_value, scrub, without_account
from llm_conformance.recording.splice import Splice, splice
from llm_conformance.scenarios.load import ScenarioFile
from llm_conformance.wire import answers
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers.api import Api


@dataclass(frozen=True)
class Task:
    """A scenario to be recorded: one that there is, or a draft of one."""

    target: Path
    source: ScenarioFile | Draft

    @property
    def api(self) -> Api:
        """Whose API is asked."""
        return self.source.api

    def asks(self, model: str | None) -> list[Ask]:
        """Return its requests. Raises CannotAskError."""
        if isinstance(self.source, Draft):
            return list(drafts.asks_of_draft(self.source, model))
        return list(drafts.asks_again(self.source, model))

    @property
    def earlier(self) -> list[ScenarioFile]:
        """The scenarios whose answers stand in its conversation."""
        return [] if isinstance(self.source, Draft) else list(self.source.earlier.values())


@dataclass
class Recorder:
    """Records scenarios one after the other, earlier turns first.

    `splices` are, by scenario file and mode, what became of the answers that were recorded so far. `source` is what
    the user has to say of where they come from; `done` is called after each answer.
    """

    client: httpx.Client
    model: str | None
    base_url: str | None
    environment: Mapping[str, str]
    today: date
    source: str = ""
    done: Callable[[], object] = lambda: None
    splices: dict[tuple[Path, Mode], Splice] = field(default_factory=dict)

    def record(self, task: Task) -> Proposal:
        """Ask for a scenario, and propose what came back.

        Raises:
            CannotAskError: It cannot be asked for.
            RefusedError: The provider does not let us in.
            LeakError: The answer has a secret that cannot be written over.
            httpx.TransportError: There was no answer.
        """
        made: list[Recorded] = []
        found: set[str] = set()
        for ask in task.asks(self.model):
            ask = self._with_new_answers(task, ask)
            base_url = drafts.base_url_for(ask, self.base_url, self.environment)
            answer = client.call(self.client, ask, base_url + ask.rest, key_for(ask.api, self.environment))
            self.done()
            scrubbed = scrub(_interaction(ask, answer), ask.api, self._secrets(ask.api))
            made.append(Recorded(ask, answer, scrubbed.interaction))
            found.update(scrubbed.found)
        self._remember(task, made)
        metadata = documents.metadata(made, self.today, self.base_url, self.source)
        metadata["endpoint"] = without_account(metadata["endpoint"], task.api)
        document = documents.scenario(
            task.source.document, made, self.model, self._splices(task, made), self._own(task)
        )
        known = self._secrets(task.api)
        return proposals.propose(
            task.target,
            cleaned_value(metadata, known)[0],
            [each.interaction for each in made],
            cleaned_value(document, known)[0],
            {
                "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
                "modes": [each.ask.mode for each in made],
                "attempts": [each.answer.attempts for each in made],
                "broke_off": [each.answer.broke_off for each in made],
                "written_over": sorted(found),
                "failed": [[each.ask.mode, each.answer.status] for each in made if _fails_anew(each)],
            },
        )

    def _secrets(self, api: Api) -> list[str]:
        names = (*api.key_variables, *api.url_variables.values())
        inside = [httpx.URL(self.base_url).password] if self.base_url else []
        return [*(self.environment[name] for name in names if name in self.environment), *filter(None, inside)]

    def _with_new_answers(self, task: Task, ask: Ask) -> Ask:
        for each in task.earlier:
            told = self.splices.get((each.path, ask.mode))
            if told is None:
                raise CannotAskError(f"{each.path.name}, whose answer it goes on from, was not recorded for {ask.mode}")
            ask = replace(ask, request=told.of_request(ask.request))
        return ask

    def _remember(self, task: Task, made: Iterable[Recorded]) -> None:
        if isinstance(task.source, Draft):
            return
        for each in made:
            old = answers.derive_if_readable(task.source.interaction(each.ask.mode), task.api)
            new = each.facts
            if old is not None and new is not None:
                try:
                    self.splices[task.source.path, each.ask.mode] = splice(old, new)
                except CannotAskError:
                    continue  # whoever goes on from it will find nothing here

    def _splices(self, task: Task, made: Iterable[Recorded]) -> list[Splice]:
        """Return what became of the answers before this one."""
        return [self.splices[each.path, one.ask.mode] for each in task.earlier for one in made]

    def _own(self, task: Task) -> Mapping[Mode, Splice]:
        """Return what became of this answer, by mode."""
        return {mode: told for (path, mode), told in self.splices.items() if path == task.target}


def key_for(api: Api, environment: Mapping[str, str]) -> str | None:
    """Return the key from the first variable that is set; None if none is, or none is needed.

    Raises CannotAskError for one that no header can hold.
    """
    for name in api.key_variables:
        key = environment.get(name, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise CannotAskError(f"{name} has characters in it that no key has")
        if key:
            return key
    return None


def _fails_anew(recorded: Recorded) -> bool:
    """Whether an error came where none was recorded."""
    return recorded.answer.status >= 400 and (recorded.ask.expected or 0) < 400


def _interaction(ask: Ask, answer: Answer) -> Interaction:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    return Interaction(uri=ask.uri, request=ask.request, status=answer.status, headers=headers, body=answer.body)
