"""`llm-conformance smoke`: does the plumbing work? One plain answer an API and method, before any rule is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from llm_conformance import lint, scenarios, subject
from llm_conformance.commands import Commands, Misuse, Options
from llm_conformance.locations import CASSETTES
from llm_conformance.plan import Cell
from llm_conformance.plugin import TIMEOUT_S
from llm_conformance.providers import Provider, table
from llm_conformance.runner import Runner
from llm_conformance.scenarios import Scenario
from llm_conformance.server import ReplayServer
from llm_conformance.settings import keep_proxies_away
from llm_conformance.subject import Subject
from llm_conformance.truths import MODES, Mode

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
        subjects = subject.load_all(options.adapter, Path.cwd())
    except subject.BadAdapterError as error:
        raise Misuse(str(error)) from error
    runner = Runner(TIMEOUT_S, ReplayServer())
    try:
        return max(_try(each, runner) for each in subjects)
    finally:
        runner.close()
        for each in subjects:
            each.close()


def _try(judged: Subject, runner: Runner) -> int:
    print(f"{judged.label} {judged.version or ''}".rstrip())
    rows = [row for row in table().values() if judged.covers(row)]
    unknown = judged.providers - {name for row in rows for name in (row.id, str(row))}
    for name in sorted(unknown):
        print(f"  {name}: the suite has nothing of it yet; `llm-conformance list providers` has all")
    failed = 0 if rows else 1
    for row in rows:
        for cell in _cells(judged, row):
            good, said = _outcome(cell, runner)
            failed |= not good
            print(f"  {'ok' if good else 'NO':<3} {row!s:<26} {cell.face:<13} {said}")
    print(
        "  no rule was asked: llm-conformance run --adapter=" + judged.spec if not failed else "  it does not work yet"
    )
    return int(failed)


def _cells(judged: Subject, row: Provider) -> Iterator[Cell]:
    for mode in MODES:
        faces = judged.faces_for(mode)
        scenario = _plain(row, mode) if faces else None
        if scenario is not None:
            yield from (Cell(judged, scenario, mode, face) for face in faces)


def _plain(row: Provider, mode: Mode) -> Scenario | None:
    """Return the smallest scenario of an API that is a text and nothing else; None if there is none."""
    files, _ = scenarios.find(CASSETTES / row.id)
    for path in sorted(files, key=lambda path: scenarios.cassette_path(path).stat().st_size):
        file = scenarios.read(path)
        if file.provider is not row or mode not in file.modes or "fault" in file.document or file.outage:
            continue
        if any(lint.lint(file)):
            continue
        found = scenarios.build(file, CASSETTES)
        truth = found.truths[mode]
        is_text = truth.error is None and [each.type for each in truth.segments] == ["text"] and truth.message
        if is_text and truth.finish_reasons == ("stop",) and not found.earlier and not truth.annotations:
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
