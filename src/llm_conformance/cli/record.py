"""`llm-conformance record`: ask the provider again, and propose what it answers."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import httpx

from llm_conformance.cli.cassette_dir import add_cassette_dir, cassette_dir_of, files_in, hint, older_than
from llm_conformance.cli.command import Commands, Options, UsageError
from llm_conformance.recording import client, drafts, recorder
from llm_conformance.recording.client import RefusedError
from llm_conformance.recording.drafts import CannotAskError
from llm_conformance.recording.proposals import Proposal
from llm_conformance.recording.recorder import Recorder, Task
from llm_conformance.recording.scrubbing import LeakError
from llm_conformance.scenarios import load
from llm_conformance.scenarios.load import DRAFT, SUFFIX, ScenarioFile
from llm_conformance.wire import answers
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError


def add_to(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "record",
        help="ask a provider again, and propose what it answers",
        description="Make the requests of scenarios, plain and streamed, with the key of the environment, and put the "
        "answers beside the recordings that there are. Nothing is replaced: `review` shows what is new, `accept` and "
        "`reject` decide.",
    )
    parser.add_argument(
        "targets", nargs="*", metavar="SCENARIO", help=f"ids (deepseek/reasoner), globs of them, or files *{DRAFT}"
    )
    parser.add_argument(
        "--all", action="store_true", help="every scenario of a hosted provider that was recorded before"
    )
    parser.add_argument("--older-than", metavar="90d", help="only recordings older than that (d, w, m, y)")
    parser.add_argument("--model", metavar="M", help="ask this model instead")
    parser.add_argument("--base-url", metavar="U", help="ask there, instead of where the provider is")
    parser.add_argument("--source", metavar="TEXT", help="what else is to be said of where it comes from")
    parser.add_argument("--dry-run", action="store_true", help="print the requests, and make none")
    parser.add_argument("--yes", action="store_true", help="do not ask before spending")
    add_cassette_dir(parser)
    parser.set_defaults(command=run, passes_on=False)


def run(options: Options, _rest: Sequence[str]) -> int:
    """Record; return 1 if something could not be recorded."""
    if not options.targets and not options.all:
        raise UsageError("say which scenario to record (`llm-conformance list scenarios`), or --all")
    cassette_dir = cassette_dir_of(options, changes=not options.dry_run)
    if options.base_url is not None and not re.fullmatch(r"https?://[^?#\s]+", options.base_url):
        raise UsageError(f"--base-url={options.base_url}: has to be a URL, http:// or https://, without a query")
    today = datetime.now(UTC).date()
    try:
        tasks = list(_tasks(options, cassette_dir, older_than(options.older_than, today)))
    except BadFileError as bad:
        raise UsageError(str(bad)) from bad
    if not tasks:
        old = " and that is old enough" if options.older_than else ""
        print(f"nothing to record: there is no scenario that was recorded from a hosted provider{old}")
        return 0
    if options.dry_run:
        return _show(options, tasks)
    needless = _without_key(tasks, os.environ)
    ready = [task for task in tasks if task not in needless]
    for task in ready:
        _prepare(task.target.parent)
    for name in dict.fromkeys(" or ".join(task.api.key_variables) for task in needless):
        skipped = sum(" or ".join(task.api.key_variables) == name for task in needless)
        print(f"{name} is not set: {skipped} scenario{'s' * (skipped > 1)} of {len(tasks)} not recorded")
    if not ready:
        return 0 if options.all else 1
    if not options.yes and not _agreed(ready, options):
        print("nothing was asked")
        return 1
    failed = _record(options, cassette_dir, ready, today)
    return int(failed or (bool(needless) and not options.all))


def _tasks(options: Options, cassette_dir: Path, before: date | None) -> Iterator[Task]:
    """Yield what is to be recorded, each once, earlier turns first."""
    unrecorded = [Path(name) for name in options.targets if name.endswith(DRAFT)]
    patterns = [name for name in options.targets if not name.endswith(DRAFT)]
    files = [load.read(path) for path in files_in(cassette_dir, patterns)]
    if options.all:
        found = [load.read(path) for path in files_in(cassette_dir, ["*"])]
        # A server of one's own has to be started first, so it is recorded by its name only.
        hosted = (file for file in found if file.api.key_variables)
        files += [file for file in hosted if file.cassette.metadata["provenance"] == "recorded"]
    if before is not None:
        files = [file for file in files if str(file.cassette.metadata.get("date", "")) < before.isoformat()]
    yield from (Task(file.path, file) for file in _with_earlier(files))
    for path in unrecorded:
        draft = drafts.read_draft(path)
        yield Task(cassette_dir / f"{draft.id}{SUFFIX}", draft)


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


def _prepare(folder: Path) -> None:
    """See to it that what will be paid for can be written. Raises Misuse."""
    try:
        made = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        if made:
            folder.rmdir()
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror}") from error


def _without_key(tasks: Iterable[Task], environment: Mapping[str, str]) -> list[Task]:
    try:
        return [task for task in tasks if task.api.key_variables and recorder.key_for(task.api, environment) is None]
    except CannotAskError as error:
        raise UsageError(str(error)) from error


def _show(options: Options, tasks: Iterable[Task]) -> int:
    for task in tasks:
        try:
            for ask in task.asks(options.model):
                try:
                    base_url = drafts.base_url_for(ask, options.base_url, {})
                except CannotAskError:
                    base_url = ask.base_url
                print(f"# {load.id_of(task.target)} ({ask.mode})")
                print(f"POST {base_url}{ask.rest}")
                headers = client.headers_for(ask.api, "***" if ask.api.key_headers else None)
                print(*(f"{name}: {value}" for name, value in headers.items()), sep="\n")
                print(f"\n{json.dumps(ask.request, indent=1, ensure_ascii=False)}\n")
        except CannotAskError as error:
            print(f"# {load.id_of(task.target)}: {error}\n")
    return 0


def _agreed(tasks: Sequence[Task], options: Options) -> bool:
    calls = sum(len(task.source.modes) for task in tasks)
    print(f"{calls} call{'s' * (calls > 1)} for {len(tasks)} scenario{'s' * (len(tasks) > 1)}:")
    for task in tasks:
        where = options.base_url or task.api.base_urls[0]
        print(f"  {load.id_of(task.target)}: {options.model or task.source.document['call']['model']} at {where}")
    print(_cost(tasks))
    try:
        return input("Ask? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        raise UsageError("nobody is there to be asked; say --yes if this may be spent") from None


def _cost(tasks: Iterable[Task]) -> str:
    """Return what it will cost, as far as the recordings that there are tell."""
    prompt = completion = unknown = 0
    for task in tasks:
        for mode in task.source.modes:
            usage = None
            if isinstance(task.source, ScenarioFile):
                facts = answers.derive_if_readable(task.source.interaction(mode), task.api)
                usage = None if facts is None else task.api.normalise(facts.usage)
            if usage is None:
                unknown += 1
            else:
                prompt += usage.prompt_tokens or 0
                completion += usage.completion_tokens or 0
    pages = ", ".join(dict.fromkeys(task.api.pricing for task in tasks if task.api.pricing))
    said = (
        f"About {prompt:,} tokens in and {completion:,} out, as they were recorded"
        if prompt
        else "How many tokens it takes is not known"
    )
    said += f" ({unknown} call{'s' * (unknown > 1)} of unknown length)" if unknown and prompt else ""
    return f"{said}. Prices: {pages}" if pages else f"{said}."


def _record(options: Options, cassette_dir: Path, tasks: Sequence[Task], today: date) -> bool:
    """Record all tasks; return whether one of them failed."""
    try:
        from tqdm import tqdm
    except ImportError:
        raise UsageError("recording takes two libraries more: pip install 'llm-conformance[record]'") from None
    proposed = 0
    refused: list[Api] = []
    total = sum(len(task.source.modes) for task in tasks)
    timeout = httpx.Timeout(client.READ_S, connect=20.0)
    with httpx.Client(timeout=timeout) as http, tqdm(total=total, unit="call", disable=None) as bar:
        recording = Recorder(
            http, options.model, options.base_url, os.environ, today, options.source or "", lambda: bar.update(1)
        )
        for task in tasks:
            name = load.id_of(task.target)
            bar.set_description(name)
            if task.api in refused:
                tqdm.write(f"{name}: not asked: {task.api} lets us in no more")
                continue
            try:
                proposal = recording.record(task)
                tqdm.write(f"proposed {proposal.folder.relative_to(cassette_dir)}{_said_of(proposal)}")
                proposed += 1
            except RefusedError as error:
                refused.append(task.api)
                tqdm.write(f"{name}: not recorded: {error}")
            except (CannotAskError, LeakError, BadFileError) as error:
                tqdm.write(f"{name}: not recorded: {error}")
            except httpx.HTTPError as error:  # its words may repeat what was sent
                tqdm.write(f"{name}: not recorded: {type(error).__name__} at {_place(options, task)}")
    if proposed:
        print(f"look at what came: llm-conformance review{hint(options)}")
    return proposed < len(tasks)


def _said_of(proposal: Proposal) -> str:
    """Return what is to be known at once: that there was no answer."""
    failed = [f"{mode} status {status}" for mode, status in proposal.notes.get("failed", ())]
    return f" (an error: {', '.join(failed)})" if failed else ""


def _place(options: Options, task: Task) -> str:
    url = httpx.URL(options.base_url or task.api.base_urls[0])
    return f"{url.scheme}://{url.host}{f':{url.port}' if url.port else ''}"
