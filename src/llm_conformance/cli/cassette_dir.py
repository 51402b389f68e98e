"""The cassette directory that a command works on, and the scenarios and proposals that its arguments select."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from fnmatch import fnmatchcase
from pathlib import Path

from llm_conformance.cli.command import Options, Parser, UsageError
from llm_conformance.locations import CASSETTES, PACKAGED, ROOT
from llm_conformance.recording import proposals
from llm_conformance.recording.proposals import Proposal
from llm_conformance.scenarios import core_faults, load
from llm_conformance.wording import command_line, did_you_mean_scenario
from llm_conformance.yaml_files import BadFileError

_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def add_cassette_dir(parser: Parser) -> None:
    """Add the option `--cassettes`."""
    parser.add_argument(
        "--cassettes",
        type=Path,
        metavar="DIR",
        help="the cassette directory; required outside a clone of the suite",
    )


def cassette_dir_of(options: Options, changes: bool = True, wait: bool = False) -> Path:
    """Return the cassette directory.

    Args:
        options: The command's options.
        changes: Whether the command changes the directory. If so, this function first undoes an interrupted `accept`.
        wait: Whether to wait if another command is changing the directory.

    Raises:
        UsageError: The user gave no directory and the suite's own cannot be used; or the directory is unusable; or
            another command is changing it.
    """
    if options.cassettes is None and (PACKAGED or not Path.cwd().is_relative_to(ROOT)):
        raise UsageError("--cassettes=DIR is missing; it is optional only within a clone of the suite")
    cassette_dir: Path = options.cassettes or CASSETTES
    if not cassette_dir.is_dir():
        raise UsageError(f"--cassettes={cassette_dir}: no such directory")
    cassette_dir = cassette_dir.resolve()
    try:
        for path in proposals.recover(cassette_dir, wait) if changes else ():
            print(f"undid an interrupted acceptance: restored {path}")
    except BadFileError as bad:
        raise UsageError(str(bad)) from bad
    return cassette_dir


def hint(options: Options) -> str:
    """Return the option `--cassettes` for a suggested command; "" if the user has not given it."""
    return "" if options.cassettes is None else " " + command_line([f"--cassettes={options.cassettes}"])


def files_in(cassette_dir: Path, patterns: Iterable[str]) -> list[Path]:
    """Return the scenario files whose ids match a pattern. Raises UsageError for a pattern without a match."""
    try:
        found, _ = load.find(cassette_dir)
    except BadFileError as bad:
        raise UsageError(str(bad)) from bad
    return list(dict.fromkeys(path for pattern in patterns for path in _matching(found, pattern, cassette_dir)))


def _matching(found: Iterable[Path], pattern: str, cassette_dir: Path) -> list[Path]:
    found = list(found)
    matching = [path for path in found if fnmatchcase(load.id_of(path), pattern)]
    if matching:
        return matching
    for path in found:
        if any(fnmatchcase(id, pattern) for id in core_faults.ids_in(path)):
            raise UsageError(
                f"{pattern}: this is a core fault, which the suite makes from the answer of {load.id_of(path)}; name "
                "that scenario"
            )
    hint = did_you_mean_scenario(pattern, map(load.id_of, found))
    raise UsageError(f"{pattern}: no scenario in {cassette_dir} has this id (provider/name){hint}")


def proposals_in(cassette_dir: Path, patterns: Sequence[str]) -> list[Proposal]:
    """Return the proposals whose ids match a pattern, or all if there are no patterns.

    Raises:
        UsageError: A pattern matches none.
    """
    found = proposals.find(cassette_dir)
    for pattern in patterns:
        if not any(fnmatchcase(each.id, pattern) for each in found):
            hint = did_you_mean_scenario(pattern, (each.id for each in found))
            raise UsageError(f"{pattern}: no proposed recording in {cassette_dir} has this id (provider/name){hint}")
    return [each for each in found if not patterns or any(fnmatchcase(each.id, pattern) for pattern in patterns)]


def older_than(age: str | None, today: date) -> date | None:
    """Return the date that is `age` (`90d`, `12w`, `6m`, `1y`) before today. Raises UsageError for another form."""
    if age is None:
        return None
    found = re.fullmatch(r"(\d{1,4})([dwmy])", age)
    if not found:
        raise UsageError(f"--older-than={age}: give days, weeks, months or years: 90d, 12w, 6m, 1y")
    return today - min(timedelta(days=int(found[1]) * _DAYS[found[2]]), today - date.min)
