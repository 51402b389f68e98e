"""docs/field.md: what published libraries get wrong, by fault, and what each was asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from llm_conformance.adapter.libraries import libraries
from llm_conformance.judging.deviations import Judgement
from llm_conformance.judging.known import links
from llm_conformance.wording import counted
from peers import places, reports
from peers.faults import Conversation, Fault, Judged, apis, faults, largest, not_asked, standing, unjudged

_HEAD = """\
# The field

What published libraries get wrong: the newest release of each on the day when it was judged, through a
[shim](shims.md) that maps what the library returns and repairs nothing. `python -m peers` makes this page.

A *fault* is one cause in a library, however many rules and conversations it breaks. Somebody has looked at the bytes,
the library and the shim before it stands here. Each fault has a link to its report, or a text that is ready to be
filed, and most have a program that shows it with the library alone. What is *by design* or *arguable* is listed with
the argument for it, and is not counted: such a conversation counts as right. If a fault is not one, please open an
issue: the suite or the shim is then wrong.

Faults that real traffic shows come first. Within each group they stand by their
[harm](verdicts.md#read-the-findings-first), the worst first. *Refused next turn* means that something is missing which
the provider wants back: it refuses the conversation, or goes on worse. Codes such as STR-6 are
[rules](../conformance); `llm-conformance explain STR-6` prints one.

To see a fault, install the releases that were judged, with the line at the head of the section, and run the program of
the fault: `python FILE`, or `node FILE`. It needs no key and no network. It exits with 1 while the fault shows, with 0
when it is mended. `llm-conformance run litellm` judges the release of a library that is installed.

There are two kinds of evidence. *Real traffic* is the [public corpus](real-traffic.md): recordings that other projects
have published with their tests. Many of them are alike, so a number of conversations does not say how often a user
meets a fault. *Written* conversations are the suite's own scenarios, in the documented formats. Both columns say how
many conversations are without a fault, of how many; those with a failure that nobody has judged yet are left out. One
cause often has most of the others, so the column of real traffic names the fault that most of them show. The libraries
do not speak the same APIs, so compare no row with another. A gateway, such as LiteLLM's proxy, is judged apart from its
library, so one line of code may be a fault of both.

Not everything could be asked. At the end of its section, each library has two lists: what the library or its shim has
no way to say, and what the suite does not ask, because a recording lacks a part of the request, or has one that the
suite has no form for.
"""

_LABELS: Mapping[Judgement, str] = {
    "fault": "Where it is known",
    "by design": "Where that is said",
    "arguable": "Where that is said",
}

_SHOWN = 6
"""How many reasons are listed for conversations that were not asked."""


def page(field: Sequence[Judged], missing: Mapping[str, str]) -> str:
    """Return the page. `missing` has the reason for each library without a report."""
    listed = [(each, faults(each)) for each in field]
    sections = (line for each, found in listed for line in _section(each, found))
    return "\n".join([_HEAD, *_overview(listed, missing), *sections])


def _overview(listed: Iterable[tuple[Judged, Sequence[Fault]]], missing: Mapping[str, str]) -> Iterator[str]:
    yield "| library | faults | seen in real traffic | by design | arguable | not judged yet | real traffic | written |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for each, found in listed:
        real = [fault for fault in found if fault.judgement == "fault" and fault.real]
        numbers = [
            _number(found, "fault"),
            len(real),
            _number(found, "by design"),
            _number(found, "arguable"),
            unjudged(each),
            _real_traffic(each, found),
            standing(each.written),
        ]
        yield f"| [{each.title}](#{_anchor(each)}) | {' | '.join(map(str, numbers))} |"
    yield ""
    for name, why in missing.items():
        yield f"{name}: {why}.\n"


def _real_traffic(judged: Judged, found: Iterable[Fault]) -> str:
    """Return how the recorded conversations fare, and the fault that most of the wrong ones show."""
    stands = standing(judged.real)
    counted_ones = [each for each in found if each.judgement == "fault"]
    most = largest(counted_ones)
    if most is None:
        return str(stands)
    which = f"[fault {counted_ones.index(most) + 1}](#{_anchor(judged)})"
    return f"{stands}; {len(most.real)} of the other {stands.wrong} show {which}"


def _number(found: Iterable[Fault], judgement: str) -> int:
    return sum(each.judgement == judgement for each in found)


def _anchor(judged: Judged) -> str:
    """Return the anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", judged.title.lower()).replace(" ", "-")


def _section(judged: Judged, found: Sequence[Fault]) -> Iterator[str]:
    yield f"## {judged.title}"
    yield ""
    yield f"Judged on {judged.date}: {_summary(judged, found)}."
    yield ""
    if library := libraries().get(judged.name):
        yield f"`{reports.install_line(library)}`"
        yield ""
    yield from _listed([each for each in found if each.judgement == "fault"], judged.name)
    for judgement in ("by design", "arguable"):
        if others := [each for each in found if each.judgement == judgement]:
            yield f"**{judgement.capitalize()}**"
            yield ""
            yield from _listed(others, judged.name)
    yield from _apis(judged)
    yield from _not_asked(judged)


def _summary(judged: Judged, found: Sequence[Fault]) -> str:
    numbers = [counted(_number(found, "fault"), "fault")]
    numbers += [f"{number} {name}" for name in ("by design", "arguable") if (number := _number(found, name))]
    if left := unjudged(judged):
        numbers.append(f"{counted(left, 'finding')} that nobody has judged yet, which count as nothing")
    return ", ".join(numbers)


def _listed(found: Sequence[Fault], name: str) -> Iterator[str]:
    for number, each in enumerate(found, start=1):
        rules = ", ".join(map(places.rule, each.rules))
        yield f"{number}. **{_sentence(each.reason)}** {each.harm.capitalize()}; {rules}."
        if each.argument:
            yield f"   The argument for it: {_sentence(each.argument)}"
        yield f"   {_evidence(each)}"
        yield f"   {_where(each, name)}"
    if found:
        yield ""


def _sentence(text: str) -> str:
    """Return a text as a sentence in one line."""
    whole = _in_one_line(text)
    return f"{whole[:1].upper()}{whole[1:]}{'' if whole.endswith(('.', '?', '!')) else '.'}"


def _in_one_line(text: str) -> str:
    """Return a text in one line, with its markup escaped outside of code."""
    parts = " ".join(text.split()).split("`")
    return "`".join(each if at % 2 else re.sub(r"([\\*_<>|\[\]])", r"\\\1", each) for at, each in enumerate(parts))


def _evidence(fault: Fault) -> str:
    parts = [
        f"{name}: {counted(len(seen), 'conversation')}, such as {_example(seen)}."
        for name, seen in (("Real traffic", fault.real), ("Written", fault.written))
        if seen
    ]
    return " ".join(parts)


def _example(seen: Iterable[Conversation]) -> str:
    scenario, mode = min(seen, key=lambda each: (len(each[0]), each))
    return f"{places.scenario(scenario)}, {'streamed' if mode == 'stream' else 'plain'}"


def _where(fault: Fault, name: str) -> str:
    folder = f"../peers/{name}"
    if links.is_url(fault.link):
        where = f"[{_LABELS[fault.judgement]}]({fault.link})."
    else:
        where = f"Not filed yet: [draft of the report]({folder}/{fault.link})."
    return where + (f" [Program that shows it]({folder}/{fault.reproduction})." if fault.reproduction else "")


def _apis(judged: Judged) -> Iterator[str]:
    yield "| API | real traffic | written | of these, broken answers and connections |"
    yield "|---|---:|---:|---:|"
    for api in apis(judged):
        columns = standing(judged.real, api), standing(judged.written, api), standing(judged.written, api, "/core-")
        yield f"| {api} | {' | '.join(map(str, columns))} |"
    yield ""


def _not_asked(judged: Judged) -> Iterator[str]:
    found = not_asked(judged)
    yield from _reasons("what the library or its shim cannot ask", found.by_library)
    yield from _reasons("what the suite does not ask", found.by_suite)


def _reasons(title: str, causes: Mapping[str, int]) -> Iterator[str]:
    if not causes:
        return
    yield f"Not asked, {title}: {counted(sum(causes.values()), 'conversation')}."
    yield ""
    listed = list(causes.items())
    yield from (f"* {number}: {_in_one_line(cause)}" for cause, number in listed[:_SHOWN])
    if left := sum(number for _, number in listed[_SHOWN:]):
        yield f"* {left}: for other reasons"
    yield ""
