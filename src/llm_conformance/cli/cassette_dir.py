"""Where the cassettes are that a command is to change, and which of them it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from fnmatch import fnmatchcase
from pathlib import Path

from llm_conformance.cli.command import Commands, Options, UsageError
from llm_conformance.locations import CASSETTES, PACKAGED, ROOT
from llm_conformance.recording import proposals
from llm_conformance.recording.proposals import Proposal
from llm_conformance.scenarios import load
from llm_conformance.yaml_files import BadFileError

_UNITS = {"d": 1, "w": 7, "m": 30, "y": 365}


def add_cassette_dir(parser: Commands) -> None:
    """Add the option that says where the cassettes are."""
    parser.add_argument(
        "--cassettes",
        type=Path,
        metavar="DIR",
        help="the directory of cassettes; in a clone of the suite its own, else it has to be given",
    )


def cassette_dir_of(options: Options, changes: bool = True) -> Path:
    """Return the directory of cassettes; if the command `changes` it, with what was interrupted in it undone.

    Raises Misuse.
    """
    if options.cassettes is None and (PACKAGED or not Path.cwd().is_relative_to(ROOT)):
        raise UsageError(
            "say where your cassettes are: --cassettes=DIR (the suite's own only from within a clone of it)"
        )
    cassette_dir: Path = options.cassettes or CASSETTES
    if not cassette_dir.is_dir():
        raise UsageError(f"--cassettes={cassette_dir}: no such directory")
    cassette_dir = cassette_dir.resolve()
    try:
        for path in proposals.recover(cassette_dir) if changes else ():
            print(f"an interrupted acceptance was undone: {path} is as it was")
    except BadFileError as bad:
        raise UsageError(str(bad)) from bad
    return cassette_dir


def hint(options: Options) -> str:
    """Return the option that a next command needs, as this one did."""
    return "" if options.cassettes is None else f" --cassettes={options.cassettes}"


def files_in(cassette_dir: Path, patterns: Iterable[str]) -> list[Path]:
    """Return the scenario files whose ids match one of the patterns, in order. Raises Misuse for one that none does."""
    try:
        found, _ = load.find(cassette_dir)
    except BadFileError as bad:
        raise UsageError(str(bad)) from bad
    return list(dict.fromkeys(path for pattern in patterns for path in _matching(found, pattern, cassette_dir)))


def _matching(found: Iterable[Path], pattern: str, cassette_dir: Path) -> list[Path]:
    matching = [path for path in found if fnmatchcase(load.id_of(path), pattern)]
    if not matching:
        raise UsageError(f"{pattern}: no scenario in {cassette_dir} has such an id (provider/name)")
    return matching


def proposals_in(cassette_dir: Path, patterns: Sequence[str]) -> list[Proposal]:
    """Return the proposals whose ids match one of the patterns, all without one. Raises Misuse where there is none."""
    found = proposals.find(cassette_dir)
    for pattern in patterns:
        if not any(fnmatchcase(each.id, pattern) for each in found):
            raise UsageError(f"{pattern}: no recording in {cassette_dir} waits for a review under such an id")
    return [each for each in found if not patterns or any(fnmatchcase(each.id, pattern) for pattern in patterns)]


def older_than(said: str | None, today: date) -> date | None:
    """Return the day before which something is too old: `90d`, `12w`, `6m`, `1y` ago. Raises Misuse."""
    if said is None:
        return None
    found = re.fullmatch(r"(\d{1,4})([dwmy])", said)
    if not found:
        raise UsageError(f"--older-than={said}: say a number of days, weeks, months or years: 90d, 12w, 6m, 1y")
    return today - min(timedelta(days=int(found[1]) * _UNITS[found[2]]), today - date.min)
