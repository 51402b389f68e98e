"""`llm-conformance age`: how old the recordings are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from llm_conformance.cli.cassette_dir import add_cassette_dir, cassette_dir_of, files_in, older_than
from llm_conformance.cli.command import Options, Parser, UsageError
from llm_conformance.scenarios import cassette, load
from llm_conformance.wording import counted
from llm_conformance.yaml_files import BadFileError

_SHOWN = ("provenance", "endpoint", "model_answered", "recorder")


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = "List the scenarios that were recorded from a provider, oldest first, with their age in days."
    parser.add_argument("targets", nargs="*", metavar="SCENARIO", help="ids, or globs of ids")
    parser.add_argument("--older-than", metavar="90d", help="only recordings older than this; exit code 1 if any is")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_cassette_dir(parser)


def run(options: Options) -> int:
    """Print the list. With `--older-than`, return 1 if the list is not empty."""
    cassette_dir = cassette_dir_of(options, changes=False)
    today = datetime.now(UTC).date()
    before = older_than(options.older_than, today)
    try:
        files = files_in(cassette_dir, options.targets) if options.targets else load.find(cassette_dir)[0]
        metadata = {load.id_of(path): cassette.load(load.cassette_path(path)).metadata for path in files}
    except BadFileError as bad:
        raise UsageError(str(bad)) from bad
    dated = sorted((str(facts["date"]), id) for id, facts in metadata.items() if "date" in facts)
    listed = [(day, id) for day, id in dated if before is None or day < before.isoformat()]
    if options.json:
        print(json.dumps([{"scenario": id, "date": day, **_shown(metadata[id])} for day, id in listed], indent=1))
    elif not metadata:
        print(f"{cassette_dir} has no scenarios")
    else:
        for day, id in listed:
            print(f"{_days(day, today):>5} days  {day}  {id:<50} {metadata[id].get('model_answered', '')}")
        undated = len(metadata) - len(dated)
        print(f"{len(listed)} of {counted(len(metadata), 'scenario')}; not recorded, and so without a date: {undated}")
    return int(bool(listed) and before is not None)


def _days(day: str, today: date) -> int | str:
    try:
        return (today - date.fromisoformat(day)).days
    except ValueError:
        return "?"


def _shown(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: metadata[name] for name in _SHOWN if name in metadata}
