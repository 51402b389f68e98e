"""Is a scenario true to its bytes? Every check of a scenario and its cassette, all problems at once.

    python -m llm_conformance.lint cassettes

A run refuses to start on a scenario with a problem: a wrong truth would blame an adapter for the harness's fault.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from llm_conformance import derivation, providers, scenarios, schema, secrets, yaml_files
from llm_conformance.cassette import Interaction, at_pointer
from llm_conformance.contract import ERROR_TYPES
from llm_conformance.derivation import WireFacts
from llm_conformance.judgement import first_difference
from llm_conformance.providers import COUNTS, Provider
from llm_conformance.scenarios import Mode, Scenario, ScenarioFile, Truth
from llm_conformance.yaml_files import BadFileError, FileProblem

_ALWAYS_STATED = ("id", "model", "message", "finish_reason", "raw_finish_reason", "usage")

# What reading on in a file of the wrong form may run into.
_CONSEQUENCES = (KeyError, TypeError, AttributeError, IndexError)

Problems = Iterable[tuple[str, tuple[str | int, ...]]]
Check = Callable[["Recording"], Problems]


class Recording:
    """One mode of a scenario file, with all that a check looks at."""

    def __init__(self, file: ScenarioFile, mode: Mode) -> None:
        self.file = file
        self.mode: Mode = mode
        self.interaction: Interaction = file.interaction(mode)
        self.provider: Provider = providers.table()[file.document["provider"], file.document["api"]]
        self.truth: Truth = scenarios.truth(file.document["truth"], mode)
        self.facts: WireFacts = derivation.derive(self.interaction, self.provider)

    def where(self, key: str, *more: str | int) -> tuple[str | int, ...]:
        """Return the path of a truth key: under its mode if it stands there."""
        own = key in self.file.document["truth"].get(self.mode, {})
        return ("truth", self.mode, key, *more) if own else ("truth", key, *more)


def load_all(directories: Iterable[Path]) -> list[Scenario]:
    """Return every scenario below the directories. Raises BadFileError with all problems of all files."""
    loaded: list[Scenario] = []
    problems: list[FileProblem] = []
    seen: dict[str, Path] = {}
    for directory in directories:
        if not directory.is_dir():
            problems.append(FileProblem(directory, 1, "no such directory"))
            continue
        files, orphans = scenarios.find(directory)
        problems += orphans
        for path in files:
            try:
                file = scenarios.read(path)
            except BadFileError as bad:
                problems += bad.problems
                continue
            found = list(lint(file))
            problems += found
            if not found:
                scenario = scenarios.build(file)
                twin = seen.setdefault(scenario.id, path)
                if twin != path:
                    problems.append(FileProblem(path, 1, f"the scenario {scenario.id} is there already, as {twin}"))
                loaded.append(scenario)
    if problems:
        raise BadFileError(*problems)
    return loaded


def lint(file: ScenarioFile) -> Iterator[FileProblem]:
    """Yield everything that is wrong with a scenario file and its cassette."""
    yield from file.form_problems
    yield from _lint_cassette(file)
    found: dict[FileProblem, None] = {}
    for mode in file.modes:
        # A file that the schema refuses is read on as far as it goes, so that its author sees every mistake at once.
        with suppress(*_CONSEQUENCES if file.form_problems else ()):
            found |= dict.fromkeys(_lint_mode(file, mode))
    yield from found


def _lint_mode(file: ScenarioFile, mode: Mode) -> Iterator[FileProblem]:
    try:
        recording = Recording(file, mode)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        if not file.form_problems:
            yield file.problem(f"the recorded body is not of the provider's shape: {error!r}", "recordings", mode)
        return
    for check in _CHECKS:
        for message, where in check(recording):
            yield file.problem(message, *where)


def _lint_cassette(file: ScenarioFile) -> Iterator[FileProblem]:
    for path, text in ((file.cassette.path, yaml_files.read_text(file.cassette.path)), (file.path, file.text)):
        for line, kind in secrets.scan(text):
            yield FileProblem(path, line, f"this looks like {kind}; replace it before it is committed")


def _is_that_call(recording: Recording) -> Problems:
    interaction, document = recording.interaction, recording.file.document
    path = recording.provider.path_of(interaction.uri)
    if path is None:
        yield f"recorded from {interaction.uri}, which is under none of the provider's base URLs", ("provider",)
    elif path.partition("?")[0] != recording.provider.path:
        yield f"recorded from {path}, which is not the API's {recording.provider.path}", ("api",)
    if interaction.status != 200:
        yield f"recorded status {interaction.status}; an answer has 200", ("recordings", recording.mode)
    if interaction.request.get("model") != document["call"]["model"]:
        yield f"call.model is not the recorded request's {interaction.request.get('model')!r}", ("call", "model")
    if bool(interaction.request.get("stream")) != (recording.mode == "stream"):
        yield "the recorded request's `stream` says the other mode", ("recordings", recording.mode)
    if interaction.streamed != (recording.mode == "stream"):
        yield "the recorded answer's content type says the other mode", ("recordings", recording.mode)
    for pointer in document.get("match", ()):
        if at_pointer(interaction.request, pointer) is None:
            yield f"the recorded request has no {pointer}", ("match",)


def _keeps_the_wire_schema(recording: Recording) -> Problems:
    if recording.truth.error or recording.truth.unknown:
        return
    part = "chunk" if recording.interaction.streamed else "response"
    for number, document in enumerate(derivation.documents(recording.interaction)):
        for where, message in schema.problems(f"wire/{recording.provider.wire}#/$defs/{part}", document):
            field = "/".join(map(str, where))
            yield f"document {number} of the body, at /{field}: {message}", ("recordings", recording.mode)


def _states_enough(recording: Recording) -> Problems:
    truth = recording.truth
    if truth.error is None:
        missing = [key for key in _ALWAYS_STATED if key not in truth.stated]
        if missing:
            yield f"the truth of {recording.mode} does not state {', '.join(missing)}", ("truth",)
    for name in (truth.error, *truth.may_raise):
        if name is not None and name not in ERROR_TYPES:
            yield f"{name!r} is no error class of the contract", ("truth",)
    both = recording.file.document["recordings"]
    if both.get("same_content") and len(recording.file.modes) < 2:
        yield "same_content needs both recordings", ("recordings",)


def _agrees_with_the_bytes(recording: Recording) -> Problems:
    truth, facts = recording.truth, recording.facts
    if truth.error is not None:
        if not (facts.error or (facts.finish is None and not facts.ended)):
            yield "the truth says error, but the bytes show none and end properly", recording.where("error")
        return
    for key, said, shown in (
        ("id", truth.id, facts.id),
        ("model", truth.model, facts.model),
        ("raw_finish_reason", truth.raw_finish_reason, facts.finish),
        ("created", truth.created, _utc(facts.created)),
    ):
        if key in truth.stated and said != shown:
            yield f"{key} {said!r} contradicts the bytes, which say {shown!r}", recording.where(key)
    if truth.reasoning_source == "tag":
        joined = "".join(segment.content for segment in truth.segments if segment.type in ("reasoning", "text"))
        if _without_tags(joined) != _without_tags(facts.text):
            yield "the segments do not add up to the text on the wire", recording.where("segments")
        return
    if truth.message != facts.text and truth.unknown is None:
        yield f"message contradicts the bytes, {_difference(truth.message, facts.text)}", recording.where("message")
    if (truth.reasoning or "") != facts.reasoning:
        yield (
            f"reasoning contradicts the bytes, {_difference(truth.reasoning or '', facts.reasoning)}",
            (recording.where("reasoning")),
        )


def _without_tags(text: str) -> str:
    return "".join(text.replace("<think>", "").replace("</think>", "").split())


def _utc(epoch: int | None) -> str | None:
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if epoch else None


def _difference(said: str, shown: str) -> str:
    at = first_difference(said, shown)
    return f"at code point {at}: {said[at : at + 20]!r} is stated, {shown[at : at + 20]!r} is there"


def _segments_join(recording: Recording) -> Problems:
    truth = recording.truth
    if "segments" not in truth.stated or truth.error is not None:
        return
    text = "".join(segment.content for segment in truth.segments if segment.type == "text")
    if text != truth.message:
        yield "the text segments do not join to the message", recording.where("segments")
    reasoning = "".join(segment.content for segment in truth.segments if segment.type == "reasoning")
    if reasoning != (truth.reasoning or ""):
        yield "the reasoning segments do not join to the reasoning", recording.where("segments")
    for number, segment in enumerate(truth.segments):
        for key in ("signature", "redacted", "encrypted"):
            value = segment.metadata.get(key)
            if isinstance(value, str) and value not in recording.facts.opaque:
                yield f"the {key} is not in the bytes", recording.where("segments", number)


def _spans_lie_in_the_message(recording: Recording) -> Problems:
    truth = recording.truth
    for number, annotation in enumerate(truth.annotations):
        where = recording.where("annotations", number)
        start, end = annotation.start, annotation.end
        if (start is None) != (end is None) or (start is None) != (annotation.text is None):
            yield "start, end and text are all given or all null", where
        elif start is not None and end is not None:
            if not 0 <= start <= end <= len(truth.message):
                yield f"({start}, {end}) lies outside the message of {len(truth.message)} code points", where
            elif truth.message[start:end] != annotation.text:
                yield f"message[{start}:{end}] is {truth.message[start:end]!r}, not the stated text", where


def _annotated_data_is_there(recording: Recording) -> Problems:
    shown = set(_leaves(list(derivation.documents(recording.interaction)))) if recording.truth.annotations else set()
    for number, annotation in enumerate(recording.truth.annotations):
        for key, value in annotation.data.items():
            if not set(_leaves(value)) <= shown:
                yield f"data.{key} is {value!r}, which the bytes do not show", recording.where("annotations", number)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _tool_calls_are_there(recording: Recording) -> Problems:
    truth, facts = recording.truth, recording.facts
    if truth.error is not None:
        return
    said = [(call.id, call.name, _arguments(recording, call.arguments)) for call in truth.tool_calls]
    shown = [(id or None, name, _arguments(recording, text or "{}")) for id, name, text in facts.calls.values()]
    if said != shown:
        yield f"the bytes show the tool calls {shown}, the truth {said}", recording.where("tool_calls")


def _arguments(recording: Recording, text: str) -> Any:
    """Return arguments as they compare: as text where the provider sends text, else as JSON values."""
    return text if recording.provider.tool_arguments == "text" else json.loads(text)


def _usage_follows_the_algebra(recording: Recording) -> Problems:
    truth = recording.truth
    if truth.error is not None or "usage" not in truth.stated:
        return
    expected = recording.provider.normalise(recording.facts.usage)
    if (truth.usage is None) != (expected is None):
        yield f"usage is {truth.usage!r}, but the bytes and the algebra give {expected!r}", recording.where("usage")
    if truth.usage is None or expected is None:
        return
    for count in COUNTS:
        said, derived = getattr(truth.usage, count), getattr(expected, count)
        if said != derived:
            yield f"{count} is {said}, but the bytes and the algebra give {derived}", recording.where("usage", count)


def _finish_follows_the_table(recording: Recording) -> Problems:
    truth = recording.truth
    if truth.error is not None:
        return
    expected = recording.provider.finish.get(recording.facts.finish or "")
    if recording.facts.refused:
        expected = "content_filter"  # the contract's word for a refusal, whatever the provider's
    if expected not in truth.finish_reasons:
        yield f"{recording.facts.finish!r} is {expected!r} in providers.toml", recording.where("finish_reason")


_CHECKS: tuple[Check, ...] = (
    _is_that_call,
    _keeps_the_wire_schema,
    _states_enough,
    _agrees_with_the_bytes,
    _segments_join,
    _spans_lie_in_the_message,
    _annotated_data_is_there,
    _tool_calls_are_there,
    _usage_follows_the_algebra,
    _finish_follows_the_table,
)


def main(arguments: list[str]) -> int:
    """Lint the directories named, print every problem with its file and line, return 1 if there was one."""
    try:
        loaded = load_all(map(Path, arguments))
    except BadFileError as bad:
        print(bad)
        print(f"{len(bad.problems)} problems")
        return 1
    print(f"{len(loaded)} scenarios, no problem")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
