"""`llm-conformance smoke`: check that an adapter can be called, with one plain response of each API."""

from __future__ import annotations

import argparse
import dataclasses
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from llm_conformance.adapter import loader, unknown_providers
from llm_conformance.adapter.declarations import AdapterUnderTest, BadAdapterError
from llm_conformance.cli.command import Options, Parser, UsageError
from llm_conformance.contract import Response
from llm_conformance.formats.differences import Difference
from llm_conformance.locations import CASSETTES
from llm_conformance.options import OPTIONS
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.proxies import keep_proxies_away
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.transport import new_transport
from llm_conformance.rules import shapes
from llm_conformance.rules.outcome import Outcome
from llm_conformance.scenarios import build, lint, load
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import MODES, Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from llm_conformance.wording import MISSPELT, closest, command_line, printable

_OPTIONS = ("transport", "isolation", "timeout")
"""The options that this command shares with a run."""

_SHOWN = 60
"""How many code points of a message to show."""

_MOST = 5
"""How many problems of a response to show: a response has five required fields."""


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = (
        "Replay one plain response of each API through each method of an adapter and show what it returns. Checks only "
        "that the answer has the form of a response (SHP-1); no other rule is applied. An exception is shown with its "
        "traceback."
    )
    parser.add_argument("--adapter", action="append", metavar="SPEC", help="the adapter; repeatable")
    parser.add_argument("without_option", nargs="*", help=argparse.SUPPRESS)  # only for a better message
    for option in (each for each in OPTIONS if each.name in _OPTIONS):
        parser.add_argument(option.short_name, **option.arguments)


def run(options: Options) -> int:
    """Call each method once for each API; return 1 if a call returned no valid response."""
    keep_proxies_away()
    if options.without_option:
        spec = options.without_option[0]
        raise UsageError(f"smoke {spec}: did you mean {command_line([f'--adapter={spec}'])}?")
    if not options.adapter:
        raise UsageError("smoke: name the adapter (--adapter=SPEC)")
    if options.conformance_timeout <= 0:
        raise UsageError(f"--timeout={options.conformance_timeout:g}: must be more than 0 seconds")
    try:
        where = loader.isolation(options.conformance_isolation, options.conformance_transport)
    except ValueError as error:
        raise UsageError(f"--isolation={options.conformance_isolation}: {error}") from error
    try:
        adapters = loader.load_all(options.adapter, Path.cwd(), where)
    except BadAdapterError as error:
        raise UsageError(str(error)) from error
    runner = Runner(options.conformance_timeout, new_transport(options.conformance_transport))
    try:
        return max(_try(adapter, runner, options) for adapter in adapters)
    finally:
        runner.close()
        for adapter in adapters:
            adapter.close()


def _try(adapter: AdapterUnderTest, runner: Runner, options: Options) -> int:
    print(f"{adapter.label} {adapter.version or ''}".rstrip())
    apis = [api for api in table().values() if adapter.covers(api)]
    for name, hint in unknown_providers.hints(adapter).items():
        print(f"  {name}: {unknown_providers.message(hint)}")
    failed = not apis
    shown: dict[str, str] = {}
    for api in apis:
        for cell in _cells(adapter, api):
            works, message = _outcome(cell, runner)
            failed |= not works
            print(f"  {'ok' if works else 'NO':<3} {api!s:<26} {cell.method:<13} {message}")
            _print_traceback(cell, runner.exchange(cell).outcome, shown)
    command = command_line(["llm-conformance", "run", f"--adapter={adapter.spec}", *_given(options)])
    print("  it does not work yet" if failed else f"  it works; now: {command}")
    return int(failed)


def _print_traceback(cell: Cell, outcome: Outcome, shown: dict[str, str]) -> None:
    """Print the traceback of an exception, once for each cause. `shown` maps a cause to the call that printed it."""
    if outcome.traceback is None:
        return
    cause, call = outcome.cause or outcome.traceback, f"{cell.scenario.api} {cell.method}"
    if shown.setdefault(cause, call) == call:
        print(textwrap.indent(outcome.traceback, "      "))
    else:
        print(f"      as in {shown[cause]}: {outcome.cause}")


def _given(options: Options) -> Iterator[str]:
    """Yield the options that do not have their default values, as a user types them."""
    for option in (each for each in OPTIONS if each.name in _OPTIONS):
        value = getattr(options, option.dest)
        if value != option.default:
            yield f"{option.short_name}={f'{value:g}' if isinstance(value, float) else value}"


def _cells(adapter: AdapterUnderTest, api: Api) -> Iterator[Cell]:
    for mode in MODES:
        methods = adapter.methods_for(mode)
        scenario = plainest(api, mode) if methods else None
        if scenario is not None:
            yield from (Cell(adapter, scenario, mode, method) for method in methods)


def plainest(api: Api, mode: Mode) -> Scenario | None:
    """Return the scenario of an API with the smallest response. Responses that are only a text come before all others.

    Returns None if the API has no scenario. Probes are left out: an adapter works even if it cannot read what no
    provider is known to send.
    """
    files, _ = load.find(CASSETTES / api.provider)
    with_more = None
    for path in sorted(files, key=lambda path: load.cassette_path(path).stat().st_size):
        file = load.read(path)
        if file.api is not api or mode not in file.modes or "fault" in file.document or file.outage:
            continue
        if any(lint.lint(file)):
            continue
        found = build.build(file, CASSETTES)
        expected = found.expected[mode]
        if found.grounds == "probe" or found.earlier or expected.error is not None:
            continue
        is_text = (
            expected.message and [each.type for each in expected.segments] == ["text"] and not expected.annotations
        )
        if is_text and expected.finish_reasons == ("stop",):
            return found
        with_more = with_more or found
    return with_more


def _outcome(cell: Cell, runner: Runner) -> tuple[bool, str]:
    """Return (True, message), or (False, what is wrong) if the method returned no valid response."""
    outcome = runner.exchange(cell).outcome
    if outcome.difference and not outcome.unsupported:
        found = outcome.difference
        return False, f"the request has {found.actual}; the call asks for {found.expected}{_hint(cell, found)}"
    if outcome.fault or outcome.raised or outcome.unsupported:
        return False, str(outcome.fault or outcome.raised or outcome.unsupported)
    if outcome.response is None:
        return False, "no response.completed event came" if outcome.events else "it returned no response"
    message = outcome.response.data.get("message")
    if not isinstance(message, str):
        return False, f"`message` must be a string, and is {message!r}"
    misspelt = "".join(f"; {each}" for each in _misspelt_keys(outcome.response.data))
    if outcome.response.problems:
        return False, f"{shapes.sentence(outcome.response.problems, _MOST)}{misspelt}"
    events = f" ({len(outcome.events)} events)" if outcome.events else ""
    return True, f'"{message[:_SHOWN]}{"..." if len(message) > _SHOWN else ""}"{events}{misspelt}'


def _misspelt_keys(response: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each key of a response that is nearly the name of a field that the response lacks."""
    fields = [field.name for field in dataclasses.fields(Response)]
    lacking = [name for name in fields if name not in response]
    for key in response:
        near = [] if key in fields else closest(key, lacking, cutoff=MISSPELT)
        if near:
            yield f"`{printable(key)}` is no field of a response; did you mean `{near[0]}`?"


def _hint(cell: Cell, difference: Difference) -> str:
    """Return which part of the call to pass on if the request lacks it; "" for any other difference."""
    expected = difference.expected
    is_of_params = expected.startswith("a switch for ") or expected.startswith(
        tuple(f"/{name} " for name in cell.scenario.params[cell.mode])
    )
    if is_of_params:
        return "; pass call.params on"
    return "; pass call.messages on" if expected.startswith("the text ") else ""
