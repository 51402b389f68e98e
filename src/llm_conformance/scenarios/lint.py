"""Is a scenario true to its bytes? Every check of a scenario and its cassette, all problems at once.

    python -m llm_conformance.scenarios.lint cassettes

A run refuses to start on a scenario with a problem: a wrong truth would blame an adapter for the harness's fault.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import suppress
from pathlib import Path

from llm_conformance import secrets, yaml_files
from llm_conformance.scenarios import cassette, load, request_checks, value_checks
from llm_conformance.scenarios.cassette import Cassette
from llm_conformance.scenarios.load import SUFFIX, ScenarioFile
from llm_conformance.scenarios.recording import Recording
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.framings.aws_event_stream import AwsEventStream, aws_texts
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.table import table
from llm_conformance.wire.read_rules import reading_rules
from llm_conformance.yaml_files import BadFileError, FileProblem

# What reading on in a file of the wrong form may run into.
_CONSEQUENCES = (KeyError, TypeError, AttributeError, IndexError)


def load_all(directories: Iterable[Path], admits: Callable[[Path], bool] = bool) -> list[Scenario]:
    """Return the scenarios below the directories whose files `admits` wants; what it does not want is not read.

    Raises BadFileError with all problems of all files; of the provider table and the read rules, if these are wrong.
    """
    table()
    reading_rules()
    loaded: list[Scenario] = []
    problems: list[FileProblem] = []
    seen: dict[str, Path] = {}
    for directory in directories:
        if not directory.is_dir():
            problems.append(FileProblem(directory, 1, "no such directory"))
            continue
        try:
            files, _ = load.find(directory)
        except BadFileError as bad:
            problems += bad.problems
            continue
        for path in files:
            id = load.id_of(path)
            twin = seen.setdefault(id, path)
            if twin != path:
                problems.append(FileProblem(path, 1, f"the scenario {id} is there already, as {twin}"))
            if not admits(path):
                continue
            try:
                file = load.read(path)
            except BadFileError as bad:
                problems += bad.problems
                continue
            found = list(lint(file))
            problems += found
            if not found:
                loaded.append(load.build(file, directory))
    if problems:
        raise BadFileError(*problems)
    return loaded


def lint(file: ScenarioFile) -> Iterator[FileProblem]:
    """Yield everything that is wrong with a scenario file and its cassette."""
    yield from file.form_problems
    for path, text in ((file.cassette.path, file.cassette.text), (file.path, file.text)):
        for line, kind in secrets.scan(text) if path == file.cassette.path else secrets.scan_text(text):
            yield FileProblem(path, line, f"this looks like {kind}; replace it before it is committed")
    yield from _in_messages(file.cassette)
    recorded = file.cassette.metadata.get("digest")
    if recorded is not None and recorded != cassette.digest(file.cassette.interactions):
        line = yaml_files.line_of(file.cassette.text, ("metadata", "digest"))
        what = "the bodies are not those that were recorded; never edit a recording by hand"
        yield FileProblem(file.cassette.path, line, what)
    found: dict[FileProblem, None] = {}
    for mode in file.modes:
        # A file that the schema refuses is read on as far as it goes, so that its author sees every mistake at once.
        with suppress(*_CONSEQUENCES if file.form_problems else ()):
            found |= dict.fromkeys(_lint_mode(file, mode))
    yield from found


def _in_messages(tape: Cassette) -> Iterator[FileProblem]:
    """Yield what looks like a secret in messages of AWS event streams, which a cassette has in base64."""
    for number, interaction in enumerate(tape.interactions):
        if not isinstance(interaction.framing, AwsEventStream):
            continue
        found: dict[str, None] = {}
        for frame in interaction.frames:
            with suppress(ValueError):  # it is cut off or spoilt, and what it has is no base64
                for _, data in aws_texts(frame):
                    found |= dict.fromkeys(kind for _, kind in secrets.scan_text(data.decode("utf-8", "replace")))
        for kind in found:
            line = yaml_files.line_of(tape.text, ("interactions", number, "response", "body"))
            what = f"a message has what looks like {kind}; replace it before it is committed"
            yield FileProblem(tape.path, line, what)


def _lint_mode(file: ScenarioFile, mode: Mode) -> Iterator[FileProblem]:
    try:
        recording = Recording(file, mode)
    except (ValueError, *_CONSEQUENCES) as error:
        if not file.form_problems:
            yield file.problem(f"the recorded body is not of the provider's shape: {error!r}", "recordings", mode)
        return
    of_values = value_checks.CHECKS_OF_ANSWERS if recording.expected.error is None else value_checks.CHECKS_OF_ERRORS
    for check in (*request_checks.CHECKS, *of_values):
        for message, where in check(recording):
            yield file.problem(message, *where)


def orphans(directory: Path) -> list[FileProblem]:
    """Return a problem for every cassette below `directory` that no scenario replays."""
    _, bare = load.find(directory)
    return [
        FileProblem(path, 1, f"orphan cassette: nothing replays it; add {path.stem}{SUFFIX} or remove it")
        for path in bare
    ]


def counted(problems: Sized) -> str:
    """Return how many problems there are, in words."""
    return "1 problem" if len(problems) == 1 else f"{len(problems)} problems"


def main(arguments: list[str]) -> int:
    """Lint the directories named, print every problem with its file and line, return 1 if there was one."""
    directories = [Path(argument) for argument in arguments]
    problems: list[FileProblem] = []
    loaded: list[Scenario] = []
    try:
        loaded = load_all(directories)
        problems = [problem for directory in directories for problem in orphans(directory)]
    except BadFileError as bad:
        problems = list(bad.problems)
    print(*problems, counted(problems) if problems else f"{len(loaded)} scenarios, no problem", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
