"""The page *Proof*: the broken adapters that fail each rule, and the number of mutants that the suite kills."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from llm_conformance.rules.catalogue import catalogue
from llm_conformance.rules.rule import Rule
from tests.broken import BROKEN
from tests.broken.base import Broken
from tools.site.run import Run

SCORES = Path(__file__).resolve().parents[1] / "mutation" / "scores.json"
ALWAYS_APPLICABLE = frozenset({"SHP-1", "PRV-2", "PRV-3", "PRV-11", "ERR-4", "STR-2", "STR-3"})
"""Rules that judge every response, whatever the response has."""
_FATES = ("killed", "explained", "survived")

OF_FIELDS_NOT_RETURNED = frozenset({"MSG-4"})
"""Rules about fields that the reference adapters do not return."""

_HEAD = """\
# Proof that the suite finds faults

A suite that never fails proves nothing. So each rule has *broken adapters*: reference adapters with one fault each, in
[tests/broken](repo:tests/broken). A test checks that each fails exactly the rules listed here and no other.
"""


def all_rules() -> list[Rule]:
    """Return the rules, family by family."""
    return [entry.rule for entry in catalogue().values()]


def problems(run: Run) -> Iterator[str]:
    """Yield the rules without a scenario or a broken adapter, and the scenarios without a rule."""
    own = {broken.fails[0] for broken in BROKEN}
    for rule in all_rules():
        if not (rule.id in run.seen or rule.id in OF_FIELDS_NOT_RETURNED or rule.vary_cuts):
            yield f"{rule.id} passes nowhere in the report"
        if rule.id not in own:
            yield f"{rule.id} has no broken adapter of its own in tests/broken"
    telling = frozenset().union(*(run.seen[rule] for rule in run.seen if rule not in ALWAYS_APPLICABLE))
    for scenario in run.scenarios:
        if scenario not in telling:
            yield f"{scenario} is judged by no rule but those that judge every response"


def read_scores() -> Mapping[str, Any]:
    """Read how many mutants the suite kills. `python -m tools.mutation` has written the file."""
    scores: Mapping[str, Any] = json.loads(SCORES.read_text("utf-8"))
    return scores


def page(scores: Mapping[str, Any]) -> str:
    """Return the whole page."""
    return "\n".join([_HEAD, *_faults(), *_scores(scores)])


def fault_of(broken: type[Broken]) -> str:
    """Return the fault of a broken adapter: the first sentence of its docstring, which continues "an adapter that"."""
    sentence = inspect.cleandoc(broken.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
    return sentence[:1].lower() + sentence[1:]


def file_of(broken: type[Broken]) -> str:
    """Return the file of a broken adapter in the repository."""
    return f"{broken.__module__.replace('.', '/')}.py"


def _faults() -> Iterator[str]:
    yield from ("## Broken adapters", "", "| an adapter that | fails |", "|---|---|")
    for broken in BROKEN:
        rules = ", ".join(f"[{rule}](rules/{rule}.md)" for rule in broken.fails)
        yield f"| [{broken.__name__}](repo:{file_of(broken)}) {fault_of(broken)} | {rules} |"
    yield ""


def _scores(scores: Mapping[str, Any]) -> Iterator[str]:
    every = scores["modules"]["all"]
    judged, made = sum(every[fate] for fate in _FATES), every["made"]
    yield from (
        "## Mutants of the reference adapters",
        "",
        f"A mutant is a reference adapter with one small change to one function. On {scores['when']},",
        f"`{scores['command']}`",
        f"judged a sample of {judged} of {made} mutants." if judged < made else f"judged all {made} mutants.",
        "The suite kills a mutant if a rule fails, in probes too. [survivors.toml](repo:tools/mutation/survivors.toml)",
        "explains survivors that behave in the same way, that the contract allows, or that no response reaches. The",
        "others are gaps.",
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
