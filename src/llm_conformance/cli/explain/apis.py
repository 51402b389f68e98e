"""Explain an API to the author of an adapter: how it answers, counts tokens, ends an answer and reports errors."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files

from llm_conformance.wire.providers.api import COUNTS, Api
from llm_conformance.wire.providers.table import table
from llm_conformance.wording import counted

_WIDTH = 110
_LABEL = 16
FIELDS_OF_COUNTS = (
    "A field after a `-` is subtracted. A field with a `?` counts 0 if it is absent; if another field is absent, the "
    "count is null."
)
"""Explains the signs on fields that add up to a token count."""

_GOES_BACK = {
    "required": "has to go back",
    "with tools": "has to go back with the results of tools",
    "optional": "may go back",
    "refused": "must not go back",
    "ignored": "may go back, and is dropped",
    "none": "has no place in a request",
}


def provider(name: str) -> Iterator[str]:
    """Yield the lines about a provider: its APIs, and the command that explains one."""
    own = [api for api in table().values() if api.provider == name]
    yield f"{name}: {counted(len(own), 'API')}"
    for api in own:
        yield f"\n{api}\n    {api.title}"
    yield f"\n`llm-conformance explain {own[0]}` says how it answers, counts and ends."


def api(explained: Api) -> Iterator[str]:
    """Yield the lines about an API; its sources are in the file that the first line names."""
    row = files("llm_conformance.wire.providers").joinpath(f"{explained.provider}.toml")
    yield f"{explained}  ({row})"
    yield f"\n{explained.title}\n"
    yield from _labelled(_facts(explained))
    counts = f"Token counts. Each is the sum of the provider's fields. {FIELDS_OF_COUNTS}"
    yield f"\n{textwrap.fill(counts, _WIDTH)}"
    yield from _labelled({count: _sum(explained.usage[count]) for count in COUNTS if count in explained.usage})
    if not explained.keeps_sums:
        yield "\nPrompt and completion do not always add up to the total."
    if explained.unplaced_counts:
        yield f"\nNobody knows whether another count includes {_listed(explained.unplaced_counts)}."
    yield "\nFinish words. Any other gives null. A refusal gives content_filter, whatever the word."
    yield from _labelled({word: reason or "null" for word, reason in explained.finish.items()})
    if explained.notes:
        yield "\nNotes"
        for note in explained.notes:
            yield textwrap.fill(note, _WIDTH, initial_indent="  * ", subsequent_indent="    ", break_long_words=False)
    yield f"\n`llm-conformance list scenarios --provider={explained}` lists the scenarios that show it."


def _facts(explained: Api) -> Iterator[tuple[str, str]]:
    yield "Base URLs", _listed(explained.base_urls)
    yield "Paths", _listed(explained.all_paths)
    ends = f", until `{explained.end_marker}`" if explained.end_marker else ", until a finish word"
    yield "Streams", explained.framing.title + ends
    yield "Reasoning", _listed(explained.reasoning_fields) or "no field of its own"
    if explained.think:
        models = ", ".join(f"{glob} ({profile})" for glob, profile in explained.think.items())
        yield "Think tags", f"<{explained.think_tag}> in the text of {models}"
    yield "Arguments", "of tool calls are text" if explained.tool_arguments == "text" else "of tool calls are an object"
    if explained.offset_unit != "none":
        yield "Offsets", f"of annotations count {explained.offset_unit}"
    yield "Error bodies", ", ".join(f"{name} at {pointer}" for name, pointer in explained.error.items())
    for number, data in enumerate(dict.fromkeys(str(error.data) for error in explained.stream_errors)):
        yield "In a stream" if number == 0 else "", data
    back = explained.round_trip
    slot = f" in {back.slot}" if back.slot else ""
    yield "Next turn", f"reasoning {_GOES_BACK[back.policy]}{slot} ({back.source})"


def _labelled(facts: Mapping[str, str] | Iterator[tuple[str, str]]) -> Iterator[str]:
    """Yield each fact behind its label, in two columns."""
    pairs: Sequence[tuple[str, str]] = list(facts.items() if isinstance(facts, Mapping) else facts)
    width = max([_LABEL, *(len(label) + 2 for label, _ in pairs)])
    for label, fact in pairs:
        first, rest = f"  {label:<{width}}", " " * (width + 2)
        yield textwrap.fill(
            fact, _WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
        )


def _sum(fields: Sequence[str]) -> str:
    return " + ".join(fields).replace("+ -", "- ") or "prompt + completion"


def _listed(values: Sequence[str]) -> str:
    return ", ".join(values)
