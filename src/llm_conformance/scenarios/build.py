"""Build a Scenario from a scenario file that was read and has no problems."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from llm_conformance import editions
from llm_conformance.pointers import at_pointer
from llm_conformance.scenarios.derive import normalised_with_compactions, shown_early
from llm_conformance.scenarios.expected import Expected, read_expected
from llm_conformance.scenarios.load import ScenarioFile, id_of
from llm_conformance.scenarios.round_trip import RoundTripRequirement
from llm_conformance.scenarios.scenario import Fault, Scenario, recut
from llm_conformance.wire.answers import derive_if_readable
from llm_conformance.wire.interaction import Mode


def build(file: ScenarioFile, cassette_dir: Path) -> Scenario:
    """Return the Scenario of a file; `cassette_dir` is the directory in which the file was found.

    All turns of this conversation share one Scenario object for an earlier answer, so that a run asks for the answer
    once. Another conversation with the same answer gets its own object.
    """
    return _build(file, cassette_dir, {})


def _build(file: ScenarioFile, cassette_dir: Path, built: dict[Path, Scenario]) -> Scenario:
    if file.path not in built:
        built[file.path] = _build_anew(file, cassette_dir, built)
    return built[file.path]


def _build_anew(file: ScenarioFile, cassette_dir: Path, built: dict[Path, Scenario]) -> Scenario:
    document = file.document
    call = document["call"]
    params = call.get("params", {})
    earlier = {number: _build(each, cassette_dir, built) for number, each in file.earlier.items()}
    scenario = Scenario(
        id=id_of(file.path),
        path=file.path,
        title=document["title"],
        api=file.api,
        think_profile=document.get("think_profile", "off"),
        model=call["model"],
        messages=tuple(
            {"role": "assistant"} if number in earlier else message for number, message in enumerate(call["messages"])
        ),
        tools=tuple(call.get("tools", ())),
        params={"json": params, "stream": params | call.get("stream_params", {})},
        match=tuple(document.get("match", ())),
        interactions={mode: file.interaction(mode) for mode in file.modes},
        same_content=document["recordings"].get("same_content", False),
        expected=_ExpectedByMode(file),
        provenance=file.cassette.metadata["provenance"],
        grounds=file.cassette.grounds,
        fault=Fault(**document["fault"]) if "fault" in document else None,
        outage=file.outage,
        arrival=_arrival(file),
        earlier=earlier,
        cassette_dir=cassette_dir,
        since=document.get("since", editions.FIRST),
        has_core_faults=document.get("core_faults", False),
    )
    cuts = document["recordings"].get("cuts")
    return scenario if cuts is None else recut(scenario, cuts)


def _arrival(file: ScenarioFile) -> tuple[tuple[int, int], ...]:
    """Return (bytes, milliseconds) of each piece of the stream; () if they are unknown or the body was edited later."""
    index = file.document["recordings"].get("stream")
    arrival = file.cassette.metadata.get("arrival", ())
    if index is None or index >= len(arrival):
        return ()
    pieces = tuple(zip(arrival[index]["bytes"], arrival[index]["milliseconds"], strict=False))
    return pieces if sum(size for size, _ in pieces) == len(file.interaction("stream").body) else ()


def round_trip(file: ScenarioFile, mode: Mode) -> RoundTripRequirement | None:
    """Return what a request of this mode has to have from earlier answers; None if the file has no `round_trip`."""
    if "round_trip" not in file.document:
        return None
    stated, messages = file.document["round_trip"], file.document["call"]["messages"]
    before = [read_expected(each.document["expected"], mode) for each in file.earlier.values()]
    blocks = (block for expected in before for block in expected.segments if block.type == "reasoning")
    return RoundTripRequirement(
        sent=stated.get("sent", {}),
        absent=tuple(stated.get("absent", ())),
        allowed=tuple(stated.get("allowed", ())),
        traces=tuple(block.content for block in blocks if block.content),
        texts=tuple(filter(None, _visible_texts(file, mode))),
        instructions="".join(each["content"] for each in messages if each.get("role") == "system"),
        # Calls of tools that the provider defines go back as items without a name. The scenario states them in `sent`.
        calls=tuple(call for expected in before for call in expected.tool_calls if not call.has_object),
        hidden=file.api.hidden_fields,
        wire=file.api.wire,
        recorded=file.interaction(mode).request,
        source=stated["source"],
    )


def _visible_texts(file: ScenarioFile, mode: Mode) -> Iterator[str]:
    """Yield the visible texts of the messages of user, model and tools."""
    for number, message in enumerate(file.document["call"]["messages"]):
        if number in file.earlier:
            expected = read_expected(file.earlier[number].document["expected"], mode)
            yield from (segment.content for segment in expected.segments if segment.type == "text")
        elif message["role"] != "system" and isinstance(message.get("content"), str):
            yield message["content"]


class _ExpectedByMode(Mapping[Mode, Expected]):
    """The expected values of a file by mode, derived when they are first needed.

    Loading a scenario spends most of its time on them, and some commands only list scenarios.
    """

    def __init__(self, file: ScenarioFile) -> None:
        self._file = file

    def __getitem__(self, mode: Mode) -> Expected:
        return self._by_mode[mode]

    def __iter__(self) -> Iterator[Mode]:
        return iter(self._file.modes)

    def __len__(self) -> int:
        return len(self._file.modes)

    @functools.cached_property
    def _by_mode(self) -> Mapping[Mode, Expected]:
        return _derived(self._file)


def _derived(file: ScenarioFile) -> Mapping[Mode, Expected]:
    """Return the expected values by mode.

    Both modes have the `shows_early` of the stream, because an adapter may also emit stream events for a JSON answer.
    """
    stated = {mode: read_expected(file.document["expected"], mode) for mode in file.modes}
    early: frozenset[str] = frozenset()
    if "stream" in stated and stated["stream"].error is None:
        early = shown_early(file.interaction("stream"), file.api)
    api = file.api
    usage = {mode: _usage(file, mode) if expected.usage else {} for mode, expected in stated.items()}
    return {
        mode: replace(
            expected,
            shows_early=early,
            offset_unit=api.offset_unit,
            usage_with_compactions=normalised_with_compactions(usage[mode], api),
            oversized=api.oversized(usage[mode]),
            unread=api.unread(usage[mode]),
            round_trip=round_trip(file, mode),
            switches={pointer: at_pointer(file.interaction(mode).request, pointer) for pointer in api.switches},
        )
        for mode, expected in stated.items()
    }


def _usage(file: ScenarioFile, mode: Mode) -> Mapping[str, Any]:
    facts = derive_if_readable(file.interaction(mode), file.api)
    return facts.usage if facts else {}
