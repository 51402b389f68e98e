"""A check of the lint: the recorded request of a later turn sends only what the call and the earlier turns have.

If somebody edits an earlier answer, the later turn may still have the old signature, reasoning or argument. The suite
would then blame an adapter that sends the new one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from llm_conformance.compare import as_json
from llm_conformance.scenarios.checks.recording import Problems, Recording
from llm_conformance.scenarios.expected import read_expected
from llm_conformance.scenarios.load import ScenarioFile
from llm_conformance.wire import answers
from llm_conformance.wire.interaction import Interaction, Mode

_OF_THE_FORM = frozenset({"role", "type"})
"""Fields whose values belong to the form of the request, not to an answer."""
_TAG = re.compile(r"</?think>")
_EXCERPT = 60
_NO_ARGUMENTS: Mapping[str, Any] = {}
"""The arguments that are sent back for a call without arguments, whatever the answer has in their place."""


def requests_send_what_answers_have(recording: Recording) -> Problems:
    """Report each text in the messages of a later turn that no call or answer up to this turn has."""
    file = recording.file
    if not file.earlier:
        return
    known = set(_known(file, recording.mode))
    values = [value for value in map(as_json, known) if isinstance(value, dict | list)]
    for pointer, text in _texts(recording.interaction.request):
        is_message = pointer.count("/") > 1 and pointer.rpartition("/")[2] not in _OF_THE_FORM
        if is_message and not _is_known(text, known, values):
            shown = text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}..."
            yield f"the recorded request has {shown!r} at {pointer}, and no earlier answer has it", ("call", "messages")


def _is_known(text: str, known: Collection[str], values: Collection[Any]) -> bool:
    """Return True if think tags split a text into parts of known texts, or if a known text has the same JSON value."""
    parts = [part.strip() for part in _TAG.split(text)]
    return all(any(part in each for each in known) for part in parts) or as_json(text) in [*values, _NO_ARGUMENTS]


def _known(file: ScenarioFile, mode: Mode) -> Iterator[str]:
    """Yield the texts of a call, and of the earlier calls and their answers."""
    yield from (text for _, text in _texts(file.document["call"]))
    for earlier in file.before():
        yield from (text for _, text in _texts(earlier.document["call"]))
        if mode in earlier.modes:
            yield from _of_answer(earlier.interaction(mode))
            expected = read_expected(earlier.document["expected"], mode)
            yield from (expected.message, expected.reasoning or "")  # joined from pieces in different places


def _of_answer(interaction: Interaction) -> Iterator[str]:
    """Yield the texts of an answer, including those within texts that are JSON.

    Pieces of a stream are joined by place.
    """
    pieces: dict[tuple[str, str], list[str]] = {}
    for document in answers.documents(interaction):
        block = str([document.get(name) for name in _BLOCKS]) if isinstance(document, Mapping) else ""
        for pointer, text in _texts(document):
            pieces.setdefault((pointer, block), []).append(text)
    for texts in pieces.values():
        joined = "".join(texts)
        yield from texts
        yield joined
        value = as_json(joined)
        if value is not joined:
            yield from (text for _, text in _texts(value))


_BLOCKS = ("index", "output_index", "item_id")
"""The fields of an event that tell which block a piece belongs to."""


def _texts(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Yield each text in a JSON value with its JSON pointer."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, f"{pointer}/{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{pointer}/{number}")
