"""Text completions, in the shapes of their makers: a prompt goes in, a text comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.contract import Call, Response, StreamEvent, Usage
from llm_conformance.contract.response import FinishReason

from ._answer import Answer, utc, utc_of_text
from ._errors import error_in_band
from ._framing import Unframe, events
from ._provider import ProviderAdapter, bearer

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Piece:
    """The content of a document: a piece of the text, the finish word if the text ends, and thoughts."""

    text: str | None
    finish: str | None = None
    thoughts: str | None = None


@dataclass(frozen=True)
class Maker:
    """The documents and counts of one maker.

    Args:
        piece: Returns the content of a document; None if the document has no content.
        finish: Maps finish words to canonical finish reasons.
        prompt: The names of the count of prompt tokens. The first name that is present is used.
        completion: The names of the count of completion tokens.
        counts: Returns the object with the counts of a document.
        field: The field of a request that holds the prompt.
    """

    piece: Callable[[Document], Piece | None]
    finish: Mapping[str, FinishReason]
    prompt: tuple[str, ...] = ()
    completion: tuple[str, ...] = ()
    counts: Callable[[Document], Document] = lambda document: document
    field: str = "prompt"


class CompletionDecoder:
    """Decodes a text, or its pieces."""

    def __init__(self, call: Call, maker: Maker) -> None:
        self._answer = Answer(call)
        self._maker = maker

    def feed(self, document: Document) -> Iterator[StreamEvent]:
        """Take the whole document, or one chunk."""
        answer = self._answer
        answer.raw_events.append(document)
        for name, value in document.items():
            if name.endswith("Exception"):  # Bedrock's own
                raise error_in_band({"type": _EXCEPTIONS.get(name, name), **value}, answer.call)
        if document.get("error"):
            raise error_in_band(document["error"], answer.call)
        answer.id = answer.id or document.get("id")
        answer.model = document.get("model") or answer.model
        answer.created = answer.created or utc(document.get("created")) or utc_of_text(document.get("created_at"))
        piece = self._maker.piece(document)
        if piece is not None:
            yield from answer.reasoning(piece.thoughts or "")
            yield from answer.text(piece.text or "")
            answer.raw_finish = piece.finish or answer.raw_finish
        counted = self._maker.counts(document) or {}
        names = (*self._maker.prompt, *self._maker.completion, "total_tokens")
        answer.raw_usage |= {name: counted[name] for name in names if counted.get(name) is not None}

    def end(self) -> Iterator[StreamEvent]:
        """Yield nothing: no text is held back."""
        yield from ()

    @property
    def ended(self) -> bool:
        """Whether a finish word has come."""
        return self._answer.raw_finish is not None

    def response(self) -> Response:
        """Return the whole response."""
        return self._answer.response(self._maker.finish.get(self._answer.raw_finish or ""), self._usage())

    def _usage(self) -> Usage | None:
        raw = self._answer.raw_usage
        prompt, completion = (_first(raw, names) for names in (self._maker.prompt, self._maker.completion))
        if prompt is None and completion is None:
            return None
        total = None if prompt is None or completion is None else prompt + completion
        return Usage(
            prompt_tokens=prompt, completion_tokens=completion, total_tokens=raw.get("total_tokens", total), raw=raw
        )


_EXCEPTIONS: Mapping[str, str] = {
    "throttlingException": "rate_limit_error",
    "validationException": "invalid_request_error",
    "modelTimeoutException": "timeout_error",
}


def _first(raw: Document, names: tuple[str, ...]) -> int | None:
    """Return the first count that is present. Bedrock's guardrails send counts as floats: 28.0."""
    return next((int(raw[name]) for name in names if name in raw), None)


def openai_choice(document: Document) -> Piece | None:
    """Return the content of the first choice; None for a chunk with token counts, which has no choice."""
    for choice in document["choices"]:
        if not choice.get("index"):
            return Piece(choice["text"], choice.get("finish_reason"))
    return None


def completions_adapter(
    api: str,
    maker: Maker,
    headers: Callable[[Call], Mapping[str, str]] = bearer,
    unframe: Unframe = events,
    always: Document | None = None,
) -> ProviderAdapter:
    """Return the adapter of an API of text completions. `always` are the fields that every request has.

    If the model is in the path, it is not in the body.
    """

    def request(call: Call) -> dict[str, Any]:
        (message,) = call.messages
        if isinstance(message, Response) or message["role"] != "user" or call.tools:
            raise NotImplementedError("a text completion has one prompt, and no tools")
        model = {} if api.startswith("bedrock:") else {"model": call.model}
        stream = {} if api.startswith("bedrock:") else {"stream": call.stream}
        return {**model, maker.field: message["content"], **call.params, **(always or {}), **stream}

    return ProviderAdapter(api, lambda call: CompletionDecoder(call, maker), request, headers, unframe)


OPENAI = Maker(
    openai_choice,
    {"stop": "stop", "length": "length", "content_filter": "content_filter"},
    ("prompt_tokens",),
    ("completion_tokens",),
    lambda document: document.get("usage") or {},
)
