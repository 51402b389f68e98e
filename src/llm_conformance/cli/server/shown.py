"""What `llm-conformance server` shows: requests, bytes, and the command of a run."""

from __future__ import annotations

import json
from collections.abc import Sequence

from llm_conformance import secrets
from llm_conformance.cli.command import Options
from llm_conformance.cli.server.target import CLAIMED_BY_OPTIONS
from llm_conformance.recording.recorder import secret_parts
from llm_conformance.server import run as server_run
from llm_conformance.server.apis.known import APIS
from llm_conformance.server.plan import Request, Target
from llm_conformance.server.recordings import Recording
from llm_conformance.server.reports.result import Result
from llm_conformance.wording import counted, printable

_SHOWN_BYTES = 4000


def shown_url(url: str) -> str:
    """Return a URL with asterisks in place of everything that may be a token."""
    for part in (*secret_parts(url), *secrets.of_environment()):
        url = url.replace(part, "***")
    return url


def show(target: Target, requests: Sequence[Request], has_key: bool) -> None:
    """Print the requests without sending them."""
    for request in requests:
        print(f"# {request.name}: {request.conversation.title}")
        print(f"POST {shown_url(server_run.url_of(target))}")
        print("content-type: application/json")
        if has_key:
            for name, value in APIS[target.api].credentials(request.wrong_key or "***").items():
                print(f"{name}: {value}")
        content = request.content.decode("utf-8")
        print(f"\n{content if len(content) <= _SHOWN_BYTES else content[:_SHOWN_BYTES] + ' ...'}\n")
    print(f"{counted(server_run.calls(requests), 'call')}, at most {server_run.tokens(requests):,} tokens in answers")


def command_of(options: Options, target: Target) -> list[str]:
    """Return the command of this run without its filters. If answers were kept, the command judges them again."""
    command = ["llm-conformance", "server"]
    folder = options.replay or options.keep
    if folder is not None:
        return [*command, f"--replay={folder}"]
    command += [shown_url(options.url), f"--api={target.api}", f"--model={target.model}"]
    command += [f"--key-env={options.key_env}"] if options.key_env else []
    command += [f"--context={options.context}"] if options.context else []
    command += [f"--header={each}" for each in options.header]
    for name, usual in (
        ("max_tokens", 256),
        ("token_limit", ""),
        ("params", "{}"),
        ("reasoning_params", "{}"),
    ):
        if getattr(options, name) != usual:
            command.append(f"--{name.replace('_', '-')}={getattr(options, name)}")
    claims = sorted(target.claims - CLAIMED_BY_OPTIONS.keys())
    return [*command, "--capabilities", *claims] if claims else command


def show_bytes(result: Result, kept: Sequence[Recording]) -> None:
    """Print the requests and the answers of failures."""
    failing = {
        (each.scenario.partition("/")[2], each.mode)
        for each in result.judgement.verdicts
        if each.status in ("fail", "expected")
    }
    for recording in kept:
        if (recording.label, recording.mode) in failing:
            print(f"\n# {recording.name}: status {recording.status}, {recording.ended}, {recording.milliseconds} ms")
            print(_printable_lines(json.dumps(recording.request, ensure_ascii=False)))
            print(*(f"{name}: {value}" for name, value in recording.headers.items()), sep="\n")
            print(_printable_lines(recording.body.decode("utf-8", "backslashreplace")))


def _printable_lines(text: str) -> str:
    """Return the beginning of a text, with the control characters in its lines escaped."""
    shown = text if len(text) <= _SHOWN_BYTES else f"{text[:_SHOWN_BYTES]} ..."
    return "\n".join(map(printable, shown.split("\n")))
