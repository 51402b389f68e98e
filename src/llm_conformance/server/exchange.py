"""What a rule sees: one request, its answer, and the other answers of the run.

An answer is read as far as possible. If it cannot be read, `document` and `chunks` raise Blocked, because another rule
reports this.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llm_conformance.rules.violation import Blocked
from llm_conformance.server.apis.answer import Answer, Counts
from llm_conformance.server.apis.wire_api import WireApi
from llm_conformance.server.conversations import Conversation
from llm_conformance.server.framings.framing import Event
from llm_conformance.server.recordings import Recording
from llm_conformance.wire.framings.base import json_value
from llm_conformance.wire.interaction import Mode

Key = tuple[str, Mode, int]
"""(conversation, mode, number)"""


@dataclass(frozen=True, eq=False)
class Exchange:
    """A request and its answer.

    Attributes:
        api: The wire format.
        claims: The capabilities that are claimed of the server.
        run: All exchanges of the run.
    """

    conversation: Conversation
    recording: Recording
    api: WireApi
    claims: frozenset[str]
    run: Mapping[Key, Exchange] = field(repr=False)

    @property
    def mode(self) -> Mode:
        """The mode that was asked for."""
        return self.recording.mode

    @property
    def streamed(self) -> bool:
        """Whether a stream was asked for."""
        return self.mode == "stream"

    @property
    def request(self) -> Mapping[str, Any]:
        """The JSON body of the request."""
        return self.recording.request

    def other(self, conversation: str | None = None, mode: Mode | None = None, number: int = 1) -> Exchange | None:
        """Return another exchange of the run; None if there is no such exchange.

        By default, conversation and mode are the same.
        """
        return self.run.get((conversation or self.conversation.id, mode or self.mode, number))

    @property
    def content_type(self) -> str:
        """The content type without its parameters, in lower case."""
        return self.recording.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_late(self) -> bool:
        """Whether the time limit ended the answer before the server did. A slow server is not at fault."""
        return self.recording.ended == "open" and not (self.streamed and self._has_last_event)

    @property
    def _has_last_event(self) -> bool:
        try:
            return any(self.api.is_last(event.data) for event in self.events_so_far)
        except UnicodeDecodeError:
            return False

    @functools.cached_property
    def events_so_far(self) -> tuple[Event, ...]:
        """The events of a stream, complete or not. Raises UnicodeDecodeError."""
        return tuple(self.api.framing.events(self.recording.body))

    @property
    def body(self) -> bytes:
        """The body of an answer. Raises Blocked if there is no complete answer."""
        recording = self.recording
        kept = self.kept_body
        if recording.status not in (0, 200):
            raise Blocked(f"the status is {recording.status}; WIRE-1 reports that")
        if self.is_late:
            raise Blocked(f"the answer was not complete after {recording.milliseconds} ms, the time limit")
        if recording.status == 0:
            raise Blocked("no answer came; WIRE-1 reports that")
        if recording.ended.startswith("broken"):
            raise Blocked("the answer is not complete; WIRE-2 reports that")
        return kept

    @property
    def kept_body(self) -> bytes:
        """The body of an answer or an error, complete or not. Raises Blocked if it was not kept."""
        if self.recording.hidden:
            raise Blocked(f"the answer is not kept: {self.recording.hidden}")
        return self.recording.body

    @functools.cached_property
    def document(self) -> Any:
        """The JSON document of a plain answer. Raises Blocked if the body is not JSON or reports an error."""
        try:
            document = json_value(self.body.decode("utf-8"))
        except (ValueError, RecursionError):
            raise Blocked("the answer is not JSON; WIRE-4 reports that") from None
        if not isinstance(document, dict):
            raise Blocked("the answer is not a JSON object; WIRE-4 reports that")
        if self.api.is_error(document):
            raise Blocked("the answer is an error; SRV-2 reports that")
        return document

    @functools.cached_property
    def events(self) -> tuple[Event, ...]:
        """The events of a stream. Raises Blocked if they are not text."""
        self.body  # noqa: B018 - raises Blocked
        try:
            return self.events_so_far
        except UnicodeDecodeError:
            raise Blocked("the stream is not UTF-8; a rule about framing reports that") from None

    @functools.cached_property
    def chunks(self) -> tuple[Mapping[str, Any], ...]:
        """The documents of a stream up to its end mark.

        Raises Blocked if one is not a JSON object or reports an error.
        """
        found = []
        for event in self.events:
            if event.data == self.api.framing.end_mark:
                break
            try:
                document = json_value(event.data)
            except (ValueError, RecursionError):
                raise Blocked("an event is not JSON; a rule about framing reports that") from None
            if not isinstance(document, dict):
                raise Blocked("an event is not a JSON object; a rule about framing reports that")
            if self.api.is_error(document):
                raise Blocked(f"the server reports an error in the stream: {json.dumps(document)[:200]}")
            found.append(document)
        if not found:
            raise Blocked("the stream has no event; a rule about framing reports that")
        return tuple(found)

    @property
    def documents(self) -> tuple[Mapping[str, Any], ...]:
        """The documents of a stream, or the only document of a plain answer. Raises Blocked."""
        return self.chunks if self.streamed else (self.document,)

    @functools.cached_property
    def answers(self) -> Sequence[Answer]:
        """The answers: one, or as many as the request asks for. Raises Blocked."""
        return self.api.streamed(self.chunks) if self.streamed else self.api.plain(self.document)

    @property
    def answer(self) -> Answer:
        """The first answer. Raises Blocked if there is none."""
        if not self.answers:
            raise Blocked("the answer has no choice; SRV-4 reports that")
        return self.answers[0]

    @functools.cached_property
    def counts(self) -> Counts:
        """The token counts. Raises Blocked if the answer cannot be read."""
        return self.api.counts(self.documents)
