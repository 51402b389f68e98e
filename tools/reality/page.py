"""The page of what recordings have and no scenario has, and the reverse."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from llm_conformance.corpus import places
from llm_conformance.corpus.manifest import MANIFEST
from llm_conformance.scenarios import load
from tools.reality.explained import Explained
from tools.reality.features import KINDS, kind
from tools.reality.seen import Found, Seen, tops, wire_of

OFTEN_ANSWERS = 20
OFTEN_PACKAGES = 3
"""A feature is *often* in recordings if this many interactions or packages have it."""
_GROUNDS = ("recording", "sdk", "documentation", "report")
"""The grounds of scenarios, the strongest evidence first."""


@dataclass(frozen=True)
class Made:
    """The date of a page, and the inputs that it was made from.

    Attributes:
        day: The day.
        recordings: The directory of the recordings, or the digest of the manifest of the public corpus.
        scenarios: The digest of the scenarios and their cassettes.
        skipped: The number of interactions that were left out, by reason.
    """

    day: dt.date
    recordings: str
    scenarios: str
    skipped: Mapping[str, int]

    @classmethod
    def now(cls, directory: Path, cassettes: Path, day: dt.date, skipped: Mapping[str, int]) -> Made:
        """Return the date and the digests of the inputs."""
        recordings = directory.name
        if places.is_public(directory.absolute()):
            recordings = f"`cassettes/{MANIFEST.name}` {_digest([MANIFEST])}"
        return cls(day, recordings, scenarios_digest(cassettes), skipped)


@dataclass(frozen=True)
class Unseen:
    """A feature that recordings have and scenarios lack, in one API or in a whole wire format."""

    wire: str
    feature: str
    below: int
    count: int
    packages: int
    apis: tuple[str, ...]
    example: str

    def __str__(self) -> str:
        """Return the wire format and the feature."""
        return f"{self.wire}: {self.feature}"

    @property
    def is_often(self) -> bool:
        """Whether it is often in recordings, so that a scenario should have it, too."""
        return self.count >= OFTEN_ANSWERS or self.packages >= OFTEN_PACKAGES


def scenarios_digest(cassettes: Path) -> str:
    """Return a digest of all scenario files and their cassettes."""
    return _digest(file for path in load.find(cassettes)[0] for file in (path, load.cassette_path(path)))


def page(recorded: Seen, written: Seen, explained: Explained, made: Made, most: int) -> str:
    """Return the whole page. Its lists have at most `most` lines."""
    unseen = unseen_in_formats(recorded, written)
    often = [each for each in unseen if each.is_often]
    return "\n".join(
        (
            *_head(recorded, made),
            *_table(recorded, written),
            *_often(often, explained),
            *_seldom([each for each in unseen if not each.is_often], most),
            *_elsewhere(recorded, written, most),
            *_reverse(recorded, written),
        )
    )


def unseen_in_formats(recorded: Seen, written: Seen) -> list[Unseen]:
    """Return what recordings have and no scenario of the whole wire format has, the most frequent first."""
    in_format = written.of_formats()
    found: dict[tuple[str, str], list[tuple[str, Found]]] = {}
    below: Counter[tuple[str, str]] = Counter()
    for api, features in recorded.found.items():
        wire = wire_of(api)
        for feature, number in tops(set(features) - in_format[wire]).items():
            found.setdefault((wire, feature), []).append((api, features[feature]))
            below[wire, feature] = max(below[wire, feature], number)
    result = [
        Unseen(
            wire,
            feature,
            below[wire, feature],
            sum(each.count for _, each in of_apis),
            len(set().union(*(each.packages for _, each in of_apis))),
            tuple(api for api, _ in of_apis),
            of_apis[0][1].example,
        )
        for (wire, feature), of_apis in found.items()
    ]
    return sorted(result, key=lambda each: (-each.count, each.wire, each.feature))


def often_unseen(recorded: Seen, written: Seen, explained: Explained) -> list[Unseen]:
    """Return what is often in recordings, and neither in a scenario of its wire format nor explained."""
    unseen = unseen_in_formats(recorded, written)
    return [each for each in unseen if not explained.reason(each.wire, each.feature) and each.is_often]


def _head(recorded: Seen, made: Made) -> Iterator[str]:
    total = sum(recorded.answers.values())
    yield from ("# What recordings show, and what scenarios have", "")
    yield (
        f"Made on {made.day} by `python -m tools.reality --format=markdown` from {made.recordings} "
        f"({total} interactions) and the scenarios {made.scenarios}."
    )
    for why, count in made.skipped.items():
        yield f"{count} more were skipped: {why}."
    yield ""
    yield (
        "A feature is the type of an event or block, a field (a path without indices), or a word out of a list in a "
        "field. Scenarios of grounds `probe` do not count."
    )
    yield ""


def _table(recorded: Seen, written: Seen) -> Iterator[str]:
    yield from ("## By API", "")
    columns = ("recordings", "events, blocks, fields, words in them", "in no scenario of the API", "of its format")
    yield f"| API | {' | '.join(columns)} | scenarios | only in scenarios |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    in_format = written.of_formats()
    for api in sorted({*recorded.found, *written.found}):
        seen, known = set(recorded.found.get(api, {})), set(written.found.get(api, {}))
        cells = (_by_kind(seen), len(seen - known), len(seen - in_format[wire_of(api)]))
        if not seen:
            yield f"| `{api}` | | | | | {written.answers[api]} | |"
        else:
            numbers = " | ".join(str(each or "") for each in cells)
            yield f"| `{api}` | {recorded.answers[api]} | {numbers} | {written.answers[api]} | {len(known - seen)} |"
    yield ""


def _by_kind(features: Iterable[str]) -> str:
    counts = Counter(kind(each) for each in features)
    return ", ".join(str(counts[each]) for each in KINDS)


def _often(often: Sequence[Unseen], explained: Explained) -> Iterator[str]:
    yield from ("## Often in recordings, and in no scenario of the wire format", "")
    yield from (f"In at least {OFTEN_ANSWERS} interactions or {OFTEN_PACKAGES} packages.", "")
    yield from (
        "| interactions | packages | APIs | feature | for example | why no scenario has it |",
        "|---:|---:|---|---|---|---|",
    )
    yield from (f"{_row(each)} {explained.reason(each.wire, each.feature) or '**not explained**'} |" for each in often)
    yield ""


def _seldom(seldom: Sequence[Unseen], most: int) -> Iterator[str]:
    yield from ("## In some recordings, and in no scenario of the wire format", "")
    yield from ("| interactions | packages | APIs | feature | for example |", "|---:|---:|---|---|---|")
    yield from (_row(each) for each in seldom[:most])
    yield from _more(len(seldom) - most)


def _row(each: Unseen) -> str:
    more = f" and {each.below} below" if each.below else ""
    cells = (str(each.count), str(each.packages), ", ".join(each.apis), f"`{each.feature}`{more}", f"`{each.example}`")
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _more(number: int) -> Iterator[str]:
    yield ""
    if number > 0:
        yield from (f"And {number} more.", "")


def _elsewhere(recorded: Seen, written: Seen, most: int) -> Iterator[str]:
    in_format = written.of_formats()
    found = [
        Unseen(wire_of(api), feature, below, count, len(one.packages), (api,), one.example)
        for api in recorded.found
        for count, feature, below in recorded.beyond(written, api)
        if feature in in_format[wire_of(api)]
        for one in [recorded.found[api][feature]]
    ]
    found.sort(key=lambda each: (-each.count, each.apis, each.feature))
    yield from ("## In recordings of an API, and only in scenarios of others of its format", "")
    yield from ("| interactions | packages | API | feature | for example |", "|---:|---:|---|---|---|")
    yield from (_row(each) for each in found[:most])
    yield from _more(len(found) - most)


def _reverse(recorded: Seen, written: Seen) -> Iterator[str]:
    yield from ("## In scenarios, and in no recording of the API", "")
    yield from ("Events, blocks and words, and fields, by the strongest grounds of a scenario that has them.", "")
    yield f"| API | {' | '.join(_GROUNDS)} |"
    yield f"|---|{'---:|' * len(_GROUNDS)}"
    for api in sorted(recorded.found):
        only = written.found.get(api, {}).keys() - recorded.found[api].keys()
        cells = Counter((_strongest(written.found[api][each]), kind(each) == "field") for each in only)
        numbers = (f"{cells[grounds, False]} and {cells[grounds, True]}" for grounds in _GROUNDS)
        yield f"| `{api}` | {' | '.join('' if each == '0 and 0' else each for each in numbers)} |"
    yield ""


def _strongest(found: Found) -> str:
    return next((each for each in _GROUNDS if each in found.grounds), "")


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
