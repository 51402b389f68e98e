"""`python -m tools.mutation`: judge mutants of the reference adapters and list those that survive.

The exit code is 1 if a mutant survives that `survivors.toml` does not explain. `--at-least=PERCENT` allows such mutants
as long as this share of the mutants without an explanation is killed.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import shlex
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from llm_conformance.locations import ROOT, RULES
from tools.mutation.judging import Fate, Judge
from tools.mutation.mutant import Mutant, sample
from tools.mutation.mutants import write

EXPLAINED = Path(__file__).with_name("survivors.toml")
SUITE = ("--conformance-probes=judge", "--conformance-isolation=none")
"""Options of the suite. A failing probe counts, because the reference adapters pass all probes. The adapters run in
this process, because a mutant is switched on in it."""
GOOD: tuple[Fate, ...] = ("killed", "timeout")


def main(arguments: Sequence[str]) -> int:
    """Judge the mutants, print the survivors and a table by module, write the reports; return the exit code."""
    options = _options(arguments)
    report = json.loads(options.again.read_text("utf-8")) if options.again else {}
    before: dict[str, Fate] = {name: about["fate"] for name, about in report.items()}
    with tempfile.TemporaryDirectory() as directory:
        package = Path(directory) / "mutated"
        every = [each for each in write(ROOT / "adapters", package) if _is_wanted(each, options)]
        mutants = sample(every, options.one_in, options.seed)
        wanted = [each for each in mutants if before.get(each.name) not in GOOD and not (before and explanation(each))]
        if not mutants:
            sys.exit("tools.mutation: no mutant matches these options")
        sys.path.insert(0, directory)
        judge = Judge(wanted, options.jobs, _Progress(len(wanted), report, options.report))
        judge.load(package.name)
        judged = [f"--adapter={package.name}", *SUITE, f"--conformance-examples={options.examples}"]
        plugins = ("-p", "no:cacheprovider")
        code = pytest.main([str(RULES), *judged, "-q", *plugins, "--no-summary", "--assert=plain"], [judge])
    if len(judge.fates) < len(wanted):
        return int(code) or 3
    if judge.fates and set(judge.fates.values()) == {"not reached"}:
        sys.exit("tools.mutation: no test reached any mutant, so nothing was judged")
    fates = before | judge.fates
    by_module = scores(mutants, fates)
    if options.scores:
        command = shlex.join(["python", "-m", "tools.mutation", *_which(options)])
        made = {**Counter(each.module for each in every), "all": len(every)}
        modules = {module: {"made": made[module], **count} for module, count in by_module.items()}
        document = {"when": f"{datetime.now(UTC):%Y-%m-%d}", "command": command, "modules": modules}
        options.scores.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    return _show(mutants, fates, by_module, options.at_least)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tools.mutation", description=__doc__.partition("\n")[0])
    parser.add_argument("--one-in", type=int, default=1, metavar="N", help="judge one in N mutants of each module")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="another seed gives another sample")
    parser.add_argument("--module", action="append", metavar="GLOB", help="judge those of a module: gemini, _chat, ...")
    parser.add_argument("--mutant", action="append", metavar="GLOB", help="judge those with this name")
    parser.add_argument("--again", type=Path, metavar="FILE", help="judge only the survivors of this report")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="parallel processes")
    parser.add_argument("--examples", type=int, default=3, metavar="N", help="the suite's --conformance-examples")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write fates and failing tests (JSON)")
    parser.add_argument("--scores", type=Path, metavar="FILE", help="write the numbers of mutants by module (JSON)")
    parser.add_argument("--at-least", type=float, default=100.0, metavar="PERCENT", help="the share to be killed")
    return parser.parse_args(arguments)


def _is_wanted(mutant: Mutant, options: argparse.Namespace) -> bool:
    named = not options.module or any(fnmatchcase(mutant.module, glob) for glob in options.module)
    chosen = not options.mutant or any(fnmatchcase(mutant.name, glob) for glob in options.mutant)
    return named and chosen


def _which(options: argparse.Namespace) -> list[str]:
    """Return the options that decide which mutants are judged, and which inputs judge them."""
    globs = [f"--{name}={glob}" for name in ("module", "mutant") for glob in getattr(options, name) or ()]
    return [*globs, f"--one-in={options.one_in}", f"--seed={options.seed}", f"--examples={options.examples}"]


class _Progress:
    """Writes a progress line to standard error, and the report. If a run is stopped, `--again` can read its report."""

    def __init__(self, total: int, report: dict[str, dict[str, str]], path: Path | None) -> None:
        self._total = total
        self._report = report
        self._path = path
        self._fates: Counter[Fate] = Counter()

    def __call__(self, mutant: Mutant, fate: Fate, by: str) -> None:
        self._fates[fate] += 1
        self._report[mutant.name] = {"fate": fate, "by": by}
        if self._path:
            self._path.write_text(json.dumps(self._report, indent=1), "utf-8")
        done = sum(self._fates.values())
        if sys.stderr.isatty() or done % 200 == 0 or done == self._total:
            counts = ", ".join(f"{number} {fate}" for fate, number in self._fates.items())
            end = "\r" if sys.stderr.isatty() and done < self._total else "\n"
            print(f"{done} of {self._total} mutants: {counts}", end=end, file=sys.stderr, flush=True)


@functools.cache
def _explained() -> list[dict[str, str]]:
    found: list[dict[str, str]] = tomllib.loads(EXPLAINED.read_text("utf-8"))["survivor"]
    return found


def explanation(mutant: Mutant) -> str | None:
    """Return the reason that `survivors.toml` gives for a surviving mutant; None if it gives no reason."""
    name, removed, added = f"{mutant.module}.{mutant.function}", "\n".join(mutant.removed), "\n".join(mutant.added)
    for each in _explained():
        if (
            fnmatchcase(name, each["function"])
            and each.get("removed", removed) in removed
            and each.get("added", added) in added
        ):
            return each["why"]
    return None


def scores(mutants: Sequence[Mutant], fates: Mapping[str, Fate]) -> dict[str, dict[str, int]]:
    """Return the numbers of `killed`, `survived` and `explained` mutants, for each module and for `all`."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for mutant in mutants:
        killed = fates.get(mutant.name) in GOOD
        counts[mutant.module]["killed" if killed else "explained" if explanation(mutant) else "survived"] += 1
    ordered = {module: counts[module] for module in sorted(counts)} | {"all": sum(counts.values(), Counter())}
    return {
        module: {name: count[name] for name in ("killed", "survived", "explained")} for module, count in ordered.items()
    }


def _show(
    mutants: Sequence[Mutant], fates: Mapping[str, Fate], by_module: Mapping[str, Mapping[str, int]], at_least: float
) -> int:
    open_ones = [each for each in mutants if fates.get(each.name) not in GOOD and explanation(each) is None]
    for each in open_ones:
        print(f"{each.name}, {fates.get(each.name, 'not judged')}: {each}")
    print(f"\n{'':16}{'mutants':>8}{'killed':>8}{'survived':>9}{'explained':>10}   killed of those not explained")
    for module, count in by_module.items():
        judged = count["killed"] + count["survived"]
        share = f"{count['killed'] / judged:.1%}" if judged else "-"
        columns = f"{sum(count.values()):8}{count['killed']:8}{count['survived']:9}{count['explained']:10}"
        print(f"{module:16}{columns}   {share}")
    judged = by_module["all"]["killed"] + by_module["all"]["survived"]
    return 1 if 100 * by_module["all"]["killed"] < at_least * judged else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
