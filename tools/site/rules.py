"""The pages of the rules: an overview by family, and a page for each rule, made from the rule itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import yaml

from llm_conformance.cli.explain import examples
from llm_conformance.locations import CASSETTES
from llm_conformance.rules.catalogue import FAMILY_QUESTIONS, CatalogueEntry, catalogue
from llm_conformance.rules.rule import HARM_MEANINGS
from llm_conformance.scenarios import load
from llm_conformance.wording import counted
from peers import page as field_page
from peers import places
from peers.changes import Facts
from tests.broken import BROKEN
from tools.site.proof import fault_of, file_of
from tools.site.run import Run

_HEAD = """\
# Rules

Each rule is one function in [conformance/](repo:conformance), with an id that stays the same. `llm-conformance explain
ANN-4` prints one, `llm-conformance explain ANN` a family.
"""
_SHOWN = 12
"""A page shows this many scenarios at most in one sentence. If there are more, it folds them, by provider."""

_WHERE = re.compile(r"^Where +(?P<scenario>[^,\s]+), (?P<mode>json|stream)\b", re.MULTILINE)
_OF_A_MODE = ("json", "stream")


def pages(run: Run, field: Facts) -> dict[str, str]:
    """Return the text of each page by its name: `index`, and the id of each rule."""
    found = {id: "\n".join(_rule(entry, run, field)) for id, entry in catalogue().items()}
    return {"index": "\n".join(_index(field)), **found}


def _index(field: Facts) -> Iterator[str]:
    yield _HEAD
    for family, question in FAMILY_QUESTIONS.items():
        yield from (f"## {family}: {question}", "", "| rule | requires | harm | libraries |", "|---|---|---|---:|")
        for id, entry in catalogue().items():
            if entry.rule.family == family:
                breaking = len({name for name, _ in field_page.faults_of_rule(field, id)})
                cells = (f"[{id}]({id}.md)", _escaped(entry.rule.requirement), entry.rule.harm, str(breaking or ""))
                yield f"| {' | '.join(cells)} |"
        yield ""
    yield from ("The last column counts the libraries of [the field](../field/index.md) that break the rule.", "")
    yield from ("```{toctree}", ":hidden:", "", *catalogue(), "```", "")


def _rule(entry: CatalogueEntry, run: Run, field: Facts) -> Iterator[str]:
    rule = entry.rule
    yield from (f"# {entry.id}", "", f"**{_escaped(rule.requirement)}**", "")
    if entry.reason:
        yield from (_escaped(entry.reason), "")
    yield f"* Harm: *{rule.harm}*. {HARM_MEANINGS[rule.harm]}."
    if rule.capability:
        yield f"* Only for adapters that declare `{rule.capability}`. What others return must not be wrong."
    yield f"* New in edition {rule.since}."
    if entry.sources:
        yield f"* Requirements: {', '.join(entry.sources)} ([what tests them](../requirements.md))."
    yield f"* Code: [conformance/{entry.path.name}](repo:conformance/{entry.path.name}), line {entry.line}."
    yield ""
    yield from _example(entry.id)
    yield from _scenarios(entry, sorted(run.seen.get(entry.id, ())))
    yield from _broken(entry.id)
    yield from _libraries(entry.id, field)


def _example(id: str) -> Iterator[str]:
    example = examples().get(id)
    if example is None:
        return
    yield from ("## An example that fails", "", f"An adapter fails if it {_escaped(example['fault'])}:", "")
    yield from ("```text", example["failure"], "```", "")
    where = _WHERE.search(example["failure"])
    path = CASSETTES / f"{where['scenario']}{load.SUFFIX}" if where else None
    if where is None or path is None or not path.is_file():
        return
    document = load.read(path).document
    expected = {key: value for key, value in document["expected"].items() if key not in _OF_A_MODE}
    right = {**expected, **document["expected"].get(where["mode"], {})}
    kind = "streamed" if where["mode"] == "stream" else "plain"
    yield from ("## An example that passes", "")
    yield f"In the same conversation, {places.scenario(where['scenario'])} ({kind}), an adapter passes with this:"
    yield from ("", "```yaml", _yaml(right), "```", "")


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=100).rstrip()


def _scenarios(entry: CatalogueEntry, scenarios: Sequence[str]) -> Iterator[str]:
    yield from ("## Scenarios", "")
    if not scenarios and entry.rule.vary_cuts:
        yield from ("Streams of all scenarios, cut in many ways.", "")
    elif not scenarios:
        yield from ("The reference adapters do not return what this rule is about.", "")
    elif len(scenarios) <= _SHOWN:
        few = ", ".join(map(places.scenario, scenarios))
        yield from (f"It judges {counted(len(scenarios), 'scenario')}: {few}. It also judges generated inputs.", "")
    else:
        providers = groupby(sorted(scenarios), key=lambda each: each.partition("/")[0])
        by_provider = {provider: [*map(places.scenario, found)] for provider, found in providers}
        of = f"{counted(len(scenarios), 'scenario')} of {counted(len(by_provider), 'provider')}"
        yield from (f"It judges {of}. It also judges generated inputs.", "")
        for provider, links in by_provider.items():
            yield from ("<details>", f"<summary>{provider}: {counted(len(links), 'scenario')}</summary>", "")
            yield from (", ".join(links), "", "</details>", "")


def _broken(id: str) -> Iterator[str]:
    yield from (
        "## Broken adapters",
        "",
        "These break the rule on purpose, to prove that it bites. An adapter that",
        "",
    )
    for broken in (each for each in BROKEN if each.fails[0] == id):
        fault = _escaped(fault_of(broken).rstrip("."))
        yield f"* {fault} ([{broken.__name__}](repo:{file_of(broken)}))"
    if others := [each for each in BROKEN if id in each.fails[1:]]:
        yield from ("", f"{counted(len(others), 'other')} fail it beside the rule that they are made for.")
    yield ""


def _libraries(id: str, field: Facts) -> Iterator[str]:
    yield from ("## Libraries that break it", "")
    found = list(field_page.faults_of_rule(field, id))
    for name, fault in found:
        yield f"* [{name} {field[name]['version']}](../field/{name}.md): {field_page.sentence(fault['what'])}"
    if not found:
        yield "No fault of a library of [the field](../field/index.md) breaks it."
    yield ""


def _escaped(text: str) -> str:
    """Return a text in which `<` and similar characters are escaped outside of code, so that they are not HTML."""
    parts: Mapping[int, str] = dict(enumerate(text.split("`")))
    return "`".join(part if at % 2 else re.sub(r"([<|])", r"\\\1", part) for at, part in parts.items())
