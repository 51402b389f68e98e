"""Ask a server, within the limits that the options set. Ask another machine only if the user agrees."""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Sequence

import httpx

from llm_conformance.cli.command import Options, UsageError
from llm_conformance.cli.server.shown import shown_url
from llm_conformance.cli.server.target import headers_of, key
from llm_conformance.server import recordings
from llm_conformance.server import run as server_run
from llm_conformance.server.apis.known import APIS
from llm_conformance.server.client import client
from llm_conformance.server.plan import Request, Target
from llm_conformance.server.recordings import Recording
from llm_conformance.wording import counted, printable


def check_keep(options: Options) -> None:
    """Raise UsageError if answers cannot be kept. Call this before sending requests."""
    if options.keep is not None:
        if options.keep.exists() and any(options.keep.iterdir()):
            raise UsageError(f"--keep={options.keep}: is not empty; name a new directory")
        options.keep.mkdir(parents=True, exist_ok=True)


def check_effort(requests: Sequence[Request], options: Options) -> None:
    """Print what is about to be sent. Raises UsageError if that is too much, or if the user does not agree."""
    calls = server_run.calls(requests)
    if calls > options.max_calls:
        more = f"{counted(calls, 'call')} are more than --max-calls={options.max_calls}"
        raise UsageError(f"{more}; raise it, or choose some with --conversation")
    limit = f"at most {server_run.tokens(requests):,} tokens in answers, {options.timeout:g} s for each"
    print(f"{counted(calls, 'call')} to {shown_url(options.url)}, {limit}")
    if options.yes or _is_this_machine(options.url):
        return
    try:
        agreed = input("Send these requests? They may cost money. [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        raise UsageError("cannot ask without a terminal; use --yes to send requests to another machine") from None
    if not agreed:
        raise UsageError("no request was sent")


def _is_this_machine(url: str) -> bool:
    host = httpx.URL(url).host
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def ask(target: Target, requests: Sequence[Request], options: Options) -> list[Recording]:
    """Send the requests, and keep the answers. Raises UsageError if the server cannot be reached."""
    headers = headers_of(options)
    if options.keep is not None:
        server_run.save_target(options.keep, target)

    def done(recording: Recording) -> None:
        if options.keep is not None:
            recordings.save(options.keep, recording, server_run.api_of(target))
        if sys.stderr.isatty():
            print(".", end="", file=sys.stderr, flush=True)

    try:
        with client(server_run.url_of(target), key(options), options.timeout, headers, APIS[target.api]) as http:
            return server_run.ask(target, requests, http, done)
    except server_run.NoServerError as error:
        raise UsageError(printable(str(error))) from error
