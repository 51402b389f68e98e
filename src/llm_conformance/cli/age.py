"""`llm-conformance age`: how old the recordings are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from llm_conformance.cli.cassette_dir import add_cassette_dir, cassette_dir_of, files_in, older_than
from llm_conformance.cli.command import Commands, Options, UsageError
from llm_conformance.scenarios import cassette, load
from llm_conformance.yaml_files import BadFileError


def add_to(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "age",
        help="list the recordings by their age",
        description="List the scenarios that were recorded from a provider, the oldest first, with how many days old "
        "they are; those that never were are counted.",
    )
    parser.add_argument("targets", nargs="*", metavar="SCENARIO", help="ids or globs of them")
    parser.add_argument("--older-than", metavar="90d", help="only older ones; exit code 1 if there are any")
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_cassette_dir(parser)
    parser.set_defaults(command=run, passes_on=False)


def run(options: Options, _rest: Sequence[str]) -> int:
    """Print the list."""
    cassette_dir = cassette_dir_of(options, changes=False)
    today = datetime.now(UTC).date()
    before = older_than(options.older_than, today)
    try:
        found = [(path, cassette.load(load.cassette_path(path)).metadata) for path in _files(options, cassette_dir)]
    except BadFileError as bad:
        raise UsageError(str(bad)) from bad
    dated = [(str(said["date"]), load.id_of(path), said) for path, said in found if "date" in said]
    dated.sort(key=lambda each: each[:2])
    old = [each for each in dated if before is None or each[0] < before.isoformat()]
    if options.json:
        print(json.dumps([{"scenario": id, "date": day, **_told(said)} for day, id, said in old], indent=1))
    else:
        for day, id, said in old:
            print(f"{_days(day, today):>5} days  {day}  {id:<50} {said.get('model_answered', '')}")
        print(f"{len(old)} of {len(found)} scenarios; {len(found) - len(dated)} have no date: nobody recorded them")
    return int(bool(old) and before is not None)


def _days(day: str, today: date) -> int | str:
    try:
        return (today - date.fromisoformat(day)).days
    except ValueError:
        return "?"


def _files(options: Options, cassette_dir: Path) -> list[Path]:
    return files_in(cassette_dir, options.targets or ["*"])


def _told(said: object) -> dict[str, object]:
    names = ("provenance", "endpoint", "model_answered", "recorder")
    return {name: said[name] for name in names if isinstance(said, dict) and name in said}
