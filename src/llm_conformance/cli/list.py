"""`llm-conformance list`: the suite's rules, scenarios, providers and capabilities."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from llm_conformance.adapter.declarations import CAPABILITIES
from llm_conformance.cli.command import Options, Parser, UsageError
from llm_conformance.locations import CASSETTES
from llm_conformance.rules import catalogue
from llm_conformance.scenarios import core_faults, load
from llm_conformance.wire.providers.table import table

Entry = Mapping[str, Any]


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = "List what the suite has; without WHAT, its rules and scenarios."
    parser.add_argument("what", nargs="?", choices=[*_LISTS], metavar="WHAT", help=", ".join(_LISTS))
    parser.add_argument("--provider", metavar="P[:API]", help="only scenarios of this provider")
    parser.add_argument("--scenario", metavar="GLOB", help="only scenarios whose id (provider/name) matches")
    parser.add_argument("--rule", metavar="GLOB", help="only rules whose id matches: ANN-*")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Options) -> int:
    """Print the lists that were asked for."""
    wanted = [options.what] if options.what else ["rules", "scenarios"]
    found = {name: list(_LISTS[name](options)) for name in wanted}
    if not any(found.values()):
        raise UsageError(f"no {' or '.join(wanted)} match")
    if options.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
        return 0
    for name, entries in found.items():
        print(f"{len(entries)} {name}")
        for entry in entries:
            first, *others = map(str, entry.values())
            print(f"  {first:<44} {textwrap.shorten('  '.join(others), 150, placeholder=' ...')}")
    return 0


def _rules(options: Options) -> Iterator[Entry]:
    for rule in catalogue.catalogue().values():
        if fnmatchcase(rule.id, options.rule or "*"):
            yield {"id": rule.id, "requirement": rule.rule.requirement}


def _scenarios(options: Options) -> Iterator[Entry]:
    files, _ = load.find(CASSETTES)
    for path in files:
        if not fnmatchcase(load.id_of(path), options.scenario or "*"):
            continue
        file = load.read(path)
        if options.provider in (None, file.api.provider, str(file.api)):
            yield {
                "id": load.id_of(path),
                "api": str(file.api),
                "provenance": file.cassette.metadata["provenance"],
                "grounds": file.cassette.grounds,
                "title": file.document["title"],
            }


def _core_faults(options: Options) -> Iterator[Entry]:
    for path in load.find(CASSETTES)[0]:
        api = load.api_of(path)
        for id, fault in core_faults.ids_in(path).items():
            if fnmatchcase(id, options.scenario or "*") and options.provider in (None, api and api.provider, str(api)):
                yield {"id": id, "api": str(api), "grounds": fault.grounds, "title": fault.title}


def _providers(options: Options) -> Iterator[Entry]:
    for api in table().values():
        if options.provider in (None, api.provider, str(api)):
            yield {"id": str(api), "title": api.title}


def _capabilities(_options: Options) -> Iterator[Entry]:
    for capability in CAPABILITIES:
        rules = [rule.id for rule in catalogue.catalogue().values() if rule.rule.capability == capability]
        yield {"id": capability, "rules": ", ".join(rules)}


_LISTS: Mapping[str, Callable[[Options], Iterator[Entry]]] = {
    "rules": _rules,
    "scenarios": _scenarios,
    "core-faults": _core_faults,
    "providers": _providers,
    "capabilities": _capabilities,
}
