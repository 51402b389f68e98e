"""`python -m tools.sdk_types`: compare the scenarios and drafts with the types of the providers' own SDKs.

    python -m tools.sdk_types [--provider P ...] [--work DIR] [--latest] [--probes] [--all]
                              [--recordings DIR | --generated N | --drafts]

Prints the differences that `explained.toml` does not explain, and a table of all APIs. The exit code is 1 if there is
such a difference, if an explanation matches nothing, or if an SDK cannot be used. Differences in probes do not count,
and only `--probes` lists them.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from llm_conformance.locations import CASSETTES
from llm_conformance.wire.providers import table
from llm_conformance.yaml_files import BadFileError
from peers.environments import Environment, NotInstalledError
from tools import documents
from tools.documents import Document
from tools.sdk_types import settings
from tools.sdk_types.comparison import Explained, Group, ProbeError, compare, environment, groups, lines, versions
from tools.sdk_types.settings import EXPLAINED, SDKS, Sdk

WORK = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "llm-conformance" / "sdk-types"


@dataclass
class Counts:
    """The counts for one API."""

    sdk: str = ""
    documents: int = 0
    without_type: int = 0
    found: Counter[str] = field(default_factory=Counter)


def main(arguments: Sequence[str]) -> int:
    """Compare, print the differences and the table; return the exit code."""
    options = _options(arguments)
    try:
        sdks, explained = settings.sdks(SDKS), Explained(settings.explanations(EXPLAINED))
        wanted = _documents(options)
    except BadFileError as bad:
        print(*bad.problems, sep="\n", file=sys.stderr)
        return 1
    if not wanted:
        sys.exit("there is nothing to compare; `llm-conformance list providers` shows the providers")
    counts = {api: Counts() for api in sorted({each.api for each in wanted})}
    problems = []
    for sdk in sdks.values():
        if not any(set(each.apis) & set(counts) for each in sdk.holds):
            continue
        print(f"{sdk.name} ...", end=" ", file=sys.stderr, flush=True)
        try:
            found = _compared(sdk, environment(sdk, options.work.resolve(), options.latest), wanted, counts)
        except (NotInstalledError, ProbeError) as error:
            problems.append(f"{sdk.name}: {error}")
            print("failed", file=sys.stderr)
            continue
        print(f"{len(found)} differences", file=sys.stderr)
        left = [group for group in found if _is_listed(group, explained, counts, options.probes)]
        for line in lines(left, sys.maxsize if options.all else 5):
            print(line)
    if not problems and not (options.recordings or options.generated or options.drafts):
        problems += [
            f"{EXPLAINED.name}: matches nothing: {each}"
            for each in explained.unused(counts, whole=not options.provider)
        ]
    _show(counts)
    for problem in problems:
        print(problem)
    return 1 if problems or any(each.found["unexplained"] for each in counts.values()) else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tools.sdk_types", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--provider", action="append", metavar="P[:API]", help="compare only this provider; may be repeated"
    )
    parser.add_argument("--work", type=Path, default=WORK, metavar="DIR", help=f"keep environments here, not in {WORK}")
    parser.add_argument("--latest", action="store_true", help="compare with the newest release of each SDK")
    parser.add_argument(
        "--probes", action="store_true", help="list the differences of scenarios of grounds `probe`, too"
    )
    parser.add_argument("--all", action="store_true", help="list every place of a difference, not only some")
    parser.add_argument(
        "--recordings", type=Path, metavar="DIR", help="compare these bare recordings, not the scenarios"
    )
    parser.add_argument(
        "--generated",
        type=int,
        metavar="N",
        help="compare N drawn calls and answers of each API and mode, not the scenarios",
    )
    parser.add_argument("--drafts", action="store_true", help="compare the requests of the drafts alone")
    return parser.parse_args(arguments)


def _documents(options: argparse.Namespace) -> list[Document]:
    if options.recordings:
        found = documents.of_recordings(options.recordings, Counter())
    elif options.generated:
        return _drawn(options.provider, options.generated)
    elif options.drafts:
        found = documents.of_drafts()
    else:
        found = itertools.chain(documents.of_scenarios(CASSETTES), documents.of_drafts())
    return [each for each in found if not options.provider or {each.provider, each.api} & set(options.provider)]


def _drawn(wanted: Sequence[str] | None, number: int) -> list[Document]:
    """Return the documents of drawn calls and answers. All answers of an API and mode count as one scenario."""
    apis = [str(api) for api in table.table().values() if not wanted or {api.provider, str(api)} & set(wanted)]
    found = documents.of_generated(apis, number)
    return [replace(each, scenario=each.scenario.partition("#")[0]) for each in found]


def _compared(sdk: Sdk, place: Environment, wanted: Iterable[Document], counts: dict[str, Counts]) -> list[Group]:
    pairs = []
    name = versions(place, sdk)
    for document in wanted:
        for holding in sdk.holds:
            if document.api in holding.apis:
                types = holding.types(document.kind)
                count = counts[document.api]
                count.sdk = name
                count.documents += 1
                count.without_type += not types
                pairs += [(document, types)] if types else []
    return groups([document for document, _ in pairs], compare(place, pairs))


def _is_listed(group: Group, explained: Explained, counts: dict[str, Counts], probes: bool) -> bool:
    """Count a difference. Return True if the command has to list it."""
    kind = "explained" if explained.explains(group) else "in probes" if group.is_probe else "unexplained"
    counts[group.api].found[kind] += 1
    return kind == "unexplained" or (kind == "in probes" and probes)


def _show(counts: dict[str, Counts]) -> None:
    print(f"\n{'API':22}{'SDK':30}{'documents':>10}{'no type':>9}{'explained':>10}{'in probes':>10}{'unexplained':>12}")
    for api, count in counts.items():
        numbers = "".join(f"{count.found[kind]:{width}}" for kind, width in _COLUMNS)
        print(f"{api:22}{count.sdk or '-':30}{count.documents:10}{count.without_type:9}{numbers}")


_COLUMNS = (("explained", 10), ("in probes", 10), ("unexplained", 12))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
