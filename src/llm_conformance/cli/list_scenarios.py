"""`llm-conformance list`: which rules, scenarios and providers there are."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from llm_conformance.adapter.under_test import CAPABILITIES
from llm_conformance.cli.command import Commands, Options, UsageError
from llm_conformance.locations import CASSETTES
from llm_conformance.rules import catalogue
from llm_conformance.scenarios import load
from llm_conformance.wire.providers.table import table

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
    parser.add_argument("--rule", metavar="GLOB", help="only rules whose id matches: ANN-*")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(command=run, passes_on=False)


def run(options: Options, _rest: Sequence[str]) -> int:
    """Print the lists that are asked for."""
    wanted = [options.what] if options.what else ["rules", "scenarios"]
    found = {name: list(_LISTS[name](options)) for name in wanted}
    if not any(found.values()):
        raise UsageError(f"no {' or '.join(wanted)} like that")
    if options.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
        return 0
    for name, apis in found.items():
        print(f"{len(apis)} {name}")
        for api in apis:
            first, *others = map(str, api.values())
            print(f"  {first:<44} {textwrap.shorten('  '.join(others), 150, placeholder=' ...')}")
    return 0


def _rules(options: Options) -> Iterator[Row]:
    for rule in catalogue.catalogue().values():
        if fnmatchcase(rule.id, options.rule or "*"):
            yield {"id": rule.id, "requirement": rule.rule.requirement}


def _scenarios(options: Options) -> Iterator[Row]:
    files, _ = load.find(CASSETTES)
    for path in files:
        if not fnmatchcase(load.id_of(path), options.scenario or "*"):
            continue
        file = load.read(path)
        api = file.api
        if options.provider in (None, api.provider, str(api)):
            evidence = file.cassette.metadata["provenance"]
            title = file.document["title"]
            yield {"id": load.id_of(path), "api": str(api), "provenance": evidence, "title": title}


def _providers(options: Options) -> Iterator[Row]:
    for api in table().values():
        if options.provider in (None, api.provider, str(api)):
            yield {"id": str(api), "title": api.title}


def _capabilities(_options: Options) -> Iterator[Row]:
    for each in CAPABILITIES:
        held = [rule.id for rule in catalogue.catalogue().values() if rule.rule.capability == each]
        yield {"id": each, "rules": ", ".join(held)}


_LISTS: Mapping[str, Callable[[Options], Iterator[Row]]] = {
    "rules": _rules,
    "scenarios": _scenarios,
    "providers": _providers,
    "capabilities": _capabilities,
}
