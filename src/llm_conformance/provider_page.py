"""The provider table as a page to read.

python -m llm_conformance.provider_page docs/providers.md            write it
python -m llm_conformance.provider_page --check docs/providers.md    exit with 1 unless it is as written now
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from llm_conformance import pages, providers, scenarios
from llm_conformance.framing import FramingName
from llm_conformance.locations import CASSETTES
from llm_conformance.providers import COUNTS, Provider
from llm_conformance.scenarios import ScenarioFile
from llm_conformance.truths import Truth, read_truth

COMMAND = "python -m llm_conformance.provider_page docs/providers.md"
_HEAD = f"""\
# Providers

What is true of a provider and not of one conversation, as the suite holds it. This page is made from
`src/llm_conformance/providers/*.toml` by `{COMMAND}`; change those.

"""
_NOTE = """\
**Key**: the environment variables that users have it in, and the header that takes it. **Usage**: a canonical count is
the sum of the provider's own fields; one behind a `-` is taken away, one with a `?` counts 0 when it is absent, without
the others the count is null; a part that exceeds its whole is null. **Finish**: a word that is not listed is unknown,
hence null. **Offsets**: the unit in which the provider counts its own annotation offsets. **Think**: models that put
reasoning into the text, between tags. **Replay**: what becomes of earlier reasoning in the next request. **As in**: a
scenario that shows it, where there is one.

A stream is whole when it has said its finish word, or has sent the marker that the table says it ends with.

In every format an error object makes the end an error, whatever came before it and under whatever status; a refusal
makes the finish content_filter, whatever the finish word says.
"""


@dataclass(frozen=True)
class Shown:
    """A scenario, and what each of its recordings is expected to come to."""

    file: ScenarioFile
    truths: tuple[Truth, ...]

    @property
    def link(self) -> str:
        """Its name, as a link from the page."""
        name = self.file.path.name.removesuffix(scenarios.SUFFIX)
        return f"[{name}](../cassettes/{self.file.path.parent.name}/{self.file.path.name})"


def page() -> str:
    """Return the whole page. Reads all scenarios of the suite, for the links to those that show a fact."""
    rows = list(providers.table().values())
    shown: dict[str, list[Shown]] = {str(row): [] for row in rows}
    for path in scenarios.find(CASSETTES)[0]:
        file = scenarios.read(path)
        truths = tuple(read_truth(file.document["truth"], mode) for mode in file.modes)
        shown[str(file.provider)].append(Shown(file, truths))
    sections = (line for row in rows for line in _section(row, shown[str(row)]))
    return _HEAD + "\n".join((*_overview(rows, shown), "", _NOTE, *sections))


def _overview(rows: list[Provider], shown: Mapping[str, Sequence[Shown]]) -> Iterator[str]:
    yield "| API | wire | reasoning in | think tags in text of | offsets | framing | ends with | replay | scenarios |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        cells = (
            f"[`{row}`](#{str(row).replace(':', '')})",
            f"`{row.wire}`",
            _listed(row.reasoning_fields),
            _listed(tuple(row.think)),
            row.offset_unit,
            row.framing,
            f"`{row.end_marker}`" if row.end_marker else "a finish word only",
            row.replay.policy,
            str(len(shown[str(row)])),
        )
        yield f"| {' | '.join(cells)} |"


def _section(row: Provider, shown: Sequence[Shown]) -> Iterator[str]:
    yield from (f"## {row}", "", f"{row.title}.", "")
    yield f"* **Base URLs**: {_listed(row.base_urls)}"
    paths = dict.fromkeys((row.path, row.stream_path, *row.other_paths))
    yield f"* **Paths**: {_listed(tuple(paths))}"
    key = _listed(row.key_variables) if row.key_variables else "none is needed"
    sent = f", sent in {' or '.join(f'`{header}`' for header in row.key_headers)}" if row.key_headers else ""
    yield f"* **Key**: {key}{sent}" + (f"; prices: {row.pricing}" if row.pricing else "")
    default = ", and come to who does not say `stream`" if row.streams_by_default else ""
    streamed = next(
        (f", as in {each.link}" for each in shown if "stream" in each.file.modes and not each.truths[-1].error), ""
    )
    yield f"* **Streams** are {_FRAMINGS[row.framing]}{default}{streamed}"
    reasons = _listed(row.reasoning_fields) if row.reasoning_fields else "no field of its own"
    yield f"* **Reasoning** in {reasons}{_as_in(shown, lambda truth: truth.reasoning is not None)}"
    if row.offset_unit != "none":
        yield f"* **Offsets** count {row.offset_unit}{_as_in(shown, _has_a_place)}"
    arguments = "text" if row.tool_arguments == "text" else "a JSON object"
    yield f"* **Tool arguments** are sent as {arguments}{_as_in(shown, lambda truth: bool(truth.tool_calls))}"
    fields = ", ".join(f"{name} at `{pointer}`" for name, pointer in row.error.items())
    yield f"* **Error body**: {fields}{_as_in(shown, lambda truth: bool(truth.error and not truth.fault))}"
    slot = f" in `{row.replay.slot}`" if row.replay.slot else ""
    back = next((f", as in {each.link}" for each in shown if "replay" in each.file.document), "")
    yield f"* **Replay**: {row.replay.policy}{slot} ({row.replay.source}){back}"
    if row.switches:
        yield f"* **Thinking switches**: {_listed(row.switches)}"
    if row.think:
        known = ", ".join(f"`{glob}` {profile}" for glob, profile in row.think.items())
        tag = "" if row.think_tag == "think" else f", between `<{row.think_tag}>` tags"
        yield f"* **Think**: {known}{tag}{_as_in(shown, lambda truth: truth.reasoning_source == 'tag')}"
    yield from ("", "| count | provider's fields | as in |", "|---|---|---|")
    for count in COUNTS:
        if count in row.usage:
            counted = _first(shown, functools.partial(_counts, count))
            yield f"| `{count}` | {_sum(row.usage[count])} | {counted} |"
    yield from ("", "| finish word | means | as in |", "|---|---|---|")
    for word, reason in row.finish.items():
        said = _first(shown, functools.partial(_ends_with, word))
        yield f"| `{word}` | {reason or 'null'} | {said} |"
    if row.notes:
        yield from ("", "To know:", "", *(f"* {note}" for note in row.notes))
    yield from ("", "Sources:", "", *(f"* {source}" for source in row.sources), "")
    yield from ("| what the scenarios show | | modes | evidence |", "|---|---|---|---|")
    for each in shown:
        evidence = each.file.cassette.metadata["provenance"]
        yield f"| {each.file.document['title']} | {each.link} | {', '.join(each.file.modes)} | {evidence} |"
    yield ""


_FRAMINGS: Mapping[FramingName, str] = {
    "server-sent events": "server-sent events",
    "lines": "a JSON document a line",
    "array": "one JSON list, which grows",
    "aws event stream": "binary messages of an AWS event stream",
    "aws chunks": "binary messages of an AWS event stream, with documents in base64",
}


def _sum(pointers: tuple[str, ...]) -> str:
    return " + ".join(f"`{field}`" for field in pointers).replace("+ `-", "- `") or "prompt + completion"


def _has_a_place(truth: Truth) -> bool:
    return any(annotation.start is not None for annotation in truth.annotations)


def _counts(count: str, truth: Truth) -> bool:
    return bool(truth.usage and getattr(truth.usage, count))


def _ends_with(word: str, truth: Truth) -> bool:
    return word in truth.raw_finish_reasons


def _first(shown: Sequence[Shown], says: Callable[[Truth], bool]) -> str:
    """Return a link to the first scenario in which something is so, "" if there is none."""
    return next((each.link for each in shown if any(map(says, each.truths))), "")


def _as_in(shown: Sequence[Shown], says: Callable[[Truth], bool]) -> str:
    link = _first(shown, says)
    return f", as in {link}" if link else ""


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(f"`{value}`" for value in values) or "none"


def main(arguments: list[str]) -> int:
    """Write or check the page; return 1 if the check finds another one."""
    parser = argparse.ArgumentParser(description="Make the provider table a page to read.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--check", action="store_true", help="only say whether the file is up to date")
    options = parser.parse_args(arguments)
    problems = pages.settle(options.path, page(), options.check, "the provider table says", COMMAND)
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
