"""`llm-conformance explain`: a rule with its reason and an example of a failure, or a scenario."""

from __future__ import annotations

import functools
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files

from llm_conformance.cli.command import Commands, Options, UsageError
from llm_conformance.locations import CASSETTES
from llm_conformance.rules import catalogue
from llm_conformance.rules.catalogue import CatalogueEntry
from llm_conformance.scenarios import load

_WIDTH = 110


def add_to(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "explain",
        help="what a rule demands and why, with an example of a failure; or what a scenario is about",
        description="Explain a rule (ANN-5) or a scenario (openai/refusal).",
    )
    parser.add_argument("what", metavar="ID")
    parser.set_defaults(command=run, passes_on=False)


def run(options: Options, _rest: Sequence[str]) -> int:
    """Print what is known of a rule or a scenario."""
    what: str = options.what
    if "/" in what:
        lines = _scenario(what)
    else:
        known = catalogue.catalogue()
        if what.upper() not in known:
            near = get_close_matches(what.upper(), known, n=3, cutoff=0)
            raise UsageError(f"{what}: no such rule; did you mean {' or '.join(near)}? `llm-conformance list` has all")
        lines = _rule(known[what.upper()])
    print("\n".join(lines))
    return 0


def _rule(rule: CatalogueEntry) -> Iterator[str]:
    yield f"{rule.id}  ({rule.path}:{rule.line})"
    yield ""
    yield textwrap.fill(rule.rule.requirement, _WIDTH)
    if rule.reason:
        yield f"\n{rule.reason}"
    if rule.rule.capability:
        yield f"\nFor adapters that declare `{rule.rule.capability}`; others must give back nothing wrong."
    if rule.sources:
        yield f"\nAsked for by {', '.join(rule.sources)} (docs/requirements.md)"
    example = examples().get(rule.id)
    if example:
        yield f"\nA failure, of an adapter in which {example['fault']}:\n"
        yield textwrap.indent(example["failure"], "    ")


def _scenario(id: str) -> Iterator[str]:
    path = CASSETTES / f"{id}{load.SUFFIX}"
    known, _ = load.find(CASSETTES)
    if path not in known:
        near = get_close_matches(id, map(load.id_of, known), n=3, cutoff=0.4)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"{id}: no such scenario{hint} `llm-conformance list scenarios` has all")
    file = load.read(path)
    metadata = file.cassette.metadata
    yield f"{id}  ({path})"
    yield f"\n{file.document['title']}"
    if "notes" in file.document:
        yield f"\n{textwrap.fill(file.document['notes'], _WIDTH)}"
    yield f"\n{file.api} ({', '.join(file.modes)}), {metadata['provenance']}: {metadata.get('source', '')}"


@functools.cache
def examples() -> Mapping[str, Mapping[str, str]]:
    """Return by rule an adapter's fault, and how it fails; made by `python -m tools.example_failures`."""
    text = files("llm_conformance").joinpath("example_failures.json").read_text("utf-8")
    found: Mapping[str, Mapping[str, str]] = json.loads(text)
    return found
