"""The pages of the providers, made from the provider table: an overview, and a page for each provider."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from llm_conformance.cli.explain.apis import FIELDS_OF_COUNTS
from llm_conformance.locations import CASSETTES
from llm_conformance.rules import catalogue
from llm_conformance.scenarios import load
from llm_conformance.scenarios.expected import Expected, read_expected
from llm_conformance.scenarios.load import ScenarioFile
from llm_conformance.wire.providers import table
from llm_conformance.wire.providers.api import COUNTS, Api
from llm_conformance.wire.providers.think_families import FAMILIES
from tools.site.run import Run

_HEAD = """\
# Providers

What the suite knows about each provider, whatever the conversation. The
[provider table](repo:src/llm_conformance/wire/providers) has all of it, with sources.

"""
_NOTE = """\
## How to read a page

* **Key**: the environment variables that usually hold the key, and the header that carries it.
* **Usage**: each token count is the sum of the provider's fields. {fields} A part larger than its whole is null.
* **Finish**: a finish word that is not listed gives null.
* **Offsets**: the unit in which the provider counts annotation offsets.
* **Think**: the models that put reasoning into the text, between tags. Besides those of each API, wherever they are
  served: {families}.
* **Round trip**: what happens to earlier reasoning in the next request.
* **Models**: those that generated calls name. Plain models show no reasoning in a field of its own.
* **Ids**: their forms. In the id of a call, `{{name}}` is the name of the tool, `{{number}}` the number of the call.
* **Backends**: the servers or models that answer in ways of their own. A generated answer has those of one.
* **Varies**: in how many things answers differ. The row has their ways, the most common first. Generated inputs have
  no others.
* **As in**: a scenario that shows it.

A stream is complete after its finish word, or after the end marker that the table names.

In every format an error object ends the response with an error, whatever came before it and whatever the HTTP status. A
refusal gives the finish reason `content_filter`, whatever the finish word.
"""

_PLACE, _ESCAPED = re.compile(r"\](?=\((?!https?:))"), r"\\]"
"""Matches a place in a note that Markdown would take for a link, although the note has no link there."""

_URL = re.compile(r"(?<!\]\()(?<![<`\[\w])https?://[^\s<>()`|;,]*[^\s<>()`|;,.:]")
"""A URL in a sentence. A URL in backquotes is a value, and a URL in brackets is a link already."""


@dataclass(frozen=True)
class Shown:
    """A scenario and the expected values of each of its recordings."""

    file: ScenarioFile
    expected: tuple[Expected, ...]

    @property
    def id(self) -> str:
        """The id of the scenario."""
        return load.id_of(self.file.path)

    @property
    def link(self) -> str:
        """A Markdown link to the scenario, relative to the page."""
        name = self.file.path.name.removesuffix(load.SUFFIX)
        return f"[{name}](repo:cassettes/{self.file.path.parent.name}/{self.file.path.name})"


def pages(run: Run) -> dict[str, str]:
    """Return the text of each page by its name: `index`, and the name of each provider. Reads all scenarios."""
    apis = list(table.table().values())
    shown: dict[str, list[Shown]] = {str(api): [] for api in apis}
    for path in load.find(CASSETTES)[0]:
        file = load.read(path)
        expected = tuple(read_expected(file.document["expected"], mode) for mode in file.modes)
        shown[str(file.api)].append(Shown(file, expected))
    by_provider: dict[str, list[Api]] = {}
    for api in apis:
        by_provider.setdefault(api.provider, []).append(api)
    judged = _judged(run)
    found = {
        provider: "\n".join(
            [f"# {provider}", "", *(line for api in own for line in _section(api, shown[str(api)], judged))]
        )
        for provider, own in by_provider.items()
    }
    note = _NOTE.format(fields=FIELDS_OF_COUNTS, families=", ".join(f"`{glob}`" for glob in FAMILIES))
    contents = ("```{toctree}", ":hidden:", "", *by_provider, "```", "")
    return {"index": _HEAD + "\n".join((*_overview(apis, shown), "", note, *contents)), **found}


def _judged(run: Run) -> Mapping[str, str]:
    """Map each scenario to the rules that judge it, by family: `MSG 1 2, USE 3`."""
    rules: dict[str, list[str]] = {}
    for rule in catalogue.catalogue():
        for scenario in run.seen.get(rule, ()):
            rules.setdefault(scenario, []).append(rule)
    return {scenario: _by_family(found) for scenario, found in rules.items()}


def _by_family(rules: Sequence[str]) -> str:
    families: dict[str, list[str]] = {}
    for rule in rules:
        family, _, number = rule.partition("-")
        families.setdefault(family, []).append(number)
    return ", ".join(f"{family} {' '.join(numbers)}" for family, numbers in families.items())


def _overview(apis: list[Api], shown: Mapping[str, Sequence[Shown]]) -> Iterator[str]:
    yield "| API | wire | reasoning in | think tags in | offsets | framing | ends with | round trip | scenarios |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for api in apis:
        cells = (
            f"[`{api}`]({api.provider}.md#{str(api).replace(':', '')})",
            f"`{api.wire}`",
            _listed(api.reasoning_fields),
            _listed(tuple(api.think)),
            api.offset_unit,
            api.framing.name,
            f"`{api.end_marker}`" if api.end_marker else "a finish word only",
            api.round_trip.policy,
            str(len(shown[str(api)])),
        )
        yield f"| {' | '.join(cells)} |"


def _undecided_counts(api: Api) -> Iterator[str]:
    if not api.keeps_sums:
        yield from ("", "Prompt and completion do not always add up to the total.")
    if api.unplaced_counts:
        yield from ("", f"Nobody knows whether another count includes {_listed(api.unplaced_counts)}.")


def _section(api: Api, shown: Sequence[Shown], judged: Mapping[str, str]) -> Iterator[str]:
    yield from (f"## {api}", "", f"{api.title}.", "")
    yield f"* **Base URLs**: {_listed(api.base_urls)}"
    yield f"* **Paths**: {_listed(api.all_paths)}"
    if api.path_models:
        yield f"* **Models in the path**: {_listed(api.path_models)}"
    if api.prompt_field != "prompt":
        yield f"* **Prompt**: in `{api.prompt_field}`"
    key = _listed(api.key_variables) if api.key_variables else "none is needed"
    sent = f", sent in {' or '.join(f'`{header}`' for header in api.key_headers)}" if api.key_headers else ""
    yield f"* **Key**: {key}{sent}" + (f"; prices: {_prose(api.pricing)}" if api.pricing else "")
    default = ", and the default for a request without `stream`" if api.streams_by_default else ""
    streamed = next(
        (f", as in {each.link}" for each in shown if "stream" in each.file.modes and not each.expected[-1].error), ""
    )
    yield f"* **Streams** are {api.framing.title}{default}{streamed}"
    reasons = _listed(api.reasoning_fields) if api.reasoning_fields else "no field of its own"
    yield f"* **Reasoning** in {reasons}{_as_in(shown, lambda expected: expected.reasoning is not None)}"
    if api.offset_unit != "none":
        yield f"* **Offsets** count {api.offset_unit}{_as_in(shown, _has_offsets)}"
    arguments = "text" if api.tool_arguments == "text" else "a JSON object"
    yield f"* **Tool arguments** are sent as {arguments}{_as_in(shown, lambda expected: bool(expected.tool_calls))}"
    fields = ", ".join(f"{name} at `{pointer}`" for name, pointer in api.error.items())
    yield f"* **Error body**: {fields}{_as_in(shown, lambda expected: bool(expected.error and not expected.fault))}"
    yield f"* **Errors**: {', '.join(dict.fromkeys(f'`{error}`' for error in api.statuses))}"
    if api.stream_errors:
        places = ", ".join(dict.fromkeys(f"`{error.data}`" for error in api.stream_errors))
        yield f"* **Errors inside a stream**: {places}"
    slot = f" in `{api.round_trip.slot}`" if api.round_trip.slot else ""
    back = next((f", as in {each.link}" for each in shown if "round_trip" in each.file.document), "")
    yield f"* **Round trip**: {api.round_trip.policy}{slot} ({_prose(api.round_trip.source)}){back}"
    if api.switches:
        yield f"* **Thinking switches**: {_listed(api.switches)}"
    if api.think:
        known = ", ".join(f"`{glob}` {profile}" for glob, profile in api.think.items())
        tag = "" if api.think_tag == "think" else f", between `<{api.think_tag}>` tags"
        yield f"* **Think**: {known}{tag}{_as_in(shown, lambda expected: expected.reasoning_source == 'tag')}"
    yield from _drawn_from(api)
    yield from _ways(api)
    yield from ("", "| count | provider's fields | as in |", "|---|---|---|")
    for count in COUNTS:
        if count in api.usage:
            counted = _first(shown, functools.partial(_counts, count))
            yield f"| `{count}` | {_sum(api.usage[count])} | {counted} |"
    yield from _undecided_counts(api)
    yield from ("", "| finish word | means | as in |", "|---|---|---|")
    for word, reason in api.finish.items():
        example = _first(shown, functools.partial(_ends_with, word))
        yield f"| `{word}` | {reason or 'null'} | {example} |"
    if api.notes:
        yield from ("", "Notes:", "", *(f"* {_prose(note)}" for note in api.notes))
    yield from ("", "Sources:", "", *(f"* {_prose(source)}" for source in api.sources), "")
    yield from (
        "| what the scenarios show | scenario | modes | provenance | grounds | rules |",
        "|---|---|---|---|---|---|",
    )
    for each in shown:
        recorded = each.file.cassette
        cells = (
            each.file.document["title"],
            each.link,
            ", ".join(each.file.modes),
            recorded.metadata["provenance"],
            recorded.grounds or "",
            judged.get(each.id, ""),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""


def _prose(text: str) -> str:
    """Return a note or a source of the provider table as Markdown. Its URLs become links."""
    return _URL.sub(r"<\g<0>>", _PLACE.sub(_ESCAPED, text))


def _drawn_from(api: Api) -> Iterator[str]:
    """Yield the models of generated inputs, and the forms of their ids."""
    kinds = (
        (" (plain)" if model in api.plain_models else " (speaks)" if model in api.speaking_models else "")
        + (f", in answers `{answered}`" if answered else "")
        for model, answered in api.models.items()
    )
    yield f"* **Models**: {'; '.join(f'`{model}`{kind}' for model, kind in zip(api.models, kinds, strict=True))}"
    if api.ids:
        forms = (f"{kind} {' or '.join(f'`{form}`' for form in found)}" for kind, found in api.ids.items())
        yield f"* **Ids**: {'; '.join(forms)}"


def _ways(api: Api) -> Iterator[str]:
    """Yield the backends, and say where the ways are listed. There are thousands of ways, too many for this page."""
    if api.backends:
        yield f"* **Backends**: {', '.join(api.backends)}"
    if api.varies:
        file = f"{api.provider}.toml"
        row = f"[{file}](repo:src/llm_conformance/wire/providers/{file})"
        yield f"* **Varies** in {len(api.varies)} things; `[api.{api.name}.varies]` in {row} has the ways, with sources"


def _sum(pointers: tuple[str, ...]) -> str:
    return " + ".join(f"`{field}`" for field in pointers).replace("+ `-", "- `") or "prompt + completion"


def _has_offsets(expected: Expected) -> bool:
    return any(annotation.start is not None for annotation in expected.annotations)


def _counts(count: str, expected: Expected) -> bool:
    return bool(expected.usage and getattr(expected.usage, count))


def _ends_with(word: str, expected: Expected) -> bool:
    return word in expected.raw_finish_reasons


def _first(shown: Sequence[Shown], shows: Callable[[Expected], bool]) -> str:
    """Return a link to the first scenario whose expected values satisfy `shows`; "" if there is none."""
    return next((each.link for each in shown if any(map(shows, each.expected))), "")


def _as_in(shown: Sequence[Shown], shows: Callable[[Expected], bool]) -> str:
    link = _first(shown, shows)
    return f", as in {link}" if link else ""


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(f"`{value}`" for value in values) or "none"
