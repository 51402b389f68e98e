"""`llm-conformance list`: which rules, scenarios and providers there are."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from llm_conformance import rules, scenarios
from llm_conformance.commands import Commands, Misuse, Options
from llm_conformance.locations import CASSETTES
from llm_conformance.providers import table
from llm_conformance.subject import CAPABILITIES

Row = Mapping[str, Any]


def add_to(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "list",
        help="show the rules, scenarios and providers that there are",
        description="Show what there is; without a word, rules and scenarios.",
    )
    parser.add_argument("what", nargs="?", choices=[*_LISTS], metavar="WHAT", help=", ".join(_LISTS))
    parser.add_argument("--provider", metavar="P[:API]", help="only scenarios of this provider")
    parser.add_argument("--scenario", metavar="GLOB", help="only scenarios whose id (provider/name) matches")
    parser.add_argument("--invariant", metavar="GLOB", help="only rules whose id matches: ANN-*")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(command=run, passes_on=False)


def run(options: Options, _rest: Sequence[str]) -> int:
    """Print the lists that are asked for."""
    wanted = [options.what] if options.what else ["invariants", "scenarios"]
    found = {name: list(_LISTS[name](options)) for name in wanted}
    if not any(found.values()):
        raise Misuse(f"no {' or '.join(wanted)} like that")
    if options.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
        return 0
    for name, rows in found.items():
        print(f"{len(rows)} {name}")
        for row in rows:
            first, *others = map(str, row.values())
            print(f"  {first:<44} {textwrap.shorten('  '.join(others), 150, placeholder=' ...')}")
    return 0


def _invariants(options: Options) -> Iterator[Row]:
    for rule in rules.catalogue().values():
        if fnmatchcase(rule.id, options.invariant or "*"):
            yield {"id": rule.id, "requirement": rule.invariant.requirement}


def _scenarios(options: Options) -> Iterator[Row]:
    files, _ = scenarios.find(CASSETTES)
    for path in files:
        if not fnmatchcase(scenarios.id_of(path), options.scenario or "*"):
            continue
        file = scenarios.read(path)
        row = file.provider
        if options.provider in (None, row.id, str(row)):
            evidence = file.cassette.metadata["provenance"]
            title = file.document["title"]
            yield {"id": scenarios.id_of(path), "api": str(row), "evidence": evidence, "title": title}


def _providers(options: Options) -> Iterator[Row]:
    for row in table().values():
        if options.provider in (None, row.id, str(row)):
            yield {"id": str(row), "title": row.title}


def _capabilities(_options: Options) -> Iterator[Row]:
    for each in CAPABILITIES:
        held = [rule.id for rule in rules.catalogue().values() if rule.invariant.capability == each]
        yield {"id": each, "rules": ", ".join(held)}


_LISTS: Mapping[str, Callable[[Options], Iterator[Row]]] = {
    "invariants": _invariants,
    "scenarios": _scenarios,
    "providers": _providers,
    "capabilities": _capabilities,
}
