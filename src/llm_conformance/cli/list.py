"""`llm-conformance list`: list rules, scenarios, providers, capabilities, and the libraries of the field."""

from __future__ import annotations

import fnmatch
import json
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from llm_conformance.adapter import libraries
from llm_conformance.adapter.declarations import CAPABILITIES
from llm_conformance.cli.command import Options, Parser, UsageError
from llm_conformance.locations import CASSETTES
from llm_conformance.rules import catalogue
from llm_conformance.scenarios import core_faults, load
from llm_conformance.server import catalogue as of_servers
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from llm_conformance.wording import did_you_mean, did_you_mean_rule, did_you_mean_scenario, no_such

Entry = Mapping[str, Any]

_LONGEST_APIS = 90


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = (
        "List what the suite has; without WHAT, its rules and scenarios, or only those that the options are about."
    )
    parser.add_argument("what", nargs="?", choices=[*_LISTS], metavar="WHAT", help=", ".join(_LISTS))
    for name, metavar, help in (
        ("--provider", "P[:API]", "only scenarios of this provider; repeatable"),
        ("--scenario", "GLOB", "only scenarios whose id (provider/name) matches; repeatable"),
        ("--rule", "GLOB", "only rules whose id matches: ANN-*; repeatable"),
    ):
        parser.add_argument(name, action="append", default=[], metavar=metavar, help=help)
    parser.add_argument(
        "--libraries",
        action="store_true",
        help="the same as `list libraries`: what `llm-conformance run LIBRARY` judges, and the release that was judged",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Options) -> int:
    """Print the lists that were asked for."""
    problems = list(_unknown(options))
    if problems:
        raise UsageError("\n".join(problems))
    of_rules, of_scenarios = bool(options.rule), bool(options.provider or options.scenario)
    what = "libraries" if options.libraries else options.what
    wanted = [what] if what else ["rules"] * (of_rules or not of_scenarios)
    if not what and (of_scenarios or not of_rules):
        wanted.append("scenarios")
    found = {name: list(_LISTS[name](options)) for name in wanted}
    if not any(found.values()):
        raise UsageError(f"no {' or '.join(wanted)} match")
    if options.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
        return 0
    for name, entries in found.items():
        print(f"{name}: {len(entries)}")
        if name == "libraries":
            print("\n".join(_in_columns(entries)))
            continue
        for entry in entries:
            first, *others = map(str, entry.values())
            print(f"  {first:<44} {textwrap.shorten('  '.join(others), 150, placeholder=' ...')}")
    return 0


_HEADS = {"id": "library", "release": "judged release", "installed": "installed", "apis": "APIs"}
"""Maps a field of a library to the head of its column."""


def _in_columns(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield a head and a line for each library. The last column is shortened."""
    rows = [_HEADS, *({**entry, "installed": entry["installed"] or "no"} for entry in entries)]
    *names, last = _HEADS
    widths = {name: max(len(row[name]) for row in rows) for name in names}
    for row in rows:
        columns = "  ".join(f"{row[name]:<{widths[name]}}" for name in names)
        yield f"  {columns}  {textwrap.shorten(row[last], _LONGEST_APIS, placeholder=' ...')}"


def _unknown(options: Options) -> Iterator[str]:
    """Yield a message for each provider, id and glob that the suite does not have."""
    providers = {name for api in table().values() for name in (api.provider, str(api))}
    for name in options.provider:
        if name not in providers:
            problem = no_such("provider", did_you_mean(name, providers), "llm-conformance list providers")
            yield f"--provider={name}: {problem}"
    of_what = "server-rules" if options.what == "server-rules" else "rules"
    rules = of_servers.catalogue() if of_what == "server-rules" else catalogue.catalogue()
    for pattern in options.rule:
        if not fnmatch.filter(rules, pattern):
            problem = no_such("rule", did_you_mean_rule(pattern, rules), f"llm-conformance list {of_what}")
            yield f"--rule={pattern}: {problem}"
    files = load.find(CASSETTES)[0] if options.scenario else []
    ids = [*map(load.id_of, files), *(id for path in files for id in core_faults.ids_in(path))]
    for pattern in options.scenario:
        if not any(fnmatchcase(id, pattern) for id in ids):
            problem = no_such("scenario", did_you_mean_scenario(pattern, ids), core_faults.list_command(pattern))
            yield f"--scenario={pattern}: {problem}"


def _matches(id: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(id, pattern) for pattern in patterns)


def _is_wanted(api: Api | None, options: Options) -> bool:
    wanted: Sequence[str] = options.provider
    return not wanted or (api is not None and not {api.provider, str(api)}.isdisjoint(wanted))


def _rules(options: Options) -> Iterator[Entry]:
    for rule in catalogue.catalogue().values():
        if _matches(rule.id, options.rule):
            yield {"id": rule.id, "requirement": rule.rule.requirement}


def _server_rules(options: Options) -> Iterator[Entry]:
    for rule in of_servers.catalogue().values():
        if _matches(rule.id, options.rule):
            yield {"id": rule.id, "requirement": rule.requirement}


def _scenarios(options: Options) -> Iterator[Entry]:
    files, _ = load.find(CASSETTES)
    for path in files:
        if not _matches(load.id_of(path), options.scenario):
            continue
        file = load.read(path)
        if _is_wanted(file.api, options):
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
            if _matches(id, options.scenario) and _is_wanted(api, options):
                yield {"id": id, "api": str(api), "grounds": fault.grounds, "title": fault.title}


def _providers(options: Options) -> Iterator[Entry]:
    for api in table().values():
        if _is_wanted(api, options):
            yield {"id": str(api), "title": api.title}


def _libraries(options: Options) -> Iterator[Entry]:
    rows = {str(api): api for api in table().values()}
    for library in libraries.libraries().values():
        if any(_is_wanted(rows[api], options) for api in library.apis):
            installed = library.installed(Path.cwd())
            yield {
                "id": library.name,
                "release": f"{library.package} {library.release}",
                "installed": installed,
                "apis": ", ".join(library.apis),
            }


def _capabilities(_options: Options) -> Iterator[Entry]:
    for capability in CAPABILITIES:
        rules = [rule.id for rule in catalogue.catalogue().values() if rule.rule.capability == capability]
        yield {"id": capability, "rules": ", ".join(rules)}


_LISTS: Mapping[str, Callable[[Options], Iterator[Entry]]] = {
    "rules": _rules,
    "server-rules": _server_rules,
    "scenarios": _scenarios,
    "core-faults": _core_faults,
    "providers": _providers,
    "capabilities": _capabilities,
    "libraries": _libraries,
}
