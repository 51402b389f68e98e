"""`llm-conformance explain`: explain a family, a scenario, an API, or a rule with an example of a failure."""

from __future__ import annotations

import functools
import json
import textwrap
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from llm_conformance.adapter import unknown_providers
from llm_conformance.cli.command import Options, Parser, UsageError
from llm_conformance.cli.explain import apis
from llm_conformance.locations import CASSETTES
from llm_conformance.rules import catalogue
from llm_conformance.rules.catalogue import CatalogueEntry
from llm_conformance.scenarios import build, core_faults, load
from llm_conformance.server import catalogue as of_servers
from llm_conformance.wire.providers.table import table
from llm_conformance.wording import counted, did_you_mean, did_you_mean_scenario, no_such

_WIDTH = 110
_LIST_RULES = "llm-conformance list rules"
_LIST_SERVER_RULES = "llm-conformance list server-rules"
_FAMILIES = (*catalogue.FAMILIES, *of_servers.FAMILIES)


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = "Explain a rule, with an example of a failure, a family of rules, a scenario or an API."
    parser.add_argument(
        "what",
        metavar="ID",
        help="the id of a rule (ANN-5), of a family (ANN), of a scenario (openai/refusal) or of an API (zai:chat)",
    )


def run(options: Options) -> int:
    """Print the explanation."""
    print("\n".join(_explained(options.what)))
    return 0


def _explained(id: str) -> Iterator[str]:
    """Return the lines about what an id names. Raises UsageError."""
    if "/" in id:
        return _scenario(id)
    if id.upper() in _FAMILIES:
        return _family(id.upper())
    if ":" not in id and not id.isalpha():  # reading the providers takes longer than finding a rule
        return _rule(id.upper())
    known = unknown_providers.names()
    provider, colon, name = id.partition(":")
    if id in known:
        return apis.api(table()[provider, name]) if colon else apis.provider(id)
    hint = did_you_mean(id, known)
    if colon or hint:
        raise UsageError(f"{id}: {unknown_providers.message(hint)}")
    return _family(id.upper())


def _family(name: str) -> Iterator[str]:
    if name in of_servers.FAMILIES:
        yield from _family_of_servers(name)
        return
    rules = [entry.rule for entry in catalogue.catalogue().values() if entry.rule.family == name]
    if not rules:
        raise UsageError(f"{name}: {no_such('family of rules', did_you_mean(name, _FAMILIES), _LIST_RULES)}")
    scenarios = [build.build(load.read(path, check=False), CASSETTES) for path in load.find(CASSETTES)[0]]
    yield f"{name}: {counted(len(rules), 'rule')}"
    for rule in rules:
        judged = sum(any(rule.applies(each.expected[mode], mode) for mode in each.modes) for each in scenarios)
        yield f"\n{rule.id}  ({rule.harm}; {counted(judged, 'scenario')})"
        yield textwrap.indent(textwrap.fill(rule.requirement, _WIDTH - 4), "    ")


def _family_of_servers(name: str) -> Iterator[str]:
    rules = [rule for rule in of_servers.catalogue().values() if rule.family == name]
    yield f"{name}: {counted(len(rules), 'rule')} about servers. {of_servers.FAMILIES[name]}"
    for rule in rules:
        yield f"\n{rule.id}  ({rule.harm})"
        yield textwrap.indent(textwrap.fill(rule.requirement, _WIDTH - 4), "    ")


def _rule_about_servers(id: str) -> Iterator[str]:
    rule = of_servers.catalogue()[id]
    yield f"{rule.id}  ({rule.harm}; about servers, for `llm-conformance server`)"
    for text in (rule.requirement, rule.reason, f"Source: {rule.source}"):
        yield f"\n{textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)}"
    if rule.needs:
        yield f"\nOnly for servers that claim {', '.join(sorted(rule.needs))}."


def _rule(id: str) -> Iterator[str]:
    if id in of_servers.catalogue():
        yield from _rule_about_servers(id)
        return
    rules = catalogue.catalogue()
    if id not in rules:
        known = [*rules, *of_servers.catalogue(), *_FAMILIES]
        is_of_servers = id.partition("-")[0] in of_servers.FAMILIES
        command = _LIST_SERVER_RULES if is_of_servers else _LIST_RULES
        raise UsageError(f"{id}: {no_such('rule', did_you_mean(id, known, 3), command)}")
    entry: CatalogueEntry = rules[id]
    yield f"{entry.id}  ({entry.path}:{entry.line})"
    yield ""
    yield textwrap.fill(entry.rule.requirement, _WIDTH)
    if entry.reason:
        yield f"\n{entry.reason}"
    if entry.rule.capability:
        yield f"\nOnly for adapters that declare `{entry.rule.capability}`; what others return must not be wrong."
    if entry.sources:
        yield f"\nRequirements: {', '.join(entry.sources)} (docs/requirements.toml)"
    example = examples().get(entry.id)
    if example:
        yield f"\nHow an adapter that {example['fault']} fails:\n"
        yield textwrap.indent(example["failure"], "    ")


def _scenario(id: str) -> Iterator[str]:
    path = CASSETTES / f"{id}{load.SUFFIX}"
    scenarios, _ = load.find(CASSETTES)
    core = next((each for each in scenarios if id in core_faults.ids_in(each)), None)
    if core is not None:
        yield from _core_fault(id, core)
        return
    if path not in scenarios:
        ids = [*map(load.id_of, scenarios), *(each for file in scenarios for each in core_faults.ids_in(file))]
        raise UsageError(f"{id}: {no_such('scenario', did_you_mean_scenario(id, ids), core_faults.list_command(id))}")
    file = load.read(path)
    metadata = file.cassette.metadata
    yield f"{id}  ({path})"
    yield f"\n{file.document['title']}"
    if "notes" in file.document:
        yield f"\n{textwrap.fill(file.document['notes'], _WIDTH)}"
    yield f"\n{file.api} ({', '.join(file.modes)}), {metadata['provenance']}"
    if file.cassette.grounds:
        yield f"Grounds: {file.cassette.grounds}, {metadata['source']}"


def _core_fault(id: str, path: Path) -> Iterator[str]:
    fault = core_faults.ids_in(path)[id]
    yield f"{id}  ({path})"
    yield f"\n{fault.title}"
    yield f"\nA core fault: every API is judged by it. The answer that it spoils is that of {load.id_of(path)}."
    yield f"Grounds: {fault.grounds}, {fault.source}"


@functools.cache
def examples() -> Mapping[str, Mapping[str, str]]:
    """Map the id of each rule to an example: the `fault` of an adapter, and the text of its `failure`.

    `python -m tools.example_failures` writes the file.
    """
    text = files("llm_conformance").joinpath("example_failures.json").read_text("utf-8")
    found: Mapping[str, Mapping[str, str]] = json.loads(text)
    return found
