"""What rules and requests have to know about a wire format."""

from __future__ import annotations

import abc
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from llm_conformance.server.apis.answer import Answer, Counts
from llm_conformance.server.framings.framing import Framing

Document = Mapping[str, Any]


class WireApi(abc.ABC):
    """A wire format: how it is asked, and how its answers are read.

    Reading is lenient: it leaves out values of undocumented types, because a rule about shapes reports them.

    Attributes:
        name: Its name for `--api`, which is also the name of the TOML file with its conversations.
        row: The row of the provider table that is used to scrub recordings.
        path: What follows the base URL.
        framing: The framing of its streams.
        limits: The fields of a request that may have the token limit, the usual one first.
        cut: The finish word of an answer that the token limit has cut off.
        calls: The finish word of an answer with calls; "" if the format has none.
        ended: The finish word of an answer that the model ended by itself.
        call_type: The type of a call; "" if calls have no type.
        calls_have_ids: Whether each call has an id.
        stopped: The finish word of an answer that a stop sequence has ended.
        has_seed: Whether a request may have a seed.
        last: What ends a stream, in the words of verdicts.
        last_types: The types of the events that end a stream, if its events have types.
        behind_last: What may come once after the last event; "" for nothing.
    """

    name: ClassVar[str]
    row: ClassVar[tuple[str, str]]
    path: ClassVar[str]
    framing: ClassVar[Framing]
    limits: ClassVar[tuple[str, ...]]
    cut: ClassVar[str]
    calls: ClassVar[str] = ""
    call_type: ClassVar[str]
    calls_have_ids: ClassVar[bool] = True
    ended: ClassVar[str]
    stopped: ClassVar[str] = ""
    has_seed: ClassVar[bool] = False
    last: ClassVar[str]
    last_types: ClassVar[tuple[str, ...]] = ()
    behind_last: ClassVar[str] = ""

    def credentials(self, key: str) -> dict[str, str]:
        """Return the headers with the key. `key` is "" if there is no key."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def asked(self, body: dict[str, Any], streamed: bool, usage: bool) -> dict[str, Any]:
        """Return a request with the fields that ask for a stream and, with `usage`, for token counts."""
        return {**body, "stream": True} if streamed else body

    def with_settings(self, body: dict[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request with the temperature and other settings of the model."""
        return {**body, **settings}

    def with_params(self, body: dict[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request with the further fields that the user gave."""
        return {**body, **params}

    def limit(self, request: Document) -> int:
        """Return the token limit of a request; 0 if it has none."""
        return next((request[name] for name in self.limits if isinstance(request.get(name), int)), 0)

    def answers_asked(self, request: Document) -> int:
        """Return how many answers a request asks for."""
        return 1

    def filled(self, body: dict[str, Any], times: int) -> dict[str, Any]:
        """Return a request with one message whose text is repeated `times` times."""
        (message,) = body["messages"]
        return {**body, "messages": [{**message, "content": message["content"] * times}]}

    def is_last(self, data: str) -> bool:
        """Return True if an event with this data ends a stream."""
        if not any(f'"{each}"' in data for each in self.last_types):
            return False  # parsing all events as JSON would take long
        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            return False
        return isinstance(document, Mapping) and document.get("type") in self.last_types

    def is_error(self, document: Any) -> bool:
        """Return True if a document of an answer reports an error."""
        return isinstance(document, Mapping) and document.get("error") not in (None, "", {})

    @abc.abstractmethod
    def plain(self, document: Document) -> Sequence[Answer]:
        """Return the answers of a plain document. Raises Blocked if it cannot be read."""

    @abc.abstractmethod
    def streamed(self, documents: Sequence[Document]) -> Sequence[Answer]:
        """Return the answers of a stream. Raises Blocked if it cannot be read."""

    @abc.abstractmethod
    def counts(self, documents: Sequence[Document]) -> Counts:
        """Return the token counts.

        `documents` are all documents of a stream, or the only document of a plain answer.
        """

    @abc.abstractmethod
    def id(self, documents: Sequence[Document]) -> Any:
        """Return the id of an answer; None if it has no id."""

    @abc.abstractmethod
    def tool_choice(self, request: Document) -> str | None:
        """Return `auto`, `none`, `required` or the name of a tool; None if the request does not state it."""

    @abc.abstractmethod
    def wants_one_call(self, request: Document) -> bool:
        """Return True if a request allows at most one call."""

    def stops(self, request: Document) -> Sequence[str]:
        """Return the stop sequences of a request."""
        return ()

    def asks_for_json(self, request: Document) -> bool:
        """Return True if a request asks for a JSON object of any form."""
        return False

    def schema_asked(self, request: Document) -> Mapping[str, Any] | None:
        """Return the JSON schema that a request demands for the text of the answer; None if there is none."""
        return None
