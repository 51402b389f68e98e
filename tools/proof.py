"""Generate docs/proof.md: for each rule its scenarios and the broken adapters that fail it.

    pytest conformance --adapter=adapters --conformance-probes=judge --conformance-report=report.json
    python -m tools.proof docs/proof.md --report=report.json

A rule needs a scenario and a broken adapter of its own. A scenario needs a rule that does not apply to every response.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_conformance.rules.catalogue import FAMILIES, catalogue
from llm_conformance.rules.rule import Rule
from tests.broken import BROKEN
from tools import pages
from tools.requirements_page import Seen, passed

COMMAND = "python -m tools.proof docs/proof.md --report=report.json"
SCORES = Path(__file__).parent / "mutation" / "scores.json"
ALWAYS_APPLICABLE = frozenset({"SHP-1", "PRV-2", "PRV-3", "PRV-11", "ERR-4", "STR-2", "STR-3"})
"""Rules that judge every response, whatever is in it."""
_FATES = ("killed", "explained", "survived")

OF_FIELDS_NOT_RETURNED = frozenset({"MSG-4"})
"""Rules about fields that the reference adapters do not return."""

_HEAD = f"""\
# Proof that the suite finds faults

Generated from the broken adapters in `tests/broken`, the scores of `python -m tools.mutation` and a report of the
reference adapters by

    {COMMAND}
"""


def all_rules() -> list[Rule]:
    """Return the rules, family by family."""
    return [entry.rule for entry in catalogue().values()]


def problems(rules: Sequence[Rule], seen: Seen, scenarios: Sequence[str]) -> Iterator[str]:
    """Yield the rules without a scenario or a broken adapter, and the scenarios without a rule."""
    own = {broken.fails[0] for broken in BROKEN}
    for rule in rules:
        if not (rule.id in seen or rule.id in OF_FIELDS_NOT_RETURNED or rule.vary_cuts):
            yield f"{rule.id} passes nowhere in the report"
        if rule.id not in own:
            yield f"{rule.id} has no broken adapter of its own in tests/broken"
    for scenario in scenarios:
        if not any(scenario in seen[rule] for rule in seen if rule not in ALWAYS_APPLICABLE):
            yield f"{scenario} is judged by no rule but those that judge every response"


def page(rules: Sequence[Rule], seen: Seen, scenarios: Sequence[str], scores: Mapping[str, Any]) -> str:
    """Return the whole page."""
    return "\n".join([_HEAD, *_rules(rules, seen), *_faults(), *_scores(scores), *_scenarios(seen, scenarios)])


def _rules(rules: Sequence[Rule], seen: Seen) -> Iterator[str]:
    yield from (
        "## Rules",
        "",
        "The broken adapters are those made for the rule; `N more` fail it beside the rule that they are made for.",
        "",
    )
    yield from ("| rule | scenarios | broken adapters |", "|---|---|---|")
    for rule in rules:
        own = [broken.__name__ for broken in BROKEN if broken.fails[0] == rule.id]
        others = [broken.__name__ for broken in BROKEN if rule.id in broken.fails[1:]]
        beside = f"; {len(others)} more" if others else ""
        count = len(seen.get(rule.id, ())) or "ways to cut the streams"
        yield f"| {rule.id} | {count} | {', '.join(own)}{beside} |"
    yield ""


def _faults() -> Iterator[str]:
    yield from ("## Broken adapters", "", "Each fails exactly these rules.", "", "| fault | fails |", "|---|---|")
    yield from sorted(f"| {broken.__name__} | {', '.join(broken.fails)} |" for broken in BROKEN)
    yield ""


def _scores(scores: Mapping[str, Any]) -> Iterator[str]:
    every = scores["modules"]["all"]
    judged, made = sum(every[fate] for fate in _FATES), every["made"]
    yield from (
        "## Mutants of the reference adapters",
        "",
        f"On {scores['when']}, `{scores['command']}`",
        f"judged a sample of {judged} of {made} mutants," if judged < made else f"judged all {made} mutants,",
        "each of them one small change to one function in `adapters/`; tables outside of functions are not changed.",
        "A mutant is killed if the suite fails, probes included. `tools/mutation/survivors.toml` explains survivors",
        "that behave in the same way, that the contract allows, or that no response reaches. The others are gaps.",
        "",
        "| module | mutants | judged | killed | explained | survived | killed of those not explained |",
        "|---|---|---|---|---|---|---|",
    )
    for module, count in scores["modules"].items():
        killed, explained, survived = (count[fate] for fate in _FATES)
        share = f"{killed / (killed + survived):.1%}" if killed + survived else ""
        judged = killed + explained + survived
        yield f"| {module} | {count['made']} | {judged} | {killed} | {explained} | {survived} | {share} |"
    yield ""


def _scenarios(seen: Seen, scenarios: Sequence[str]) -> Iterator[str]:
    yield from ("## Scenarios", "", "The numbers of the rules that judge it, by family.", "")
    yield from (f"| scenario | {' | '.join(FAMILIES)} |", f"|---|{'---|' * len(FAMILIES)}")
    for scenario in scenarios:
        judged = sorted(rule for rule, where in seen.items() if scenario in where)
        cells = (
            " ".join(rule.partition("-")[2] for rule in judged if rule.startswith(f"{each}-")) for each in FAMILIES
        )
        yield f"| {scenario} | {' | '.join(cells)} |"
    yield ""


def main(arguments: Sequence[str]) -> int:
    """Write or check the page; return 1 if a proof is missing or the check finds another page."""
    parser = argparse.ArgumentParser(description="Generate the page of proofs.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--report", type=Path, required=True, help="a JSON report of the reference adapters")
    parser.add_argument("--check", action="store_true", help="only check that the file is up to date")
    options = parser.parse_args(arguments)
    report = pages.read_report(options.report)
    seen = passed(report)
    scenarios = sorted({each["scenario"] for each in report["results"] if each["provenance"] != "generated"})
    rules = all_rules()
    text = page(rules, seen, scenarios, json.loads(SCORES.read_text("utf-8")))
    found = list(problems(rules, seen, scenarios)) or pages.write_or_check(options.path, text, options.check, COMMAND)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
