"""`python -m tools.unseen_fields DIR`: list what recordings have and no scenario of the same API has.

    python -m tools.unseen_fields DIR [--provider P ...] [--generated N] [--reverse] [--steps] [--always] [--most N]

DIR has bare recordings (docs/scenarios.md). Compared are the fields, as JSON pointers with `*` for each index and with
the type of each event and block, and the values of fields that have a word out of a list. A line has the number of
recordings, the feature with the number of features below it, and one of the recordings. `!` marks what no scenario of
the whole wire format has.

`--steps` lists consecutive documents of streams instead: what they carry, and what the next one carries.
`--reverse` swaps scenarios and recordings; it covers the APIs that have recordings. `--always` lists the fields that
the object around them has in every recorded answer of an API and mode (in five at least), and not in some scenario.

`--generated N` compares with N drawn answers of each API and mode (theme `answers`) instead of scenarios. With
`--reverse --generated` this is what is drawn although no recording shows it.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llm_conformance.locations import CASSETTES
from llm_conformance.wire.providers import table
from tools import documents
from tools.documents import Document
from tools.stream_steps import steps

_DEEPEST = 12
_MOST_VALUES = 20_000
"""How many values of a response are looked at."""
_TAGS = ("type", "event_type")
"""Fields that say which kind of event or block an object is."""
_FREE = {"args", "arguments", "input", "parameters", "parametersJsonSchema", "properties", "schema", "metadata"}
"""Fields whose objects have names that people chose."""
_WORDS = re.compile(
    r"(?i)(reason|status|type|role|object|modality|tier|phase|format|level|state|mode|effort|probability|category"
    r"|channel|kind|caller|code|verbosity|detail|truncation|choice|language|outcome|execution)$"
)
"""The names of fields that have a word out of a list."""
_WORD = re.compile(r"[A-Za-z][\w.-]{0,60}")


@dataclass
class Features:
    """The features of the responses of some APIs: how many sources have each, and the first of them."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    examples: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, api: str, source: str, found: Iterable[str]) -> None:
        """Note the features of one source: a scenario or a recording."""
        for feature in found:
            self.counts.setdefault(api, Counter())[feature] += 1
            self.examples.setdefault((api, feature), source)

    def beyond(self, other: Features, api: str) -> list[tuple[int, str, int]]:
        """Return the features of an API that the other side lacks: how often, which, and how many are below it.

        Features below one that the other side lacks are not listed themselves.
        """
        known = other.counts.get(api, Counter())
        found = self.counts.get(api, Counter())
        below: dict[str, int] = {}
        for feature in sorted(set(found) - set(known), key=len):
            top = next((above for above in _above(feature) if above in below), None)
            if top is None:
                below[feature] = 0
            else:
                below[top] += 1
        return sorted(
            ((found[each], each, number) for each, number in below.items()), key=lambda one: (-one[0], one[1])
        )


def features(values: Iterable[Any]) -> set[str]:
    """Return the features of the documents of one response."""
    found: set[str] = set()
    for number, (path, value) in enumerate(pair for document in values for pair in _walk(document)):
        if number == _MOST_VALUES:
            break
        if path:
            found.add(path)
        if isinstance(value, str) and _WORDS.search(path.rpartition("/")[2]) and _WORD.fullmatch(value):
            found.add(f"{path} = {value}")
    return found


def _above(feature: str) -> Iterator[str]:
    """Yield the features that a feature is part of."""
    if " -> " not in feature:
        yield from (feature[: found.start()] for found in re.finditer(r"/|\[| = ", feature) if found.start())


def _walk(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield each field of a document with its path."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        tag = next((value[key] for key in _TAGS if isinstance(value.get(key), str)), None)
        own = f"{path}[{tag}]" if tag is not None else path
        yield own, None
        for key, inner in value.items():
            if key in _TAGS and inner == tag:
                continue
            yield f"{own}/{key}", inner
            if key not in _FREE or not isinstance(inner, Mapping):
                yield from _walk(inner, f"{own}/{key}", depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, f"{path}/*", depth + 1)


def of_documents(found: Iterable[Document], only_steps: bool = False) -> Features:
    """Return the features of documents, each counted once for each scenario or recording."""
    result = Features()
    answers = (each for each in found if each.kind == "event" or (each.kind != "request" and not only_steps))
    for (api, name), group in itertools.groupby(answers, key=lambda each: (each.api, each.scenario)):
        values = (each.value for each in group)
        result.add(api, name, steps(values) if only_steps else features(values))
    return result


def main(arguments: Sequence[str]) -> int:
    """Print the features; return 0."""
    parser = argparse.ArgumentParser("python -m tools.unseen_fields", description=__doc__.partition("\n")[0])
    parser.add_argument("directory", type=Path, metavar="DIR", help="a directory of bare recordings")
    parser.add_argument(
        "--provider", action="append", metavar="P[:API]", help="only this provider or API; may be repeated"
    )
    parser.add_argument("--reverse", action="store_true", help="list what only scenarios have")
    parser.add_argument("--steps", action="store_true", help="compare the order in streams instead of the fields")
    parser.add_argument("--always", action="store_true", help="list what all recordings have and a scenario has not")
    parser.add_argument("--generated", type=int, metavar="N", help="compare with N drawn answers for each API and mode")
    parser.add_argument("--most", type=int, default=200, metavar="N", help="lines for each API; default: 200")
    options = parser.parse_args(arguments)
    if not options.directory.is_dir():
        parser.error(f"{options.directory} is no directory")
    skipped: Counter[str] = Counter()
    recordings = documents.of_recordings(options.directory, skipped)
    wanted = [
        each
        for each in _with_progress(recordings)
        if not options.provider or {each.provider, each.api} & set(options.provider)
    ]
    if options.generated:
        wanted = [each for each in wanted if each.kind != "error"]
        written = documents.of_generated(sorted({each.api for each in wanted}), options.generated)
    else:
        written = documents.of_scenarios(CASSETTES)
    if options.always:
        for where, feature, names in always(wanted, written):
            print(f"{where}: {feature}: {len(names)}: {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}")
    else:
        recorded, scenarios = (of_documents(each, options.steps) for each in (wanted, written))
        have, lack = (scenarios, recorded) if options.reverse else (recorded, scenarios)
        _show(have, lack, sorted(recorded.counts), options.most)
    for why, count in skipped.items():
        print(f"{count} skipped: {why}", file=sys.stderr)
    return 0


def always(recorded: Iterable[Document], written: Iterable[Document]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (API and mode, field, scenarios) where all recordings have a field, and some scenarios do not.

    Only answers count in which the object around the field is there.
    """
    by_api: dict[str, dict[str, set[str]]] = {}
    for where, name, found in _answers(recorded):
        by_api.setdefault(where, {})[name] = found
    lacking: dict[tuple[str, str], list[str]] = {}
    required = {where: _in_every(list(answers.values())) for where, answers in by_api.items()}
    for where, name, found in _answers(written):
        for feature in required.get(where, ()):
            if feature not in found and _around(feature) in found:
                lacking.setdefault((where, feature), []).append(name)
    yield from ((where, feature, names) for (where, feature), names in sorted(lacking.items()))


_ENOUGH = 5


def _in_every(answers: Sequence[set[str]]) -> set[str]:
    """Return the fields that are in all answers that have the object around them, if these are enough."""
    counts = Counter(feature for answer in answers for feature in answer)
    return {
        feature
        for feature, count in counts.items()
        if count >= _ENOUGH and not re.search(r"[]*]$| = ", feature) and count == counts[_around(feature)]
    }


def _around(feature: str) -> str:
    return feature.rpartition("/")[0]


def _answers(found: Iterable[Document]) -> Iterator[tuple[str, str, set[str]]]:
    """Yield the features of each answer that is no error, with its API and mode, and its name."""
    successes = (each for each in found if each.kind in ("json", "event"))
    for (api, name, mode), group in itertools.groupby(
        successes, key=lambda each: (each.api, each.scenario, each.part.partition(" ")[0])
    ):
        yield f"{api} {mode}", name, features(each.value for each in group) | {""}


def _with_progress(found: Iterable[Document]) -> Iterator[Document]:
    for number, each in enumerate(found, 1):
        if number % 10_000 == 0:
            print(f"{number} documents", file=sys.stderr)
        yield each


def _show(have: Features, lack: Features, apis: Iterable[str], most: int) -> None:
    in_format = _by_wire(lack)
    for api in apis:
        unseen = have.beyond(lack, api)
        print(f"\n{api}: {len(unseen)}")
        for count, feature, below in unseen[:most]:
            mark = " " if feature in in_format[_wire(api)] else "!"
            more = f" and {below} below" if below else ""
            print(f"{mark}{count:5}  {feature}{more}  ({have.examples[api, feature]})")
        if len(unseen) > most:
            print(f"       and {len(unseen) - most} more")


def _by_wire(side: Features) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {api.wire: set() for api in table.table().values()}
    for api, counts in side.counts.items():
        found[_wire(api)] |= set(counts)
    return found


def _wire(api: str) -> str:
    provider, _, name = api.partition(":")
    return table.table()[provider, name].wire


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
