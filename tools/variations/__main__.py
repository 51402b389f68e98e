"""`python -m tools.variations [DIR ...]`: compare the provider table with what scenarios and recordings show.

    python -m tools.variations [DIR ...] [--provider P[:API] ...] [--write] [--all]

A DIR has bare recordings (docs/scenarios.md). The command lists the ways and the forms of ids that a row lacks, each
with the first scenario or recording that shows it. If a row lacks something, the exit code is 1. `--all` lists all ways
that were seen, with their sources. `--write` adds what is missing to the files of the provider table: models, forms of
ids, and ways with their sources.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from llm_conformance.locations import CASSETTES
from tools.variations.answers import of_recordings, of_scenarios
from tools.variations.seen import seen
from tools.variations.writing import write


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.variations", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directories", metavar="DIR", nargs="*", type=Path)
    parser.add_argument("--provider", action="append", metavar="P[:API]")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args(arguments)
    skipped: Counter[str] = Counter()
    recordings = (of_recordings(directory, skipped) for directory in options.directories)
    found = seen(itertools.chain(of_scenarios(CASSETTES), *recordings))
    unknown = 0
    for api, shown in sorted(found.items(), key=lambda pair: str(pair[0])):
        if options.provider and not {api.provider, str(api)} & set(options.provider):
            continue
        unknown += len(shown.unknown)
        for name, source in shown.unknown.items():
            print(f"{api}: {name}: not in its row; see {source}")
        if options.all:
            for variation, way in shown.common_first():
                print(f"{api}: {variation}: {way}: {shown.source(variation, way) or shown.ways[variation, way].first}")
        if options.write:
            write(api, shown)
    for why, number in skipped.items():
        print(f"{number} recordings skipped: {why}")
    return 1 if unknown and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
