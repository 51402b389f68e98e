"""Changes of recorded answers. A change stands for a server that makes it in all of its answers."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_conformance.server.apis.wire_api import WireApi
from llm_conformance.server.recordings import Recording

Path = tuple[str, ...]
"""The names of the fields on the way to a value, with "*" for the items of a list."""

FIELD_CHANGES = ("drop a field", "change a type", "change a value")
EVENT_CHANGES: dict[str, Callable[[list[Any]], list[Any]]] = {
    "drop the first event": lambda events: events[1:],
    "drop the last event": lambda events: events[:-1],
    "drop an event in the middle": lambda events: events[: len(events) // 2] + events[len(events) // 2 + 1 :],
    "repeat the first event": lambda events: events[:1] + events,
    "repeat the last event": lambda events: events + events[-1:],
    "repeat an event in the middle": lambda events: events[: len(events) // 2 + 1] + events[len(events) // 2 :],
    "swap the first two events": lambda events: events[1::-1] + events[2:],
    "swap the last two events": lambda events: events[:-2] + events[:-3:-1],
}


@dataclass(frozen=True)
class Change:
    """A change.

    Attributes:
        kind: One of FIELD_CHANGES and EVENT_CHANGES.
        part: The recordings that are changed: `answer`, `stream` or `error`.
        event: The type of the events that are changed; "" for all.
        path: The field that is changed; () for a change of events.
    """

    kind: str
    part: str
    event: str = ""
    path: Path = ()

    def __str__(self) -> str:
        """Return the change in one line."""
        place = " ".join(each for each in (self.event, ".".join(self.path)) if each)
        return f"{self.part}: {self.kind}" + (f": {place}" if place else "")


def part_of(recording: Recording) -> str:
    """Return the part that a recording is: `answer`, `stream` or `error`."""
    return "error" if recording.status != 200 else {"json": "answer", "stream": "stream"}[recording.mode]


def changes(recordings: Sequence[Recording], api: WireApi) -> list[Change]:
    """Return all changes of recordings, each once."""
    found: dict[Change, None] = {}
    for recording in recordings:
        part = part_of(recording)
        for document in _documents(recording, api):
            event = str(document.get("type", "")) if part == "stream" else ""
            for path in dict.fromkeys(_paths(document)):
                found |= {Change(kind, part, event, path): None for kind in FIELD_CHANGES}
        if part == "stream":
            found |= {Change(kind, part): None for kind in EVENT_CHANGES}
    return sorted(found, key=str)


def changed(recording: Recording, change: Change, api: WireApi) -> Recording:
    """Return a recording with a change. If there is nothing to change, return the recording."""
    if part_of(recording) != change.part:
        return recording
    if change.part != "stream":
        document = _with(json.loads(recording.body), change)
        return replace(recording, body=_written(document).encode())
    frames = _frames(recording, api)
    if change.kind in EVENT_CHANGES:
        return replace(recording, body="".join(EVENT_CHANGES[change.kind](frames)).encode())
    events = [event.data for event in api.framing.events(recording.body)]
    pairs = zip(frames, events, strict=True)
    return replace(recording, body="".join(_rewritten(*pair, change, api) for pair in pairs).encode())


def _rewritten(frame: str, data: str, change: Change, api: WireApi) -> str:
    if data == api.framing.end_mark:
        return frame
    document = json.loads(data)
    if str(document.get("type", "")) != change.event:
        return frame
    return frame.replace(data, _written(_with(document, change)))


def _frames(recording: Recording, api: WireApi) -> list[str]:
    end = "\n\n" if api.framing.content_type == "text/event-stream" else "\n"
    return [frame + end for frame in recording.body.decode().split(end) if frame]


def _documents(recording: Recording, api: WireApi) -> Iterator[dict[str, Any]]:
    if part_of(recording) == "stream":
        data = (event.data for event in api.framing.events(recording.body))
        yield from (json.loads(each) for each in data if each != api.framing.end_mark)
    else:
        yield json.loads(recording.body)


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all fields in a value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*path, name)
            yield from _paths(inner, (*path, name))
    elif isinstance(value, list):
        for inner in value:
            yield from _paths(inner, (*path, "*"))


def _with(document: Any, change: Change) -> Any:
    document = copy.deepcopy(document)
    _apply(document, change.path, change.kind)
    return document


def _apply(value: Any, path: Path, kind: str) -> None:
    first, *rest = path
    if first == "*":
        for each in value if isinstance(value, list) else ():
            _apply(each, tuple(rest), kind)
    elif isinstance(value, dict) and first in value:
        if rest:
            _apply(value[first], tuple(rest), kind)
        elif kind == "drop a field":
            del value[first]
        else:
            value[first] = (_other_type if kind == "change a type" else _other_value)(value[first])


def _other_type(value: Any) -> Any:
    return "7" if isinstance(value, int | float | dict | list) else 7


def _other_value(value: Any) -> Any:
    """Return another value of the same type. A list or an object becomes empty; null stays null."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    return type(value)() if isinstance(value, dict | list) else value


def _written(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False)
