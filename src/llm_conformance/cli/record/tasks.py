"""Select the scenarios and drafts for `llm-conformance record`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path

from llm_conformance.cli.cassette_dir import files_in, older_than
from llm_conformance.cli.command import Options, UsageError
from llm_conformance.recording import first_drafts, recorder
from llm_conformance.recording.draft import Draft, read_draft
from llm_conformance.recording.proposals import Proposal
from llm_conformance.recording.provider_request import CannotRecordError
from llm_conformance.recording.recorder import Task
from llm_conformance.scenarios import load
from llm_conformance.scenarios.load import DRAFT, SUFFIX, ScenarioFile
from llm_conformance.wording import counted, did_you_mean


def tasks(options: Options, cassette_dir: Path, today: date) -> list[Task]:
    """Return the scenarios and drafts to record, each once. Earlier turns of a conversation come first.

    With `--drafts`, ids and globs select drafts, and otherwise scenarios. Raises UsageError or BadFileError.
    """
    files = [Path(name) for name in options.targets if name.endswith(DRAFT)]
    patterns = [name for name in options.targets if not name.endswith(DRAFT)]
    found = list(_scenarios(options, cassette_dir, [] if options.drafts else patterns, today))
    found += (_task(cassette_dir, read_draft(path)) for path in files)
    if options.drafts:
        found += _new_drafts(cassette_dir, patterns)
    return found


def without_access(wanted: Iterable[Task], base_url: str | None) -> dict[str, list[Task]]:
    """Map missing environment variables, as one text, to the tasks that cannot be recorded without them.

    Raises:
        UsageError: A key has characters that a header cannot have.
    """
    found: dict[str, list[Task]] = {}
    for task in wanted:
        try:
            missing = recorder.missing_variables(task.api, os.environ, base_url)
        except CannotRecordError as error:
            raise UsageError(str(error)) from error
        if missing:
            found.setdefault(", ".join(missing), []).append(task)
    return found


def _scenarios(options: Options, cassette_dir: Path, patterns: list[str], today: date) -> Iterator[Task]:
    before = older_than(options.older_than, today)
    files = [load.read(path) for path in files_in(cassette_dir, patterns)]
    if options.all:
        found = [load.read(path) for path in load.find(cassette_dir)[0]]
        hosted = (file for file in found if file.api.is_hosted)
        files += [file for file in hosted if file.cassette.metadata["provenance"] == "recorded"]
    if before is not None:
        files = [file for file in files if str(file.cassette.metadata.get("date", "")) < before.isoformat()]
    yield from (Task(file.path, file) for file in _with_earlier(files))


def _with_earlier(files: Iterable[ScenarioFile]) -> Iterator[ScenarioFile]:
    seen: set[Path] = set()

    def turns(file: ScenarioFile) -> Iterator[ScenarioFile]:
        if file.path not in seen:
            seen.add(file.path)
            for each in file.earlier.values():
                yield from turns(each)
            yield file

    for file in files:
        yield from turns(file)


def _new_drafts(cassette_dir: Path, patterns: list[str]) -> list[Task]:
    """Return the drafts of the suite and of the directory that have neither a cassette nor a proposal."""
    drafts = {draft.id: draft for draft in first_drafts.all_drafts()}
    drafts |= {draft.id: draft for draft in map(read_draft, sorted(cassette_dir.rglob(f"*{DRAFT}")))}
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in drafts):
            raise UsageError(f"{pattern}: no draft has this id (provider/name){did_you_mean(pattern, drafts)}")
    wanted = [
        _task(cassette_dir, draft)
        for name, draft in drafts.items()
        if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
    ]
    new = [task for task in wanted if not task.target.exists()]
    recorded = len(wanted) - len(new)
    if recorded:
        print(f"{counted(recorded, 'draft')} of {len(wanted)} recorded already")
    proposed = [task for task in new if Proposal(task.target).folder.exists()]
    if proposed:
        print(f"{counted(len(proposed), 'draft')} of {len(wanted)} proposed already: accept or reject the proposals")
    return [task for task in new if task not in proposed]


def _task(cassette_dir: Path, draft: Draft) -> Task:
    return Task(cassette_dir / f"{draft.id}{SUFFIX}", draft)
