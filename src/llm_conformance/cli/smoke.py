"""`llm-conformance smoke`: does the plumbing work? One plain answer an API and method, before any rule is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from llm_conformance.adapter import under_test
from llm_conformance.adapter.under_test import AdapterUnderTest
from llm_conformance.cli.command import Commands, Options, UsageError
from llm_conformance.locations import CASSETTES
from llm_conformance.options import TIMEOUT_S
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.proxies import keep_proxies_away
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.scenarios import lint, load
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import MODES, Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table

_SHOWN = 60


def add_to(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "smoke",
        help="say in two seconds whether an adapter can be called at all",
        description="Replay one plain answer of each API through each method of an adapter, and show what came back. "
        "Nothing is judged but that an answer came.",
    )
    parser.add_argument("--adapter", action="append", required=True, metavar="SPEC")
    parser.set_defaults(command=run, passes_on=False)


def run(options: Options, _rest: Sequence[str]) -> int:
    """Call each method once an API; return 1 if one of them gave no answer."""
    keep_proxies_away()
    try:
        adapters = under_test.load_all(options.adapter, Path.cwd())
    except under_test.BadAdapterError as error:
        raise UsageError(str(error)) from error
    runner = Runner(TIMEOUT_S, ReplayServer())
    try:
        return max(_try(each, runner) for each in adapters)
    finally:
        runner.close()
        for each in adapters:
            each.close()


def _try(judged: AdapterUnderTest, runner: Runner) -> int:
    print(f"{judged.label} {judged.version or ''}".rstrip())
    apis = [api for api in table().values() if judged.covers(api)]
    unknown = judged.providers - {name for api in apis for name in (api.provider, str(api))}
    for name in sorted(unknown):
        print(f"  {name}: the suite has nothing of it yet; `llm-conformance list providers` has all")
    failed = 0 if apis else 1
    for api in apis:
        for cell in _cells(judged, api):
            good, said = _outcome(cell, runner)
            failed |= not good
            print(f"  {'ok' if good else 'NO':<3} {api!s:<26} {cell.method:<13} {said}")
    print(
        "  no rule was asked: llm-conformance run --adapter=" + judged.spec if not failed else "  it does not work yet"
    )
    return int(failed)


def _cells(judged: AdapterUnderTest, api: Api) -> Iterator[Cell]:
    for mode in MODES:
        methods = judged.methods_for(mode)
        scenario = _plain(api, mode) if methods else None
        if scenario is not None:
            yield from (Cell(judged, scenario, mode, method) for method in methods)


def _plain(api: Api, mode: Mode) -> Scenario | None:
    """Return the smallest scenario of an API that is a text and nothing else; None if there is none."""
    files, _ = load.find(CASSETTES / api.provider)
    for path in sorted(files, key=lambda path: load.cassette_path(path).stat().st_size):
        file = load.read(path)
        if file.api is not api or mode not in file.modes or "fault" in file.document or file.outage:
            continue
        if any(lint.lint(file)):
            continue
        found = load.build(file, CASSETTES)
        expected = found.expected[mode]
        is_text = expected.error is None and [each.type for each in expected.segments] == ["text"] and expected.message
        if is_text and expected.finish_reasons == ("stop",) and not found.earlier and not expected.annotations:
            return found
    return None


def _outcome(cell: Cell, runner: Runner) -> tuple[bool, str]:
    """Return whether an answer came, and what is to be said of it."""
    outcome = runner.exchange(cell).outcome
    if outcome.fault or outcome.raised or outcome.unsupported:
        return False, str(outcome.fault or outcome.raised or outcome.unsupported)
    if outcome.response is None:
        return False, "no response.completed came" if outcome.events else "no answer came"
    said = outcome.response.data.get("message")
    if not isinstance(said, str):
        return False, f"`message` has to be a text, and is {said!r}"
    events = f" ({len(outcome.events)} events)" if outcome.events else ""
    return True, f'"{said[:_SHOWN]}{"..." if len(said) > _SHOWN else ""}"{events}'
