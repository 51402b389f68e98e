"""`python -m tools.promote`: find the public recordings that show what scenarios claim.

    python -m tools.promote [--provider P ...] [--near N]    list what is shown, and by what
    python -m tools.promote --write                          write it into the cassettes (`metadata.shown_by`)
    python -m tools.promote --check                          exit with 1 if a reference does not hold

Fetch the corpus first (`llm-conformance corpus fetch`). A recording shows a scenario in one mode if it is of the same
API and mode, and has the point of the scenario (tools/promote/point.py) in the same order. `--near N` also lists the
scenarios whose closest recording lacks at most N claims, and these claims. Reading all recordings takes a minute and a
half.

`--check` reads only the recordings that scenarios name. It checks that the interaction is there, and still shows the
scenario.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from llm_conformance.corpus.recordings import NotFetchedError
from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios.checks.references import Reference
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wording import counted
from tools.promote import cassettes, evidence, matching
from tools.promote.evidence import Claimed
from tools.promote.matching import Match


def main(arguments: Sequence[str]) -> int:
    """Do what was asked for; return the exit code."""
    parser = argparse.ArgumentParser("python -m tools.promote", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--provider", action="append", metavar="P[:API]", help="only this provider or API; repeatable")
    parser.add_argument("--near", type=int, default=0, metavar="N", help="list what lacks at most N claims, too")
    does = parser.add_mutually_exclusive_group()
    does.add_argument("--write", action="store_true", help="write the references into the cassettes")
    does.add_argument("--check", action="store_true", help="check the references that the cassettes have")
    parser.add_argument("--cassettes", type=Path, default=CASSETTES, help="another directory with scenarios")
    options = parser.parse_args(arguments)
    left_out: Counter[str] = Counter()
    scenarios = evidence.scenarios(options.cassettes, left_out)
    if options.provider:
        chosen = set(options.provider)
        scenarios = [each for each in scenarios if chosen & {each.api.provider, str(each.api)}]
    try:
        return _check(scenarios) if options.check else _find(scenarios, left_out, options.near, options.write)
    except NotFetchedError as error:
        print(f"not fetched: {error}; `llm-conformance corpus fetch` downloads what is missing", file=sys.stderr)
        return 2


def _find(scenarios: Sequence[Claimed], left_out: Mapping[str, int], near: int, write: bool) -> int:
    named = [each.reference for each in scenarios if each.reference is not None]
    matches = matching.best(scenarios, evidence.recordings(_wanted(scenarios), named))
    shown = matching.shown(matches)
    for match in matches:
        _show(match, shown, near)
    print(*_summary(matches, left_out), sep="\n")
    if write:
        found = _references(matches)
        for id in sorted({each.id for each in scenarios if each.reference and not found[each.cassette]}):
            print(f"{id}: shown by no recording any more; look at its grounds")
        changed = sum(cassettes.write(path, references) for path, references in found.items())
        print(f"{counted(changed, 'cassette')} changed")
    return 0


def _check(scenarios: Sequence[Claimed]) -> int:
    """Compare the references with the recordings that they name. Only the files of these recordings are read."""
    named = [each for each in scenarios if each.reference is not None]
    references = [each.reference for each in named if each.reference is not None]
    matches = matching.best(named, evidence.in_files_of(references))
    wrong = 0
    for match in matches:
        if match.kept == ():
            continue
        wrong += 1
        why = "there is no such recording of this API and mode" if match.kept is None else "it does not show:"
        print(f"{match.claimed.id} {match.claimed.mode}: {match.claimed.reference}: {why}")
        print(*(f"    {each}" for each in match.kept or ()), sep="\n", end="\n" if match.kept else "")
    print(f"{counted(len(matches) - wrong, 'reference')} right, {wrong} wrong")
    return 1 if wrong else 0


def _wanted(scenarios: Iterable[Claimed]) -> Callable[[Api], bool]:
    names = {str(each.api) for each in scenarios}
    return lambda api: str(api) in names


def _show(match: Match, shown: Mapping[str, Sequence[Match]], near: int) -> None:
    if match in shown.get(match.claimed.id, ()):
        print(f"{match.claimed.id} {match.claimed.mode}: {match.reference}")
    elif match.is_shown:
        if near:
            print(f"{match.claimed.id} {match.claimed.mode}: not the mode that it is about: {match.reference}")
    elif match.reference is not None and len(match.missing) <= near:
        print(f"{match.claimed.id} {match.claimed.mode}: nearly: {match.reference}, which lacks")
        print(*(f"    {each}" for each in match.missing), sep="\n")


def _references(matches: Iterable[Match]) -> Mapping[Path, Mapping[Mode, Reference]]:
    found: dict[Path, dict[Mode, Reference]] = {match.claimed.cassette: {} for match in matches}
    for match in (each for of_scenario in matching.shown(matches).values() for each in of_scenario):
        if match.reference is not None:
            found[match.claimed.cassette][match.claimed.mode] = match.reference
    return found


def _summary(matches: Sequence[Match], left_out: Mapping[str, int]) -> Iterable[str]:
    modes = Counter(match.claimed.id for match in matches)
    shown = matching.shown(matches)
    whole = sum(len(each) == modes[id] for id, each in shown.items())
    yield f"{len(shown)} of {counted(len(modes), 'scenario')} shown, {whole} of them in each of their modes"
    apis = Counter(str(each[0].claimed.api) for each in shown.values())
    yield from (f"    {name}: {number}" for name, number in sorted(apis.items()))
    yield f"{sum(match.reference is None for match in matches)} scenarios and modes of which there is no recording"
    yield from (f"{counted(number, 'scenario')} left out: {why}" for why, number in left_out.items())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
