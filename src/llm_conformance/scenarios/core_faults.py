"""The core faults: broken connections, and bodies that are not an answer. They are the same for every API.

A scenario file with `core_faults: true` is also replayed with each of these faults, so that no provider looks better
only because its scenarios have fewer faults. The ids are `<provider>/core-<api>-<mode>-<fault>`, whatever the
scenario's name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from llm_conformance.scenarios import load
from llm_conformance.scenarios.expected import Expected, Unreported
from llm_conformance.scenarios.scenario import Fault, FaultKind, Scenario
from llm_conformance.wire.interaction import MODES, Interaction, Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from llm_conformance.wire.text_places import text_places

_HTML = "<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in to the network</h1></body></html>"


class Failure(NamedTuple):
    """How a call has to fail: the `error` and the `fault` of the expected values."""

    error: str
    fault: Unreported = ""


@dataclass(frozen=True)
class CoreFault:
    """A core fault.

    Attributes:
        title: The title of the scenario.
        grounds: The evidence that this happens, as in the metadata of a cassette.
        source: Where the evidence can be read.
        expected: How the call has to fail, by mode.
        connection: How the connection fails: in the middle of the answer or, if `refused`, before it. None if it works.
        body: The content type and the body that replace the answer. If both `body` and `connection` are None, the
            answer breaks off in the middle.
    """

    title: str
    grounds: Literal["documentation", "report", "probe"]
    source: str
    expected: Mapping[Mode, Failure]
    connection: FaultKind | None = None
    body: tuple[str, str] | None = None


_LOST = Failure("ServiceUnavailableError", "connection")
_LATE = Failure("TimeoutError", "connection")
_NO_ANSWER: Mapping[Mode, Failure] = {
    "json": Failure("ValidationError", "malformed"),
    # A stream without any frame may be malformed or broken off, so any error is right.
    "stream": Failure("LLMError", "incomplete"),
}

CORE_FAULTS: Mapping[str, CoreFault] = {
    "closed": CoreFault(
        title="The connection is closed in the middle of the answer",
        grounds="documentation",
        source="https://www.rfc-editor.org/rfc/rfc9112#section-8",
        expected={"json": _LOST, "stream": _LOST},
        connection="close",
    ),
    "reset": CoreFault(
        title="The connection is reset in the middle of the answer",
        grounds="documentation",
        source="https://www.rfc-editor.org/rfc/rfc9293#section-3.10.7.4",
        expected={"json": _LOST, "stream": _LOST},
        connection="reset",
    ),
    "silence": CoreFault(
        title="The server stops sending in the middle of the answer",
        grounds="documentation",
        source="https://www.rfc-editor.org/rfc/rfc9112#section-9.5",
        expected={"json": _LATE, "stream": _LATE},
        connection="silence",
    ),
    "refused": CoreFault(
        title="The connection is refused",
        grounds="documentation",
        source="https://www.rfc-editor.org/rfc/rfc9293#section-3.10.7.1",
        expected={"json": _LOST, "stream": _LOST},
        connection="refused",
    ),
    "truncated": CoreFault(
        title="The body ends in the middle of the answer, and the connection is closed properly",
        grounds="report",
        source="https://github.com/griffinwork40/agent-afk/pull/635",
        expected={
            "json": Failure("ValidationError", "malformed"),
            # The bytes do not say what has failed, so any error is right.
            "stream": Failure("LLMError", "incomplete"),
        },
    ),
    "html": CoreFault(
        title="A proxy answers with a page of HTML and status 200",
        grounds="report",
        source="https://github.com/harry0703/MoneyPrinterTurbo/issues/87",
        expected=_NO_ANSWER,
        body=("text/html; charset=utf-8", _HTML),
    ),
    "empty-object": CoreFault(
        title="A gateway answers with an empty JSON object and status 200",
        grounds="probe",
        source="the body has none of the keys of an answer",
        expected=_NO_ANSWER,
        body=("application/json", "{}"),
    ),
}
"""Maps the last part of an id to its core fault."""

_HAS_THEM = re.compile(r"^core_faults:", re.MULTILINE)
_RECORDINGS = re.compile(r"^recordings:.*(?:\n .*)*", re.MULTILINE)


def of(scenarios: Iterable[Scenario]) -> Iterator[Scenario]:
    """Yield the core faults of each API, in each mode. The API's first scenario with `core_faults` is their basis."""
    asked: set[str] = set()
    for scenario in scenarios:
        if scenario.has_core_faults and str(scenario.api) not in asked:
            asked.add(str(scenario.api))
            for mode in scenario.modes:
                middle = _middle(scenario.interactions[mode], scenario.api)
                for name in CORE_FAULTS:
                    yield _faulty(scenario, mode, name, middle)


def list_command(id: str) -> str:
    """Return a command for an unknown id: it lists core faults if the id looks like one, and else scenarios."""
    return f"llm-conformance list {'core-faults' if f'/{load.CORE}' in id else 'scenarios'}"


def ids_in(path: Path) -> Mapping[str, CoreFault]:
    """Return the core faults of a scenario file by id. The file is not parsed as YAML, which is slow."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    api = load.api_in(text) if _HAS_THEM.search(text) else None
    if api is None:
        return {}
    recordings = _RECORDINGS.search(text)
    modes = [mode for mode in MODES if recordings and re.search(rf"\b{mode}:", recordings[0])]
    return {_id(api, mode, name): fault for mode in modes for name, fault in CORE_FAULTS.items()}


def possible_ids() -> Iterator[str]:
    """Yield the ids that core faults can have, whether or not a scenario has them."""
    return (_id(api, mode, name) for api in table().values() for mode in MODES for name in CORE_FAULTS)


def _id(api: Api, mode: Mode, name: str) -> str:
    return f"{api.provider}/{load.CORE}{api.name}-{mode}-{name}"


def _faulty(scenario: Scenario, mode: Mode, name: str, middle: int) -> Scenario:
    """Return the scenario with a core fault; `middle` is the byte offset at which the answer fails."""
    answer, expected, core_fault = scenario.interactions[mode], scenario.expected[mode], CORE_FAULTS[name]
    kind = core_fault.connection
    if core_fault.body is not None:
        content_type, text = core_fault.body
        answer = replace(answer, headers={"content-type": content_type}, body=text.encode())
    elif kind is None:
        answer = replace(answer, body=answer.body[:middle])
    failure = Expected(
        stated=frozenset({"error"}),
        error=core_fault.expected[mode].error,
        fault=core_fault.expected[mode].fault,
        offset_unit=expected.offset_unit,
        round_trip=expected.round_trip,
        switches=expected.switches,
    )
    return replace(
        scenario,
        id=_id(scenario.api, mode, name),
        title=core_fault.title,
        interactions={mode: answer},
        same_content=False,
        expected={mode: failure},
        provenance="synthetic",
        grounds=core_fault.grounds,
        cuts=None,
        uncut=None,
        arrival=(),
        fault=None if kind is None else Fault(kind, 0 if kind == "refused" else middle),
        has_core_faults=False,
        is_core_fault=True,
    )


def _middle(answer: Interaction, api: Api) -> int:
    """Return a byte offset in the middle of a body. In a stream, a frame ends there, after some visible text."""
    frames = answer.frames
    if len(frames) == 1:
        return len(answer.body) // 2
    count = len(frames) // 2
    while count < len(frames) - 1 and not any(_shows_text(answer, api, frame) for frame in frames[:count]):
        count += 1
    return sum(map(len, frames[:count]))


def _shows_text(answer: Interaction, api: Api, frame: bytes) -> bool:
    data = answer.framing.data(frame) if answer.framing else frame
    try:
        document = json.loads(data) if data else None
    except ValueError:
        return False  # an end marker, or a comment
    return isinstance(document, Mapping) and any(place.text for place in text_places(document, api, streamed=True))
