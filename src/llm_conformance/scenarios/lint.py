"""Check scenarios against their own bytes, and report all problems at once.

    python -m llm_conformance.scenarios.lint cassettes

A run does not start if a scenario has a problem, because a wrong expected value would blame the adapter.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from llm_conformance import editions, secrets, yaml_files
from llm_conformance.locations import FORMATS, PROVIDERS
from llm_conformance.scenarios import build, cassette, load
from llm_conformance.scenarios.cassette import Cassette
from llm_conformance.scenarios.checks import lint_digests, references, request_checks, value_checks
from llm_conformance.scenarios.checks.recording import Recording
from llm_conformance.scenarios.load import SUFFIX, ScenarioFile
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.answers import SHAPELESS
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.table import table
from llm_conformance.wire.read_rules import reading_rules
from llm_conformance.wording import command_line, counted
from llm_conformance.yaml_files import BadFileError, FileProblem

# What reading a file of the wrong form may raise.
_CONSEQUENCES = (KeyError, TypeError, AttributeError, IndexError)


def load_all(
    directories: Iterable[Path],
    admits: Callable[[Path], bool] = bool,
    trust_digests: bool = True,
    found: Mapping[Path, Sequence[Path]] | None = None,
) -> list[Scenario]:
    """Return the scenarios below the directories.

    Args:
        directories: Cassette directories.
        admits: Returns False for a scenario file to skip.
        trust_digests: Whether to skip the lint of scenarios whose digest says that they passed (`lint_digests`).
        found: The scenario files of directories in which they were found before.

    Raises:
        BadFileError: With all problems of all files. If provider files or read rules are wrong, it has only their
            problems.
    """
    problems: list[FileProblem] = []
    for check in (table, reading_rules):
        try:
            check()
        except BadFileError as bad:
            problems += bad.problems
    if problems:
        raise BadFileError(*problems)
    loaded: list[Scenario] = []
    seen: dict[str, Path] = {}
    reader = load.Files()
    for directory in directories:
        if not directory.is_dir():
            problems.append(FileProblem(directory, 1, "no such directory"))
            continue
        try:
            files = found[directory] if found and directory in found else load.find(directory)[0]
        except BadFileError as bad:
            problems += bad.problems
            continue
        passed = lint_digests.passed(directory) if trust_digests else {}
        for path in files:
            id = load.id_of(path)
            twin = seen.setdefault(id, path)
            if twin != path:
                problems.append(FileProblem(path, 1, f"another file has the scenario {id}: {twin}"))
            if not admits(path):
                continue
            is_known = id in passed and passed[id] == lint_digests.of_scenario(path)
            try:
                file = reader.read(path, check=not is_known)
                wrong = [] if is_known else list(lint(file))
            except BadFileError as bad:  # also of an earlier answer
                problems += bad.problems
                continue
            problems += wrong
            if not wrong:
                loaded.append(build.build(file, directory))
    if problems:
        raise BadFileError(*dict.fromkeys(problems))
    return loaded


def lint(file: ScenarioFile) -> Iterator[FileProblem]:
    """Yield everything that is wrong with a scenario file and its cassette."""
    yield from file.form_problems
    if file.path.name.startswith(load.CORE):
        yield FileProblem(file.path, 1, f"the names of core faults begin with {load.CORE}; rename the scenario")
    for path, line, kind in _secrets(file):
        yield FileProblem(path, line, f"this looks like {kind}; replace it before it is committed")
    yield from _secrets_in_messages(file.cassette)
    since = file.document.get("since", editions.FIRST)
    if not file.form_problems and since not in editions.EDITIONS:
        yield file.problem(f"since: no such edition; use one of {', '.join(editions.EDITIONS)}", "since")
    recorded = file.cassette.metadata.get("digest")
    if recorded is not None and recorded != cassette.digest(file.cassette.interactions):
        line = yaml_files.line_of(file.cassette.text, ("metadata", "digest"))
        what = "the bodies are not those that were recorded; never edit a recording by hand"
        yield FileProblem(file.cassette.path, line, what)
    yield from references.problems(file.cassette, file.modes)
    found: dict[FileProblem, None] = {}
    for mode in file.modes:
        # Check a file of the wrong form as far as possible, so that its author sees every mistake at once.
        with suppress(*(*_CONSEQUENCES, BadFileError) if file.form_problems else ()):
            found |= dict.fromkeys(_lint_mode(file, mode))
    yield from found


def _secrets(file: ScenarioFile) -> Iterator[tuple[Path, int, str]]:
    yield from ((file.cassette.path, line, kind) for line, kind in secrets.scan(file.cassette.text))
    yield from ((file.path, line, kind) for line, kind in secrets.scan_text(file.text))


def _secrets_in_messages(recorded: Cassette) -> Iterator[FileProblem]:
    """Yield a problem for each likely secret in the messages of binary streams. A cassette has these in base64."""
    for number, interaction in enumerate(recorded.interactions):
        framing = interaction.framing
        if framing is None or not framing.is_binary:
            continue
        found: dict[str, None] = {}
        for frame in interaction.frames:
            with suppress(ValueError):  # a frame that is cut off or spoilt has no valid base64
                for _, data in framing.texts(frame):
                    found |= dict.fromkeys(kind for _, kind in secrets.scan_text(data.decode("utf-8", "replace")))
        for kind in found:
            line = yaml_files.line_of(recorded.text, ("interactions", number, "response", "body"))
            what = f"a message has what looks like {kind}; replace it before it is committed"
            yield FileProblem(recorded.path, line, what)


def _lint_mode(file: ScenarioFile, mode: Mode) -> Iterator[FileProblem]:
    try:
        recording = Recording(file, mode)
    except SHAPELESS as error:
        if not file.form_problems:
            yield file.problem(f"the recorded body is not of the provider's shape: {error!r}", "recordings", mode)
        return
    of_values = value_checks.CHECKS_OF_ANSWERS if recording.expected.error is None else value_checks.CHECKS_OF_ERRORS
    try:
        for check in (*request_checks.CHECKS, *of_values):
            for message, where in check(recording):
                yield file.problem(message, *where)
    except RecursionError:
        yield file.problem("the recorded request or body is nested too deep to be checked", "recordings", mode)


def orphans(directory: Path) -> list[FileProblem]:
    """Return a problem for every cassette below `directory` that no scenario replays."""
    _, bare = load.find(directory)
    return [
        FileProblem(path, 1, f"orphan cassette: nothing replays it; add {path.stem}{SUFFIX} or remove it")
        for path in bare
    ]


def summed_up(problems: Iterable[FileProblem]) -> str:
    """Return the number of problems and the kind of files that have them: `2 problems in the scenarios`."""
    kinds = Counter(_kind(problem.path) for problem in problems)
    return ", ".join(f"{counted(number, 'problem')} in the {kind}" for kind, number in kinds.items())


def _kind(path: Path) -> str:
    if path.parent == PROVIDERS:
        return "provider files"
    return "read rules" if path.is_relative_to(FORMATS) else "scenarios"


def _write_or_compare_digests(directory: Path, write: bool) -> list[FileProblem]:
    path = lint_digests.file_of(directory)
    files, _ = load.find(directory)
    text = lint_digests.text(files)
    if write:
        path.write_text(text, "utf-8", newline="\n")
    if path.is_file() and path.read_text("utf-8") == text:
        return []
    command = command_line(["python", "-m", "llm_conformance.scenarios.lint", str(directory), "--write"])
    what = f"out of date; run `{command}`"
    return [FileProblem(path, 1, what)]


def main(arguments: list[str]) -> int:
    """Lint directories, and print every problem with its file and line. Return 1 if there is a problem; else 0."""
    parser = argparse.ArgumentParser(prog="python -m llm_conformance.scenarios.lint")
    parser.add_argument("directories", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="write lint.sha256 for the suite's own directory")
    options = parser.parse_args(arguments)
    problems: list[FileProblem] = []
    loaded: list[Scenario] = []
    try:
        loaded = load_all(options.directories, trust_digests=False)
        problems = [problem for directory in options.directories for problem in orphans(directory)]
        for directory in filter(lint_digests.is_ours, options.directories):
            problems += _write_or_compare_digests(directory, options.write)
    except BadFileError as bad:
        problems = list(bad.problems)
    print(*problems, summed_up(problems) if problems else f"{counted(len(loaded), 'scenario')}, no problem", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
