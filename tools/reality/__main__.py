"""`python -m tools.reality [DIR]`: list what recordings have and no scenario of the same API has.

    python -m tools.reality [DIR] [--provider P ...] [--generated N] [--reverse] [--steps] [--always] [--most N]
    python -m tools.reality [DIR] --format=markdown [--check]

DIR has bare recordings (docs/scenarios.md). Without DIR, the command takes the public corpus. It compares the features
of answers and errors (`features.py`). Probes do not count as scenarios. Each line has the number of recordings, the
feature, the number of features below the feature, and an example. `!` marks a feature that no scenario of the wire
format has.

`--format=markdown` prints a page: counts by API, what is in recordings and in no scenario, and the reverse. With
`--check`, the exit code is 1 if a feature is often in recordings, no scenario of its wire format has it, and
`explained.toml` does not explain it. It is also 1 if an explanation matches nothing.

`--steps` compares pairs of consecutive documents of streams instead: what the first has, and what the second has.
`--reverse` swaps scenarios and recordings, for the APIs that have recordings. `--always` lists the fields that every
recorded answer of an API and mode has and some scenario lacks. It looks only at answers that have the object around the
field; at least five recorded answers must have the field.

`--generated N` compares with N drawn answers of each API and mode (theme `answers`) instead of scenarios. `--reverse
--generated N` lists what is drawn although no recording shows it.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from llm_conformance.corpus import places
from llm_conformance.corpus.recordings import NotFetchedError
from llm_conformance.locations import CASSETTES
from tools import documents
from tools.documents import Document
from tools.reality.explained import EXPLAINED, Explained
from tools.reality.page import Made, often_unseen, page
from tools.reality.seen import Seen, always, of_documents, wire_of


def main(arguments: Sequence[str]) -> int:
    """Print the features; return the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    directory: Path = options.directory or places.root()
    if not directory.is_dir():
        parser.error(f"{directory} is no directory" + ("" if options.directory else _FETCH))
    if options.format == "markdown" and (options.steps or options.always or options.reverse or options.generated):
        parser.error("--format=markdown takes none of --steps, --always, --reverse and --generated")
    if options.check and options.format != "markdown":
        parser.error("--check needs --format=markdown")
    skipped: Counter[str] = Counter()
    try:
        wanted = _wanted(documents.of_recordings(directory, skipped), options.provider)
        code = _page(wanted, skipped, directory, options) if options.format == "markdown" else _lines(wanted, options)
    except NotFetchedError as error:
        parser.error(f"not fetched: {error}{_FETCH}")
    for why, count in skipped.items():
        print(f"{count} skipped: {why}", file=sys.stderr)
    return code


_FETCH = "; run: llm-conformance corpus fetch"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tools.reality", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "directory", type=Path, nargs="?", metavar="DIR", help="bare recordings; default: the public corpus"
    )
    parser.add_argument(
        "--provider", action="append", metavar="P[:API]", help="only this provider or API; may be repeated"
    )
    parser.add_argument("--format", choices=("text", "markdown"), default="text")
    parser.add_argument("--check", action="store_true", help="exit with 1 if something is missing without explanation")
    parser.add_argument("--reverse", action="store_true", help="list what only scenarios have")
    parser.add_argument("--steps", action="store_true", help="compare the order in streams instead of the fields")
    parser.add_argument("--always", action="store_true", help="list what all recordings have and a scenario has not")
    parser.add_argument("--generated", type=int, metavar="N", help="compare with N drawn answers for each API and mode")
    parser.add_argument("--most", type=int, default=200, metavar="N", help="lines for each list; default: 200")
    return parser


def _wanted(found: Iterable[Document], providers: Sequence[str] | None) -> Iterator[Document]:
    for number, each in enumerate(found, 1):
        if number % 10_000 == 0:
            print(f"{number} documents", file=sys.stderr)
        if not providers or {each.provider, each.api} & set(providers):
            yield each


def _page(wanted: Iterable[Document], skipped: Counter[str], directory: Path, options: argparse.Namespace) -> int:
    recorded = of_documents(wanted)
    written = of_documents(_wanted(_judged(), options.provider))
    explained = Explained.read(EXPLAINED)
    made = Made.now(directory, CASSETTES, dt.datetime.now(tz=dt.UTC).date(), skipped)
    print(page(recorded, written, explained, made, options.most))
    problems = [f"{each}: not explained" for each in often_unseen(recorded, written, explained)]
    if not options.provider and places.is_public(directory.absolute()):
        problems += [f"{EXPLAINED.name}: fits nothing: {each}" for each in explained.unused()]
    print(*problems, sep="\n", end="\n" if problems else "", file=sys.stderr)
    return 1 if problems and options.check else 0


def _judged() -> Iterator[Document]:
    """Yield the documents of the scenarios that count in verdicts."""
    return (each for each in documents.of_scenarios(CASSETTES) if not each.is_probe)


def _lines(found: Iterable[Document], options: argparse.Namespace) -> int:
    wanted = list(found)
    if options.generated:
        wanted = [each for each in wanted if each.kind != "error"]
        written = documents.of_generated(sorted({each.api for each in wanted}), options.generated)
    else:
        written = _judged()
    if options.always:
        for where, feature, names in always(wanted, written):
            print(f"{where}: {feature}: {len(names)}: {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}")
    else:
        recorded, scenarios = (of_documents(each, options.steps) for each in (wanted, written))
        have, lack = (scenarios, recorded) if options.reverse else (recorded, scenarios)
        _show(have, lack, sorted(recorded.found), options.most)
    return 0


def _show(have: Seen, lack: Seen, apis: Iterable[str], most: int) -> None:
    in_format = lack.of_formats()
    for api in apis:
        unseen = have.beyond(lack, api)
        print(f"\n{api}: {len(unseen)}")
        for count, feature, below in unseen[:most]:
            mark = " " if feature in in_format[wire_of(api)] else "!"
            more = f" and {below} below" if below else ""
            print(f"{mark}{count:5}  {feature}{more}  ({have.found[api][feature].example})")
        if len(unseen) > most:
            print(f"       and {len(unseen) - most} more")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
