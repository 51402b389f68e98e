"""`python -m tools.server_changes`: change the answers of the reference servers, and list what no rule notices.

The exit code is 1 if no rule notices a change and `survivors.toml` does not explain it.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from llm_conformance.judging.status import Status
from llm_conformance.server import plan
from llm_conformance.server.apis.known import APIS
from llm_conformance.server.judge import judge
from llm_conformance.server.plan import Target
from llm_conformance.server.recordings import Recording
from tests.servers import asking
from tests.servers.messages import MessagesReference
from tests.servers.ollama import OllamaReference
from tests.servers.reference import Reference
from tests.servers.responses import ResponsesReference
from tools.server_changes.changes import EVENT_CHANGES, FIELD_CHANGES, Change, changed, changes

REFERENCES: dict[str, type[Reference]] = {
    each.api: each for each in (Reference, MessagesReference, ResponsesReference, OllamaReference)
}
EXPLAINED = Path(__file__).with_name("survivors.toml")


def main(arguments: Sequence[str]) -> int:
    """Judge the changes. Print the table, and the changes that no rule notices. Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.server_changes", description=__doc__)
    parser.add_argument("--api", action="append", choices=list(REFERENCES), help="only this format; repeatable")
    options = parser.parse_args(arguments)
    made: Counter[tuple[str, str]] = Counter()
    left: list[tuple[str, Change]] = []
    apis = options.api or list(REFERENCES)
    for api in apis:
        target, kept = asking.recordings_of(REFERENCES[api]())
        for change in changes(kept, APIS[api]):
            is_noticed = noticed(target, kept, change)
            if is_noticed is None:
                continue
            made[api, change.kind] += 1
            if not is_noticed:
                left.append((api, change))
    print(*table(apis, made, left), sep="\n")
    unexplained = [(api, change) for api, change in left if explanation(api, change) is None]
    for api, change in left:
        print(f"{api} {change}: {explanation(api, change) or 'NOT EXPLAINED'}")
    return 1 if unexplained else 0


def noticed(target: Target, kept: Sequence[Recording], change: Change) -> bool | None:
    """Return True if a rule fails or cannot judge after a change; None if nothing is changed."""
    after = [changed(each, change, APIS[target.api]) for each in kept]
    if after == list(kept):
        return None
    verdicts = judge(target, plan.selected(target.api, ()), after).verdicts
    return any(each.status in (Status.FAIL, Status.BLOCKED) for each in verdicts)


def table(apis: Sequence[str], made: Counter[tuple[str, str]], left: Sequence[tuple[str, Change]]) -> Iterator[str]:
    """Yield a table: the changes that were noticed, and all changes, by kind and format."""
    yield f"| change | {' | '.join(apis)} |"
    yield f"|---|{'---|' * len(apis)}"
    survived = Counter((api, change.kind) for api, change in left)
    for kind in (*FIELD_CHANGES, *EVENT_CHANGES):
        cells = [f"{made[api, kind] - survived[api, kind]} of {made[api, kind]}" for api in apis]
        yield f"| {kind} | {' | '.join(cells)} |"


def explanation(api: str, change: Change) -> str | None:
    """Return the reason that `survivors.toml` gives for a change that no rule notices; None if it gives none."""
    entries = tomllib.loads(EXPLAINED.read_text("utf-8"))["survivor"]
    name = f"{api} {change}"
    return next((each["why"] for each in entries if any(fnmatchcase(name, glob) for glob in each["changes"])), None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
