"""`python -m peers`: judge published libraries, each in its own environment, and write docs/field.json.

    python -m peers [NAME ...] [--work DIR] [--jobs N] [--again] [--write] [--page FILE.html]

Judges each library twice, by the suite's scenarios (`NAME.written.json`) and by the public corpus (`NAME.real.json`).
Then runs the programs that reproduce its findings. Results of an earlier run in DIR are used again, unless the shim,
its requirements or the suite have changed, or `--again` is given. The known deviations are applied to the reports
afterwards, so a change of deviations needs no new run. At the end, prints what has changed since docs/field.json was
written. Without names, writes that file anew. With names, writes it only with `--write`, and then keeps what the file
says about all other libraries. The documentation makes its pages from this file.

Exits with 1 if a library cannot be installed, a failure is new, a known deviation is stale, or a reproduction does not
show its fault. Exits with 5 if there is no such problem, but something could not be judged here.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from llm_conformance.adapter.libraries import Library, libraries, unknown
from llm_conformance.corpus import manifest, places
from llm_conformance.reports import files
from llm_conformance.wording import counted
from peers import changes, judge, steps
from peers.environments import ROOT, NotInstalledError, uv
from peers.outcome import Outcome

NOT_JUDGED = 5


def no_traffic() -> str:
    """Fetch the public corpus unless it is here. Return why it is missing; "" if it is here."""
    missing = [package.name for package in manifest.packages() if not places.is_fetched(package)]
    if not missing:
        return ""
    print(f"fetching {counted(len(missing), 'package')} of recordings", flush=True)
    done = subprocess.run([sys.executable, "-m", "llm_conformance", "corpus", "fetch"], cwd=ROOT, check=False)
    return (
        f"NOT JUDGED, because recordings could not be fetched (exit code {done.returncode})" if done.returncode else ""
    )


def judge_all(chosen: Sequence[Library], judging: judge.Judge, jobs: int, progress: steps.Progress) -> list[Outcome]:
    """Judge libraries, `jobs` of them at a time. Return them in order."""

    def finish(outcome: Outcome) -> None:
        troubles = len(list(outcome.troubles()))
        told = counted(troubles, "problem") if troubles else "as known" if outcome.reports else "not judged here"
        progress.finish(outcome.name, f"done, {told}")

    return steps.in_parallel(judging.judge, chosen, jobs, judging.stop, finish)


def main(arguments: Sequence[str]) -> int:
    """Judge the libraries, write what is known, and print what went wrong and what has changed.

    Return the exit code.
    """
    known = libraries()
    parser = argparse.ArgumentParser("python -m peers", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"the libraries; default: all of {', '.join(known)}")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep environments, reports and logs here")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="libraries at a time")
    parser.add_argument("--again", action="store_true", help="judge again what has been judged and has not changed")
    parser.add_argument("--write", action="store_true", help="write docs/field.json also if only NAMEs are judged")
    parser.add_argument("--page", type=Path, metavar="FILE.html", help="write an HTML report on the written scenarios")
    options = parser.parse_args(arguments)
    if wrong := [name for name in options.names if name not in known]:
        parser.error("; ".join(map(unknown, wrong)))
    try:
        uv()  # no library can be installed without uv
    except NotInstalledError as error:
        parser.error(str(error))
    work: Path = (options.work or Path(tempfile.mkdtemp(prefix="peers-"))).resolve()
    work.mkdir(parents=True, exist_ok=True)
    chosen = [known[name] for name in options.names or known]
    if options.again:
        judge.forget(work, (library.name for library in chosen))
    progress = steps.Progress(len(chosen))
    judging = judge.Judge(work, judge.suite_digest(), no_traffic(), progress.say)
    outcomes = judge_all(chosen, judging, options.jobs, progress)
    if options.page and (written := [each.reports["written"] for each in outcomes if "written" in each.reports]):
        files.write(options.page, *written)
    known_before = changes.read()
    chosen_before = {name: facts for name, facts in known_before.items() if name in options.names}
    before = chosen_before if options.names else known_before
    after = changes.facts(outcomes, before)
    print("\n".join(_ending(outcomes, before, after)))
    if not options.names:
        changes.write(after)
    elif options.write:
        changes.write(dict(sorted({**known_before, **after}.items())))
    if any(True for each in outcomes for _ in each.troubles()):
        return 1
    return NOT_JUDGED if any(each.not_judged for each in outcomes) else 0


def _ending(outcomes: Sequence[Outcome], before: changes.Facts, after: changes.Facts) -> Sequence[str]:
    lines = ["", "## What has changed", ""]
    lines += list(changes.changes(before, after)) or ["Nothing has changed."]
    for title, found in (
        ("To be looked at", [(each, list(each.troubles())) for each in outcomes]),
        ("Not judged", [(each, list(each.not_judged)) for each in outcomes]),
    ):
        if any(told for _, told in found):
            lines += ["", f"## {title}", ""]
            lines += [f"* **{each.name}** {line} ({each.log})" for each, told in found for line in told]
    return lines


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("stopped; the same command with the same --work goes on from here")
