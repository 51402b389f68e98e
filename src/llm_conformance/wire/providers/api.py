"""The provider table: what is true of a provider and not of one conversation.

One file a provider (`<provider>.toml`), one row an API of it, each with its sources; `docs/providers.md` is made from
it. A row may be `like` another, `provider:api`: then it has that one's columns but for those that it names itself. A
file may also hold `[[wire.<name>.read]]`: by which field paths an answer of that wire format is read
(`llm_conformance.reading`). The columns are explained in `Provider` and, for who writes one, in CONTRIBUTING.md.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

from llm_conformance.contract import Usage
from llm_conformance.contract.call import ThinkProfile
from llm_conformance.wire.framings.base import Framing
from llm_conformance.wire.framings.server_sent_events import EVENT_STREAM

TAG = "think"
"""The tag that most models think between; the provider table says which have another."""

COUNTS = (
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "audio_prompt_tokens",
    "audio_completion_tokens",
)
"""The canonical token counts."""

PARTS: Mapping[str, str] = {
    "cached_tokens": "prompt_tokens",
    "cache_write_tokens": "prompt_tokens",
    "audio_prompt_tokens": "prompt_tokens",
    "reasoning_tokens": "completion_tokens",
    "audio_completion_tokens": "completion_tokens",
}
"""Which count is part of which."""

OffsetUnit = Literal["code points", "utf-8 bytes", "none"]
RoundTripRule = Literal["required", "with tools", "optional", "refused", "ignored", "none"]


@dataclass(frozen=True)
class RoundTrip:
    """What becomes of reasoning of earlier turns: whether it is sent back, and where in the assistant message.

    `with tools`: required in tool loops, and of no use elsewhere. `refused`: an error if it is sent. `fields` are those
    in which requests have reasoning, or what is sealed, if they are others than answers have it in.
    """

    policy: RoundTripRule
    slot: str
    source: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Api:
    """One row of the table.

    Attributes:
        base_urls: What the documented SDK is given; the first is the default. `{name}` stands for one path segment.
        path: What follows it; `{model}` stands for the call's model.
        stream_path: The same for a streamed answer.
        framing: How the documents of a stream are put into bytes (`llm_conformance.framing`).
        other_paths: Further paths that clients use for the same thing.
        streams_by_default: Whether who does not say `stream` gets one.
        wire: `schemas/wire/<wire>.schema.json`, and the rules by which answers are read.
        reasoning_fields: Native fields that carry visible reasoning.
        offset_unit: How the provider counts its own annotation offsets into the answer; `none`: it gives none.
        tool_arguments: `text`, to be kept as sent, or `object`, to be kept as JSON values.
        end_marker: Data or `type` of the frame that ends a stream even without a finish value.
        usage: A canonical count is the sum of these pointers into the usage object. One with a `?` counts 0 when it is
            absent; without the others the count is unknown. One behind a `-` is taken away, for what only the total
            has. None at all: the sum of prompt and completion.
        finish: Raw finish word to canonical finish reason. A word that is not listed is unknown, hence None.
        think: Model glob to think profile, for models that put reasoning into the text.
        think_tag: The name of the tags that they put it between.
        speaks: Whether answers may be audio; counts of audio alone do not say so.
        notes: What an adapter has to know besides, a sentence or two each.
        error: Pointers into an error body: `message`, and where there are any `type`, `code`, `status`.
        error_code: What the `code` of an error body is.
        key_headers: Headers of which one has the API key, unless the query has it as `key`; none where none is needed.
        content_parts: Whether an answer's `content` may be a list of parts, reasoning among them.
        request_aliases: Names that a request's fields may have, too, and the names that they are read by.
        switches: JSON pointers into a request body: what turns thinking on and off, and says how much of it.
        base64_fields: Fields of a request that are bytes in base64, in either alphabet, padded or not.
        key_variables: Environment variables that users of the provider have their key in, the usual one first.
        url_variables: Environment variables that the parts of a base URL stand in, by their `{name}`.
        request_headers: Headers that every request needs beside the key.
        pricing: Where the provider says what a token costs.
    """

    provider: str
    name: str
    title: str
    base_urls: tuple[str, ...]
    path: str
    wire: str
    reasoning_fields: tuple[str, ...]
    offset_unit: OffsetUnit
    tool_arguments: Literal["text", "object"]
    end_marker: str
    sources: tuple[str, ...]
    usage: Mapping[str, tuple[str, ...]]
    finish: Mapping[str, str | None]
    error: Mapping[str, str]
    round_trip: RoundTrip
    stream_path: str = ""
    framing: Framing = EVENT_STREAM
    streams_by_default: bool = False
    other_paths: tuple[str, ...] = ()
    error_code: Literal["text", "number"] = "text"
    switches: tuple[str, ...] = ()
    key_headers: tuple[str, ...] = ("authorization",)
    base64_fields: tuple[str, ...] = ()
    key_variables: tuple[str, ...] = ()
    url_variables: Mapping[str, str] = field(default_factory=dict)
    request_headers: Mapping[str, str] = field(default_factory=dict)
    pricing: str = ""
    content_parts: bool = False
    request_aliases: Mapping[str, str] = field(default_factory=dict)
    speaks: bool = False
    notes: tuple[str, ...] = ()
    think: Mapping[str, ThinkProfile] = field(default_factory=dict)
    think_tag: str = "think"

    def __str__(self) -> str:
        """Return `provider:api`."""
        return f"{self.provider}:{self.name}"

    @property
    def names_model_in_path(self) -> bool:
        """Whether the model stands in the path instead of the body."""
        return "{model}" in self.path

    def asks_for_stream(self, request: Mapping[str, Any]) -> bool:
        """Whether a request asks for a stream in its body."""
        return bool(request.get("stream", self.streams_by_default))

    def stream_field(self, streamed: bool) -> Mapping[str, bool]:
        """Return what a request says of streaming, where the path does not say it."""
        said = self.path == self.stream_path and (streamed or self.streams_by_default)
        return {"stream": streamed} if said else {}

    @property
    def hidden_fields(self) -> frozenset[str]:
        """Names of the fields of a request that are no visible text."""
        return frozenset(self.round_trip.fields or self.reasoning_fields)

    def read_request(self, sent: Any) -> Any:
        """Return a request with each field under the name that it is read by, and bytes in the standard alphabet."""
        if isinstance(sent, Mapping):
            named = {self.request_aliases.get(key, key): self.read_request(value) for key, value in sent.items()}
            bytes_ = {key: _standard(named[key]) for key in self.base64_fields if isinstance(named.get(key), str)}
            return named | bytes_
        return [self.read_request(each) for each in sent] if isinstance(sent, list) else sent

    def paths(self, streamed: bool) -> Iterator[str]:
        """Yield the path of a mode and its alternatives, `{model}` and all."""
        own = self.stream_path if streamed else self.path
        yield own
        for other in self.other_paths:
            if self.path == self.stream_path or other.rpartition("/")[2] == own.rpartition("/")[2]:
                yield other

    def path_for(self, streamed: bool, model: str) -> str:
        """Return what follows the base URL in a call."""
        return (self.stream_path if streamed else self.path).replace("{model}", model)

    def place(self, uri: str) -> Place | None:
        """Return what `uri` names; None if it is no call of this API."""
        for base in sorted(self.base_urls, key=len, reverse=True):
            for path in (self.path, self.stream_path, *self.other_paths):
                pattern = f"(?P<base>{_pattern(base)})(?P<rest>{_pattern(path.partition('?')[0])})(?P<query>[?].*)?"
                found = re.fullmatch(pattern, uri)
                if found and _parameters(path) <= _parameters(uri):
                    model = found.groupdict().get("model")
                    rest = found["rest"] + (found["query"] or "")
                    return Place(found["base"], rest, model and unquote(model), path)
        return None

    def think_profile(self, model: str) -> ThinkProfile:
        """Return what the table knows of a model's habit to think in the text."""
        return next((profile for glob, profile in self.think.items() if fnmatch.fnmatchcase(model, glob)), "off")

    def normalise(self, raw: Mapping[str, Any]) -> Usage | None:
        """Apply the usage algebra to a provider's usage object; None when it reports no count.

        A part that does not fit into its whole is None: the algebra cannot say what it means.
        """
        pointers = {pointer.strip("-?") for column in self.usage.values() for pointer in column}
        if all(_at(raw, pointer) is None for pointer in pointers):
            return None
        counts = {key: _total(raw, column) for key, column in self.usage.items()}
        if counts.get("total_tokens") is None:
            counts["total_tokens"] = _sum_if_known(counts.get("prompt_tokens"), counts.get("completion_tokens"))
        for part, whole in PARTS.items():
            least, most = counts.get(part), counts.get(whole)
            if least is not None and most is not None and least > most:
                counts[part] = None
        return Usage(**counts, raw=raw)


@dataclass(frozen=True)
class Place:
    """A request's URI taken apart; `template` is the row's path that it matched, `model` what stood for `{model}`."""

    base_url: str
    path: str
    model: str | None
    template: str


def _standard(base64: str) -> str:
    """Return base64 in the standard alphabet, padded."""
    bare = base64.rstrip("=").replace("-", "+").replace("_", "/")
    return bare + "=" * (-len(bare) % 4)


def _parameters(uri: str) -> set[str]:
    """Return the parts of a query."""
    return set(filter(None, uri.partition("?")[2].split("&")))


def _pattern(template: str) -> str:
    """Return the regular expression of a URL template; only a model may contain slashes."""
    quoted = re.escape(template).replace(re.escape("{model}"), "(?P<model>.+)")
    return re.sub(r"\\\{\w+\\\}", "[^/?]+", quoted)


def _total(raw: Mapping[str, Any], pointers: Iterable[str]) -> int | None:
    total: int | None = None
    for pointer in pointers:
        value = _at(raw, pointer.strip("-?"))
        if value is None and not pointer.endswith("?"):
            return None
        total = (total or 0) + (-1 if pointer.startswith("-") else 1) * (value or 0)
    return None if total is None or total < 0 else total


def _at(raw: Any, pointer: str) -> int | None:
    for key in pointer.split("/"):
        raw = raw.get(key) if isinstance(raw, Mapping) else None
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None


def _sum_if_known(prompt: int | None, completion: int | None) -> int | None:
    return None if prompt is None or completion is None else prompt + completion
