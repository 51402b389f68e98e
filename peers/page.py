"""The pages of the field: what published libraries get wrong, by fault, and what each library was asked.

The build of the documentation makes them from `docs/field.json` alone. Links to files of the repository begin with
`repo:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.adapter.libraries import libraries
from llm_conformance.judging.known import links
from llm_conformance.rules.rule import HARM_MEANINGS
from llm_conformance.wording import counted
from peers import places, reports
from peers.changes import OTHER, Facts

_HEAD = """\
# The field

What published libraries get wrong: the newest release of each on the day it was judged, called through a
[shim](../shims.md) that maps what the library returns and repairs nothing.

**Try one yourself.** `llm-conformance run litellm` judges the release that you have installed. Each page below also
names the releases that were judged. Most faults have a program that shows them with the library alone: it needs no key
and no network, and exits with 1 while the fault shows.

**What is a fault?** One cause in a library, however many rules and conversations it breaks. Somebody has looked at the
bytes, the library and the shim before it is listed. What is *by design* or *arguable* is listed with the argument for
it and not counted: such a conversation counts as right. What a library does not promise, such as an error if a stream
ends too early, is not judged; the page of the library says so. If you think that a listed fault is not one, please open
an issue: the suite or the shim may be wrong.

**How to read the table.** *Real traffic* is the [public corpus](../real-traffic.md): recordings that other projects
published with their tests. Many of them are alike, so these numbers do not say how often a user meets a fault.
*Written* conversations are the suite's own scenarios, in the documented formats. Both columns say how many
conversations are without a fault, of how many. The *most frequent fault* is the one that shows in most conversations of
real traffic, by its number on the page of the library. The libraries do not speak the same APIs, so do not compare the
rows.
"""

_LABELS: Mapping[str, str] = {
    "fault": "Where it is known",
    "by design": "Where that is said",
    "arguable": "Where that is said",
}


def pages(facts: Facts) -> dict[str, str]:
    """Return the text of each page by its name: `index`, and the name of each library."""
    return {"index": _index(facts), **{name: "\n".join(_library(name, each)) for name, each in facts.items()}}


def faults_of_rule(facts: Facts, rule: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (library, finding) for each fault that breaks a rule."""
    for name, each in facts.items():
        yield from ((name, found) for found in _with(each, "fault") if rule in found["rules"])


def _index(facts: Facts) -> str:
    lines = [
        _HEAD,
        "| library | faults | by design | arguable | real traffic | most frequent fault | written |",
        "|---|---:|---:|---:|---:|---|---:|",
    ]
    for name, each in facts.items():
        numbers = [len(_with(each, judgement)) for judgement in _LABELS]
        standing = each["standing"]
        cells = [*map(str, numbers), _standing(standing["real"]), _most_frequent(each), _standing(standing["written"])]
        lines.append(f"| [{name} {each['version']}]({name}.md) | {' | '.join(cells)} |")
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *facts, "```", ""])


def _with(library: Mapping[str, Any], judgement: str | None) -> Sequence[Mapping[str, Any]]:
    return [each for each in library["findings"] if each["judgement"] == judgement]


def _standing(found: Mapping[str, int] | None) -> str:
    if found is None:
        return "not judged"
    return f"{found['right']} of {found['of']}" if found["of"] else "not asked"


def _most_frequent(library: Mapping[str, Any]) -> str:
    """Return, as a text, the fault that most recorded conversations show, and their number; "" if there are none."""
    found = _with(library, "fault")
    most = max(found, key=lambda each: int(each["real"]), default=None)
    if library["standing"]["real"] is None or most is None or not most["real"]:
        return ""
    return f"fault {found.index(most) + 1}, in {most['real']}"


def _library(name: str, library: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"# {name} {library['version']}", "")
    if missing := library.get("missing"):
        yield from (f"In the last run: {missing}.", "")
    if library["judged"] is not None:
        yield from (f"Judged on {library['judged']}: {_summary(library)}.", "")
    if known := libraries().get(name):
        yield from ("```sh", reports.install_line(known), "```", "")
    if found := _with(library, "fault"):
        yield from ("## Faults", "", "Those that real traffic shows come first, then the worst harm.", "")
        yield from _listed(found, name)
    for judgement in ("by design", "arguable"):
        if others := _with(library, judgement):
            yield from (f"## {judgement.capitalize()}", "")
            yield from _listed(others, name)
    yield from _apis(library)
    yield from _not_asked(library)
    yield from _not_judged(library)


def _summary(library: Mapping[str, Any]) -> str:
    numbers = [counted(len(_with(library, "fault")), "fault")]
    numbers += [f"{number} {name}" for name in ("by design", "arguable") if (number := len(_with(library, name)))]
    if left := len(_with(library, None)):
        numbers.append(f"{counted(left, 'finding')} that nobody has judged yet, which count as nothing")
    return ", ".join(numbers)


def _listed(found: Iterable[Mapping[str, Any]], name: str) -> Iterator[str]:
    for number, each in enumerate(found, start=1):
        rules = ", ".join(f"[{rule}](../rules/{rule}.md)" for rule in each["rules"])
        yield f"{number}. **{sentence(each['what'])}** {HARM_MEANINGS[each['harm']]} ({each['harm']}); {rules}."
        yield ""
        if each["argument"]:
            yield f"   The argument for it: {sentence(each['argument'])}"
        yield f"   {_evidence(each)}"
        yield f"   {where(each, name)}"
        yield ""


def sentence(text: str) -> str:
    """Return a text as a sentence in one line, with its markup escaped outside of code."""
    whole = _in_one_line(text)
    return f"{whole[:1].upper()}{whole[1:]}{'' if whole.endswith(('.', '?', '!')) else '.'}"


def _in_one_line(text: str) -> str:
    parts = " ".join(text.split()).split("`")
    return "`".join(each if at % 2 else re.sub(r"([\\*_<>|\[\]])", r"\\\1", each) for at, each in enumerate(parts))


def _evidence(finding: Mapping[str, Any]) -> str:
    kinds = {"Real traffic": "real", "Written": "written"}
    parts = [
        f"{name}: {counted(finding[kind], 'conversation')}, such as {_example(*finding['examples'][kind])}."
        for name, kind in kinds.items()
        if finding[kind]
    ]
    return " ".join(parts)


def _example(scenario: str, mode: str) -> str:
    return f"{places.scenario(scenario)}, {'streamed' if mode == 'stream' else 'plain'}"


def where(finding: Mapping[str, Any], name: str) -> str:
    """Return the links of a finding: to its report, and to the program that shows it."""
    link, program = finding["link"], finding["reproduction"]
    if links.is_url(link):
        said = f"[{_LABELS[finding['judgement']]}]({link})."
    else:
        said = f"Not filed yet: [draft of the report](repo:peers/{name}/{link})."
    return said + (f" [Program that shows it](repo:peers/{name}/{program})." if program else "")


def _apis(library: Mapping[str, Any]) -> Iterator[str]:
    yield from (
        "## By API",
        "",
        "Conversations without a fault, of how many. The last column has the core faults alone:",
    )
    yield from ("broken answers and connections.", "")
    yield from ("| API | real traffic | written | core faults |", "|---|---:|---:|---:|")
    for api, columns in library["apis"].items():
        yield f"| {api} | {' | '.join(_standing(columns[each]) for each in ('real', 'written', 'core'))} |"
    yield ""


def _not_asked(library: Mapping[str, Any]) -> Iterator[str]:
    titles = {"by_library": "the library or its shim has no way to ask", "by_suite": "the suite does not ask"}
    if library["not_asked"]:
        yield from ("## Not asked", "")
    for kind, causes in library["not_asked"].items():
        yield from (f"{counted(sum(causes.values()), 'conversation')} that {titles[kind]}:", "")
        yield from (
            f"* {number}: {cause if cause == OTHER else _in_one_line(cause)}" for cause, number in causes.items()
        )
        yield ""


def _not_judged(library: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the library does not promise, so that nothing above is about it."""
    capabilities, excluded = library["not_declared"], library["excluded"]
    if capabilities or excluded:
        yield from ("## Not judged, by design", "")
    if capabilities:
        names = ", ".join(f"`{each}`" for each in capabilities)
        yield from (f"The library does not promise these [capabilities](../adapters.md#capabilities): {names}.", "")
    for way, reason in excluded.items():
        yield from (f"Left out are answers with {_in_one_line(way)}: {_in_one_line(reason)}", "")
