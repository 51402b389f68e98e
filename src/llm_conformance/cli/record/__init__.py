"""`llm-conformance record`: send a scenario's requests again and propose the responses."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import httpx

from llm_conformance import secrets
from llm_conformance.cli.cassette_dir import add_cassette_dir, cassette_dir_of, hint
from llm_conformance.cli.command import Once, Options, Parser, UsageError
from llm_conformance.cli.record import tasks as record_tasks
from llm_conformance.recording import client, provider_request, recorder
from llm_conformance.recording.client import RefusedError
from llm_conformance.recording.draft import Draft
from llm_conformance.recording.proposals import Proposal
from llm_conformance.recording.provider_request import CannotRecordError
from llm_conformance.recording.recorder import Recorder, Task
from llm_conformance.recording.scrubbing import LeakError
from llm_conformance.scenarios import load
from llm_conformance.scenarios.load import DRAFT
from llm_conformance.wire import answers
from llm_conformance.wire.providers.api import Api
from llm_conformance.wording import counted
from llm_conformance.yaml_files import BadFileError

_ROOM = 2**20
"""How many bytes of the disk have to be free for a recording."""


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = (
        "Send the requests of scenarios to the provider again, plain and streamed, with the key from the environment, "
        "and write the responses beside the present recordings. Nothing is replaced: `review` shows what is new, "
        "`accept` and `reject` decide."
    )
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="SCENARIO",
        help=f"ids (deepseek/reasoner) and globs of ids, with --drafts those of drafts; or files of drafts (*{DRAFT})",
    )
    parser.add_argument("--all", action="store_true", help="every recorded scenario of a hosted provider")
    parser.add_argument(
        "--drafts",
        action="store_true",
        help="every draft that has no cassette yet: the suite's for all hosted providers, and those in DIR",
    )
    parser.add_argument("--older-than", metavar="90d", help="only recordings older than this (d, w, m, y)")
    parser.add_argument("--model", metavar="M", help="request this model instead of the recorded one")
    parser.add_argument("--base-url", metavar="U", help="send the requests here instead of to the provider")
    parser.add_argument("--source", action=Once, metavar="TEXT", help="a note for the cassette's `source`")
    parser.add_argument("--dry-run", action="store_true", help="print the requests without sending them")
    parser.add_argument("--yes", action="store_true", help="do not ask before sending requests that cost money")
    add_cassette_dir(parser)


def run(options: Options) -> int:
    """Record; return 1 if a scenario was not recorded."""
    if not (options.targets or options.all or options.drafts):
        raise UsageError("give the ids of scenarios (`llm-conformance list scenarios`), --all, or --drafts")
    cassette_dir = cassette_dir_of(options, changes=not options.dry_run, wait=True)
    if options.base_url is not None and not _is_base_url(options.base_url):
        raise UsageError("--base-url must be an http:// or https:// URL without a query")  # a query may have a key
    today = datetime.now(UTC).date()
    try:
        tasks = record_tasks.tasks(options, cassette_dir, today)
    except BadFileError as bad:
        raise UsageError(str(bad)) from bad
    if not tasks:
        kinds = ["recorded scenario of a hosted provider"] * options.all + ["draft without a cassette"] * options.drafts
        age = " that is old enough" if options.older_than else ""
        print(f"nothing to record: there is no {' and no '.join(kinds) or 'such scenario'}{age}")
        return 0
    if options.dry_run:
        return _show(options, tasks)
    closed = record_tasks.without_access(tasks, options.base_url)
    for names, without in closed.items():
        print(f"{names} is not set: {counted(len(without), 'scenario')} of {len(tasks)} not recorded")
    ready = [task for task in tasks if not any(task in without for without in closed.values())]
    for task in ready:
        _check_writable(task.target.parent)
    is_selected = bool(options.targets)  # else everything is recorded for which there are keys
    if not ready:
        return int(is_selected)
    if not options.yes and not _confirmed(ready, options):
        print("no request was sent")
        return 1
    failed = _record(options, cassette_dir, ready, today)
    return int(failed or (bool(closed) and is_selected))


def _is_base_url(url: str) -> bool:
    try:
        return bool(re.fullmatch(r"https?://[^?#\s]+", url) and httpx.URL(url).host)
    except httpx.InvalidURL:
        return False


def _shown(url: str) -> str:
    """Return a URL without user and password, and with asterisks for what may be a token."""
    for part in (*recorder.secret_parts(url), *secrets.of_environment()):
        url = url.replace(part, "***")
    return re.sub(r"(?<=//)[^/]*@", "", url)


def _check_writable(folder: Path) -> None:
    """Raise UsageError if a folder cannot take a large file. Call this before sending paid requests."""
    try:
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_ROOM))
        if is_new:
            with contextlib.suppress(OSError):  # another command writes to the folder
                folder.rmdir()
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror}") from error


def _show(options: Options, tasks: Iterable[Task]) -> int:
    for task in tasks:
        try:
            for request in task.requests(options.model):
                try:
                    base_url = provider_request.base_url_for(request, options.base_url, {})
                except CannotRecordError:
                    base_url = request.base_url
                print(f"# {load.id_of(task.target)} ({request.mode})")
                print(f"POST {_shown(base_url)}{request.path}")
                headers = client.headers_for(request.api, "***" if request.api.key_headers else None)
                print(*(f"{name}: {value}" for name, value in headers.items()), sep="\n")
                print(f"\n{json.dumps(request.body, indent=1, ensure_ascii=False)}\n")
        except CannotRecordError as error:
            print(f"# {load.id_of(task.target)}: {error}\n")
    return 0


def _confirmed(tasks: Sequence[Task], options: Options) -> bool:
    """Print what will be requested and what it may cost; return True if the user agrees."""
    calls = sum(len(task.source.modes) for task in tasks)
    print(f"{counted(calls, 'call')} for {counted(len(tasks), 'scenario')}:")
    for task in tasks:
        url = _shown(options.base_url or task.api.base_urls[0])
        print(f"  {load.id_of(task.target)}: {options.model or task.source.document['call']['model']} at {url}")
    print(_cost(tasks))
    try:
        return input("Send these requests? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        raise UsageError("cannot ask without a terminal; use --yes to send requests that cost money") from None


def _cost(tasks: Iterable[Task]) -> str:
    """Return sentences with the number of tokens that the calls may take, and the pages with the prices."""
    prompt = completion = limit = unknown = 0
    for task in tasks:
        for mode in task.source.modes:
            if isinstance(task.source, Draft):
                limit += task.source.token_limit or 0
                unknown += task.source.token_limit is None
                continue
            facts = answers.derive_if_readable(task.source.interaction(mode), task.api)
            usage = None if facts is None else task.api.normalise(facts.usage)
            unknown += usage is None
            prompt += (usage and usage.prompt_tokens) or 0
            completion += (usage and usage.completion_tokens) or 0
    known = [f"About {prompt:,} prompt and {completion:,} completion tokens, as recorded before"] if prompt else []
    known += [f"At most {limit:,} completion tokens for drafts"] if limit else []
    more = f" ({counted(unknown, 'call')} of unknown length)" if known and unknown else ""
    pages = ", ".join(dict.fromkeys(task.api.pricing for task in tasks if task.api.pricing))
    tokens = ". ".join(known) or "The number of tokens is unknown"
    return f"{tokens}{more}. Prices: {pages}" if pages else f"{tokens}{more}."


def _record(options: Options, cassette_dir: Path, tasks: Sequence[Task], today: date) -> bool:
    """Record all tasks; return True if one of them failed."""
    try:
        from tqdm import tqdm
    except ImportError:
        raise UsageError("recording needs two more libraries: pip install 'llm-conformance[record]'") from None
    proposed = 0
    refused: list[Api] = []
    total = sum(len(task.source.modes) for task in tasks)
    with tqdm(total=total, unit="call", disable=None) as bar:
        recording = Recorder(
            *(cassette_dir, options.model, options.base_url, os.environ, today, options.source or ""),
            done=lambda: bar.update(1),
        )
        for task in tasks:
            name = load.id_of(task.target)
            bar.set_description(name)
            if task.api in refused:
                tqdm.write(f"{name}: not recorded: {task.api} has refused access")
                continue
            try:
                proposal = recording.record(task)
                tqdm.write(f"proposed {proposal.folder.relative_to(cassette_dir)}{_errors_of(proposal)}")
                proposed += 1
            except RefusedError as error:
                refused.append(task.api)
                tqdm.write(f"{name}: not recorded: {secrets.hide(str(error))}")
            except (CannotRecordError, LeakError, BadFileError) as error:
                tqdm.write(f"{name}: not recorded: {secrets.hide(str(error))}")
            except OSError as error:
                tqdm.write(f"{name}: not recorded: {error.strerror}; no more requests are sent")
                break
            except httpx.HTTPError as error:  # the error's message may repeat a secret that was sent
                tqdm.write(f"{name}: not recorded: {type(error).__name__} at {_host(options, task)}")
    if proposed:
        print(f"next: llm-conformance review{hint(options)}")
    return proposed < len(tasks)


def _errors_of(proposal: Proposal) -> str:
    """Return a text with the error statuses that came instead of answers; "" if there are none."""
    failed = [f"{mode} status {status}" for mode, status in proposal.notes.get("failed", ())]
    return f" (an error: {', '.join(failed)})" if failed else ""


def _host(options: Options, task: Task) -> str:
    url = httpx.URL(options.base_url or task.api.base_urls[0])
    return f"{url.scheme}://{url.host}{f':{url.port}' if url.port else ''}"
