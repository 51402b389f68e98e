"""The provider table: facts about a provider that hold for all conversations.

Each provider has a file `<provider>.toml`. Each API has a table `[api.<name>]` in it, with its facts and their sources.
The code calls such a table a row, and its keys columns. An API may be `like` another API (`provider:api`). It then
inherits the columns that it does not state itself, except `drafts`. `schemas/provider.schema.json` is the schema of a
file. The documentation has a page for each provider, made from the table.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

from llm_conformance.contract import Usage
from llm_conformance.contract.call import ThinkProfile
from llm_conformance.wire.framings.base import Framing
from llm_conformance.wire.framings.server_sent_events import EVENT_STREAM
from llm_conformance.wire.providers.backend import Backend
from llm_conformance.wire.providers.drafts import Drafts
from llm_conformance.wire.providers.errors import StatusError, StreamError
from llm_conformance.wire.providers.think_families import thinks_between_tags

TAG = "think"
"""The name of the think tags of most models. An API may state another name in `think_tag`."""

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
"""Maps each count that is part of another count to that count."""

_WITHOUT_BLOCKS = ("chat", "ollama", "workers_ai")
"""Wire formats in which a model of a think family (`think_families`) is taken to send its tags in the text.

Their text is one string. A server that sends typed blocks may or may not split the text at the tags.
"""

_OPENAI_DETAILS: Mapping[str, str] = {
    "cached_tokens": "prompt_tokens_details/cached_tokens",
    "cache_write_tokens": "prompt_tokens_details/cache_write_tokens",
    "reasoning_tokens": "completion_tokens_details/reasoning_tokens",
    "audio_prompt_tokens": "prompt_tokens_details/audio_tokens",
    "audio_completion_tokens": "completion_tokens_details/audio_tokens",
}
"""Maps counts to their paths in the usage object of OpenAI's own chat completions."""

OffsetUnit = Literal["code points", "utf-8 bytes", "none"]
RoundTripPolicy = Literal["required", "with tools", "optional", "refused", "ignored", "none"]


@dataclass(frozen=True)
class RoundTrip:
    """Whether a request sends the reasoning of earlier turns back, and where.

    Attributes:
        policy: What the provider does with earlier reasoning. `required`: a request without it fails or gets a worse
            answer. `with tools`: the same, but only for a request with tool results. `optional`: it is accepted.
            `refused`: a request with it fails. `ignored`: it is accepted and dropped. `none`: a request has no place
            for it.
        slot: JSON pointer to the reasoning in the assistant message; "" if none goes back.
        source: Where the provider documents the policy.
        fields: The request fields with reasoning or encrypted data, if they differ from `reasoning_fields`.
    """

    policy: RoundTripPolicy
    slot: str
    source: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Api:
    """One API of a provider. Every attribute but `provider` and `name` is a column of its table in the TOML file.

    Attributes:
        provider: The name of the file.
        name: The name of the table, unique within the provider. `provider:name` names the API everywhere.
        title: The name of the API for people.
        base_urls: Base URLs in the form that the provider's SDK takes; the first is the default. `{name}` is a path
            segment that each user has to fill in, such as an account.
        path: What follows the base URL. `{model}` is the model of the call; if the path has no `{model}`, the body
            names the model.
        prompt_field: The request field with the prompt, for the wire format `completions`.
        stream_path: The path for streamed responses, if it differs.
        other_paths: Further paths that clients use for the same API.
        path_models: Globs of the models that belong to this API, if several APIs share the URL and the path names the
            model; () for all models that no other API of the URL names.
        wire: The wire format. It is the name of a folder of `formats/`, which has the schema of responses and the read
            rules.
        framing: How a stream puts its documents into bytes; `server-sent events` by default.
        streams_by_default: Whether a request without `stream` gets a stream.
        says_stream_twice: Whether a request for a stream has both a path of its own and the field `stream`.
        reasoning_fields: The fields with visible reasoning. If a message has several of them, their texts are the same.
        content_parts: Whether `content` may be a list of parts, some of which may be reasoning.
        offset_unit: The unit of the provider's own annotation offsets; `none` if it sends no offsets.
        tool_arguments: How arguments of tool calls are sent. Adapters return a `text` unchanged. Of an `object`, they
            keep only the JSON values.
        end_marker: The data (`[DONE]`) or the `type` of the frame that ends a stream; "" if there is no such frame. A
            stream with its end marker is complete even without a finish word.
        usage: Maps each canonical count to the fields of the usage object that add up to it. `a/b` is a nested field.
            `-a` is subtracted. An absent `a?` counts as 0; if a field without `?` is absent, the count is null. An
            empty list for the total means prompt plus completion.
        finish: Maps each finish word to its canonical finish reason, or to None ("" in the file) for no reason. A word
            that is not listed has no reason, either.
        error: The fields of an error body: `message` and, if they exist, `type`, `code` and `status`. `a/b` is a nested
            field; `0` is the first item of a list.
        error_code: The JSON type of the `code` in an error body.
        error_body: The template of an error body (`errors`); "" for an object with only the fields of `error`.
        statuses: The errors that the API returns instead of an answer. An error is listed only if a source shows its
            body; a page that only lists statuses is not enough.
        stream_errors: The errors that the API sends inside of streams; () if no source shows any.
        think: Maps globs of models to their think profile, for models that put reasoning into the text.
            Models that do so on every host are in `think_families`.
        think_tag: The name of the tags around that reasoning.
        keeps_sums: Whether prompt and completion always add up to the total. If they may differ, a bare recording
            (without a scenario file) has expected counts only where they add up.
        unplaced_counts: Fields of the usage object that another count may or may not include, because no source tells.
            If such a field is not 0, a bare recording has no expected counts.
        repeated_counts: Maps further fields of the usage object to the fields that add up to them, in the form of
            `usage`. A further field is present if these fields are present, and does not grow during a stream. Adapters
            may read it instead of them.
        speaks: Whether a response may be audio. Even if not, a provider may count audio tokens.
        round_trip: Whether and where reasoning goes back in the next request.
        switches: JSON pointers to the fields of a request body that turn thinking on or off, or set its amount.
        request_aliases: Maps alternative names of request fields to the names that the suite reads.
        base64_fields: Request fields that take base64 in either alphabet, with or without padding.
        request_headers: Headers that every request needs besides the key.
        request_fields: Maps fields that every request needs to their only value.
        needed_params: The parameters that the API demands in every request, each with a value for generated calls.
        reasoning_params: The parameters that make the models of `models` show reasoning, each with a value for
            generated calls whose answers have reasoning. Without them, no model shows any.
        way_params: Maps a variation of `varies` to some of its ways, and each way to parameters. A stream has such a
            way only if the request has these parameters.
        key_headers: The headers that may have the API key. A request has the key in one of these headers, or in its
            query as `key`. () if no key is needed.
        key_variables: The environment variables that usually hold the API key, the most common first.
        url_variables: Maps the `{name}` parts of a base URL to environment variables.
        blank_blocks: The models of `models` that may send a blank think block, each with the words in the prompt that
            cause it; "" if no words are needed. Generated calls of a model with such words always have them.
        pricing: The page that says what a token costs.
        models: Maps the models that generated calls name to the names in their answers; "" for the same name.
        speaking_models: The models of `models` that answer with audio.
        plain_models: The models of `models` that never show reasoning in a field of its own.
        ids: Maps a kind of id (`answer`, `call`, and further ones of the format) to its forms: patterns of literal
            characters and character classes (`generate.ids`). An API without forms of `call` sends no tool calls.
        varies: Maps each variation to the ways of this API, each with its source, the most common way first. A
            variation is something that providers of a format do in different ways (`formats/*/variations.py`).
        further: Maps the path of an object (`wire.paths`) to fields that the object always has, and that an adapter
            does not need. In the file, the fields are JSON text.
        backends: Servers or families of models behind this API that answer in different ways, the most common first.
            Each backend has some of the ways, models and ids of the row. An answer has only those of one backend.
        drafts: How the API is asked for its first recordings.
        notes: What else an adapter has to know; one or two sentences each.
        sources: Where the facts come from: URLs with what they say, and measurements over recordings.
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
    says_stream_twice: bool = False
    other_paths: tuple[str, ...] = ()
    path_models: tuple[str, ...] = ()
    prompt_field: str = "prompt"
    error_code: Literal["text", "number"] = "text"
    error_body: str = ""
    statuses: tuple[StatusError, ...] = ()
    stream_errors: tuple[StreamError, ...] = ()
    switches: tuple[str, ...] = ()
    key_headers: tuple[str, ...] = ("authorization",)
    base64_fields: tuple[str, ...] = ()
    key_variables: tuple[str, ...] = ()
    url_variables: Mapping[str, str] = field(default_factory=dict)
    request_headers: Mapping[str, str] = field(default_factory=dict)
    request_fields: Mapping[str, Any] = field(default_factory=dict)
    needed_params: Mapping[str, Any] = field(default_factory=dict)
    reasoning_params: Mapping[str, Any] = field(default_factory=dict)
    way_params: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    blank_blocks: Mapping[str, str] = field(default_factory=dict)
    pricing: str = ""
    content_parts: bool = False
    request_aliases: Mapping[str, str] = field(default_factory=dict)
    keeps_sums: bool = True
    unplaced_counts: tuple[str, ...] = ()
    repeated_counts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    speaks: bool = False
    models: Mapping[str, str] = field(default_factory=dict)
    speaking_models: tuple[str, ...] = ()
    plain_models: tuple[str, ...] = ()
    ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    varies: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    further: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    backends: Mapping[str, Backend] = field(default_factory=dict)
    drafts: Drafts = field(default_factory=Drafts)
    notes: tuple[str, ...] = ()
    think: Mapping[str, ThinkProfile] = field(default_factory=dict)
    think_tag: str = TAG

    def __str__(self) -> str:
        """Return `provider:api`."""
        return f"{self.provider}:{self.name}"

    def __repr__(self) -> str:
        """Return a short text, because all columns would fill pages."""
        return f"<Api {self}>"

    def _repr_pretty_(self, printer: Any, _is_cycle: bool) -> None:
        """Write the same short text for Hypothesis, which prints the arguments of a strategy many times."""
        printer.text(repr(self))

    @property
    def is_hosted(self) -> bool:
        """Whether somebody runs the API for others, who need a key. If not, users start the server themselves."""
        return bool(self.key_headers)

    @property
    def names_model_in_path(self) -> bool:
        """Whether the path names the model. If not, the body names it."""
        return "{model}" in self.path

    def asks_for_stream(self, request: Mapping[str, Any]) -> bool:
        """Return True if the body of a request asks for a stream."""
        return bool(request.get("stream", self.streams_by_default))

    def stream_field(self, streamed: bool) -> Mapping[str, bool]:
        """Return the `stream` field of a request; {} if the default or the path decides."""
        is_said = self.path == self.stream_path or self.says_stream_twice
        is_needed = is_said and (streamed or self.streams_by_default)
        return {"stream": streamed} if is_needed else {}

    @property
    def hidden_fields(self) -> frozenset[str]:
        """The names of request fields with reasoning or encrypted data, and without visible text."""
        return frozenset(self.round_trip.fields or self.reasoning_fields)

    def read_request(self, sent: Any) -> Any:
        """Return a request in a uniform spelling: without aliases, and with padded base64 of the standard alphabet."""
        if isinstance(sent, Mapping):
            fields = {self.request_aliases.get(key, key): self.read_request(value) for key, value in sent.items()}
            return fields | {
                key: _standard_base64(fields[key]) for key in self.base64_fields if isinstance(fields.get(key), str)
            }
        return [self.read_request(item) for item in sent] if isinstance(sent, list) else sent

    @property
    def all_paths(self) -> tuple[str, ...]:
        """The paths of all modes and their alternatives, each once. `{model}` is not replaced."""
        return tuple(dict.fromkeys((self.path, self.stream_path, *self.other_paths)))

    def paths(self, streamed: bool) -> Iterator[str]:
        """Yield the path of a mode and its alternatives. `{model}` is not replaced."""
        own = self.stream_path if streamed else self.path
        yield own
        for other in self.other_paths:
            if self.path == self.stream_path or other.rpartition("/")[2] == own.rpartition("/")[2]:
                yield other

    def path_for(self, streamed: bool, model: str) -> str:
        """Return the path that follows the base URL in a call of this model."""
        return (self.stream_path if streamed else self.path).replace("{model}", model)

    def place(self, uri: str) -> Place | None:
        """Return the parts of a call's URI; None if it is not a call of this API."""
        for base in sorted(self.base_urls, key=len, reverse=True):
            for path in self.all_paths:
                pattern = f"(?P<base>{_pattern(base)})(?P<rest>{_pattern(path.partition('?')[0])})(?P<query>[?].*)?"
                found = re.fullmatch(pattern, uri)
                if found and _parameters(path) <= _parameters(uri):
                    model = unquote(found.groupdict().get("model") or "")
                    rest = found["rest"] + (found["query"] or "")
                    return Place(found["base"], rest, model or None, path) if self._has(model) else None
        return None

    def _has(self, model: str) -> bool:
        """Return True if `path_models` names the model of a path, or is empty.

        If it is empty, another API may still name the model.
        """
        return not self.path_models or any(fnmatch.fnmatchcase(model, glob) for glob in self.path_models)

    def think_profile(self, model: str) -> ThinkProfile:
        """Return what `think` states for a model. Else, return `leading` if its family writes tags, and `off` if not.

        Families count only for the wire formats in `_WITHOUT_BLOCKS`.
        """
        by_family = self.wire in _WITHOUT_BLOCKS and thinks_between_tags(model)
        return self.stated_profile(model) or ("leading" if by_family else "off")

    def stated_profile(self, model: str) -> ThinkProfile | None:
        """Return the think profile that the row states in `think` for a model; None if it states none."""
        return next((profile for glob, profile in self.think.items() if fnmatch.fnmatchcase(model, glob)), None)

    @functools.cached_property
    def count_paths(self) -> tuple[str, ...]:
        """The sorted paths (`a/b`) of all usage fields that some count is made of."""
        return tuple(sorted({path.strip("-?") for summands in self.usage.values() for path in summands}))

    def normalise(self, raw: Mapping[str, Any]) -> Usage | None:
        """Return the canonical counts of a provider's usage object; None if it has no counts.

        A count that is larger than the count that includes it becomes None.
        """
        if all(_count_at(raw, path) is None for path in self.count_paths):
            return None
        counts = self._counts(raw)
        if counts.get("total_tokens") is None:
            counts["total_tokens"] = _sum_if_known(counts.get("prompt_tokens"), counts.get("completion_tokens"))
        return Usage(**{**counts, **dict.fromkeys(self.oversized(raw))}, raw=raw)

    def oversized(self, raw: Mapping[str, Any]) -> frozenset[str]:
        """Return the names of the counts that are larger than the count that includes them."""
        counts = self._counts(raw)
        return frozenset(part for part, whole in PARTS.items() if _exceeds(counts.get(part), counts.get(whole)))

    def unread(self, raw: Mapping[str, Any]) -> frozenset[str]:
        """Return the counts that a usage object has only at the paths of OpenAI, not at those of the row.

        An adapter may return them, because they are on the wire, or None.
        """
        if self.wire != "chat":
            return frozenset()
        counts = self._counts(raw)
        return frozenset(
            count
            for count, path in _OPENAI_DETAILS.items()
            if counts.get(count) is None and _count_at(raw, path) is not None
        )

    def repeats(self, raw: Mapping[str, Any]) -> Mapping[str, int]:
        """Return the counts of a usage object that repeat others (`repeated_counts`), by path."""
        found = {path: _sum(raw, summands) for path, summands in self.repeated_counts.items()}
        return {path: count for path, count in found.items() if count is not None}

    def decides_counts(self, raw: Mapping[str, Any]) -> bool:
        """Return True if the counts of a usage object are unambiguous and do not contradict each other."""
        if any(_count_at(raw, path) for path in self.unplaced_counts):
            return False
        counts = self._counts(raw)
        added = _sum_if_known(counts.get("prompt_tokens"), counts.get("completion_tokens"))
        return self.keeps_sums or added is None or counts.get("total_tokens") in (None, added)

    def _counts(self, raw: Mapping[str, Any]) -> dict[str, int | None]:
        return {key: _sum(raw, summands) for key, summands in self.usage.items()}


@dataclass(frozen=True)
class Place:
    """The parts of a call's URI. `template` is the API's path that it matches, `model` the part for `{model}`."""

    base_url: str
    path: str
    model: str | None
    template: str


def _standard_base64(base64: str) -> str:
    """Return base64 in the standard alphabet, padded."""
    bare = base64.rstrip("=").replace("-", "+").replace("_", "/")
    return bare + "=" * (-len(bare) % 4)


def _parameters(uri: str) -> set[str]:
    """Return the parameters of a query, each as `name=value`."""
    return set(filter(None, uri.partition("?")[2].split("&")))


def _pattern(template: str) -> str:
    """Return a URL template as a regular expression. Only `{model}` may contain slashes."""
    quoted = re.escape(template).replace(re.escape("{model}"), "(?P<model>.+)")
    return re.sub(r"\\\{\w+\\\}", "[^/?]+", quoted)


def _sum(raw: Mapping[str, Any], summands: Iterable[str]) -> int | None:
    """Return the sum of fields of a usage object; None if the sum is negative or a field without `?` is absent."""
    total: int | None = None
    for path in summands:
        count = _count_at(raw, path.strip("-?"))
        if count is None and not path.endswith("?"):
            return None
        total = (total or 0) + (-1 if path.startswith("-") else 1) * (count or 0)
    return None if total is None or total < 0 else total


def _count_at(raw: Any, path: str) -> int | None:
    for key in path.split("/"):
        raw = raw.get(key) if isinstance(raw, Mapping) else None
    if isinstance(raw, float) and raw.is_integer():  # JSON has one type of numbers: 28.0 is 28
        raw = int(raw)
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None


def _exceeds(part: int | None, whole: int | None) -> bool:
    return part is not None and whole is not None and part > whole


def _sum_if_known(prompt: int | None, completion: int | None) -> int | None:
    return None if prompt is None or completion is None else prompt + completion
