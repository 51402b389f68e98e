"""`python -m tools.read_twice`: compare what the providers' own SDKs read in recordings with the expected values.

    python -m tools.read_twice [--provider P[:API] ...] [--sdk S ...] [--corpus public|suite|DIR ...]
                               [--generated N] [--latest] [--work DIR] [--all]

Prints the differences that `explained.toml` does not explain, and a table of all APIs. The exit code is 1 if there is
such a difference, if an explanation matches nothing, or if an SDK cannot be used.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from llm_conformance.corpus.recordings import NotFetchedError
from llm_conformance.wire.providers import table
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError
from peers.environments import NotInstalledError
from tools.read_twice import inputs, settings
from tools.read_twice.asking import answers
from tools.read_twice.comparison import compare
from tools.read_twice.difference import Difference
from tools.read_twice.inputs import Recording
from tools.read_twice.settings import EXPLAINED, SDKS, Explained, Reads
from tools.sdk_types.__main__ import WORK
from tools.sdk_types.comparison import ProbeError, environment, versions


@dataclass
class Counts:
    """The counts for one API."""

    sdk: str = ""
    recordings: int = 0
    values: int = 0
    explained: int = 0
    different: int = 0
    unreadable: Counter[str] = field(default_factory=Counter)

    @property
    def agree(self) -> int:
        """The number of values that are the same."""
        return self.values - self.explained - self.different - self.unreadable.total()


def main(arguments: Sequence[str]) -> int:
    """Read, compare, print the differences and the table; return the exit code."""
    options = _options(arguments)
    left_out: Counter[str] = Counter()
    try:
        reads = [each for each in settings.reads(SDKS) if not options.sdk or each.sdk.name in options.sdk]
        explained = Explained(settings.explanations(EXPLAINED))
        recordings = list(_recordings(options, left_out))
    except BadFileError as bad:
        print(*bad.problems, sep="\n", file=sys.stderr)
        return 1
    except NotFetchedError as missing:
        sys.exit(f"not fetched: {missing}; run `llm-conformance corpus fetch`")
    if not recordings:
        sys.exit("there is nothing to read; `llm-conformance list providers` shows the providers")
    counts = {api: Counts() for api in sorted({each.api for each in recordings})}
    problems = []
    for each in reads:
        wanted = [recording for recording in recordings if recording.api in each.apis]
        if not wanted:
            continue
        print(f"{each.sdk.name} ({each.reader}): {len(wanted)} ...", end=" ", file=sys.stderr, flush=True)
        try:
            found = _differences(each, wanted, options, counts)
        except (NotInstalledError, ProbeError) as error:
            problems.append(f"{each.sdk.name}: {error}")
            print("failed", file=sys.stderr)
            continue
        left = [difference for difference in found if _is_left(difference, explained, counts[difference.api])]
        print(f"{len(found)} differences, {len(left)} not explained", file=sys.stderr)
        print(*_lines(left, sys.maxsize if options.all else 3), sep="\n", end="\n" if left else "")
    is_partial = options.provider or options.sdk or options.latest or options.corpus or options.generated
    is_whole = not (problems or is_partial)
    problems += [f"{EXPLAINED.name}: matches nothing: {each}" for each in explained.unused() if is_whole]
    for api in counts.keys() - {api for each in reads for api in each.apis}:
        number = sum(recording.api == api for recording in recordings)
        left_out[f"no SDK that was asked reads {api}"] += number
        del counts[api]
    _show(counts, left_out)
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems or any(each.different for each in counts.values()) else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tools.read_twice", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--provider", action="append", metavar="P[:API]", help="read only this provider; may be repeated"
    )
    parser.add_argument("--sdk", action="append", metavar="S", help="read by this SDK only; may be repeated")
    parser.add_argument(
        "--corpus",
        action="append",
        metavar="public|suite|DIR",
        help="the public corpus, the suite's own scenarios, or bare recordings in DIR; the first two by default",
    )
    parser.add_argument("--generated", type=int, metavar="N", help="read N drawn answers of each API and mode instead")
    parser.add_argument("--latest", action="store_true", help="read by the newest release of each SDK")
    parser.add_argument("--work", type=Path, default=WORK, metavar="DIR", help=f"keep environments here, not in {WORK}")
    parser.add_argument("--all", action="store_true", help="list every recording of a difference, not only some")
    return parser.parse_args(arguments)


def _recordings(options: argparse.Namespace, left_out: Counter[str]) -> Iterator[Recording]:
    def is_wanted(api: Api) -> bool:
        return not options.provider or bool({str(api), api.provider} & set(options.provider))

    if options.generated:
        apis = [str(api) for api in table.table().values() if is_wanted(api)]
        yield from inputs.of_generated(apis, options.generated)
        return
    for source in options.corpus or [inputs.SUITE, inputs.PUBLIC]:
        yield from inputs.of(source, left_out, is_wanted)


def _differences(
    reads: Reads, wanted: Sequence[Recording], options: argparse.Namespace, counts: dict[str, Counts]
) -> list[Difference]:
    place = environment(reads.sdk, options.work.resolve(), options.latest)
    name = versions(place, reads.sdk)
    found = []
    for recording, answer in zip(wanted, answers(place, reads, wanted), strict=True):
        number, differences = compare(recording, answer)
        count = counts[recording.api]
        count.sdk = name
        count.recordings += 1
        count.values += number
        found += differences
    return found


def _is_left(difference: Difference, explained: Explained, count: Counts) -> bool:
    """Count a difference, and return True if nothing explains it."""
    explanation = explained.of(difference)
    if explanation is None:
        count.different += 1
    elif difference.field == "error" and difference.shape == "only the SDK's":
        count.unreadable[explanation.reason] += 1
    else:
        count.explained += 1
    return explanation is None


def _lines(left: Iterable[Difference], most: int) -> Iterator[str]:
    """Yield each headline with at most `most` recordings, and the number of the other recordings."""
    by_headline: dict[str, list[Difference]] = {}
    for each in left:
        by_headline.setdefault(each.headline, []).append(each)
    for headline, found in by_headline.items():
        yield f"{headline} ({len(found)})"
        yield from (f"    {each.recording}: {each.found}" for each in found[:most])
        if len(found) > most:
            yield f"    and {len(found) - most} more"


_COLUMNS = ("recordings", "values", "agree", "explained", "different")


def _show(counts: dict[str, Counts], left_out: Counter[str]) -> None:
    heads = "".join(f"{column:>11}" for column in _COLUMNS)
    print(f"\n{'API':22}{'SDK':26}{heads}{'not readable':>13}")
    for api, count in counts.items():
        _row(api, count.sdk or "-", count)
    total = Counts()
    for count in counts.values():
        for column in ("recordings", "values", "explained", "different"):
            setattr(total, column, getattr(total, column) + getattr(count, column))
        total.unreadable += count.unreadable
    _row("all", "", total)
    for title, reasons in (("Not readable by the SDK", total.unreadable), ("Not read", left_out)):
        if reasons:
            print(f"\n{title}:", *(f"{number:6} {reason}" for reason, number in reasons.most_common()), sep="\n")


def _row(api: str, sdk: str, count: Counts) -> None:
    numbers = "".join(f"{getattr(count, column):11}" for column in _COLUMNS)
    print(f"{api:22}{sdk:26}{numbers}{count.unreadable.total():13}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
