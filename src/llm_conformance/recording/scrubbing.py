"""What must not reach the disk: keys, accounts, cookies, addresses.

Headers are kept by a list of those that are allowed, of a URL only the path and what of its query every call of the API
has. Elsewhere the secrets that are known (the key that was sent, the account that was asked) are written over in the
forms that they may take, and so is everything that looks like one. What stands there instead is as long, so that
offsets into a text and the framing of a stream stay true. What cannot be written over that way is not written at all.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, unquote

from llm_conformance import secrets
from llm_conformance.wire.framings.aws_event_stream import (
    AwsEventStream,
    aws_chunk,
    aws_chunk_payload,
    aws_message,
    aws_parts,
    aws_texts,
)
from llm_conformance.wire.framings.base import Framing
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api

KEPT_HEADERS = frozenset({"content-type", "retry-after", "request-id", "x-request-id"})
SENT = "a key or an account that was sent"
_SHORTEST = 6
"""Code points that a secret has to have to be looked for: a shorter one would be found in every other word."""


class LeakError(Exception):
    """A secret that cannot be written over without making another answer of it."""


@dataclass(frozen=True)
class Scrubbed:
    """An interaction without secrets, and what was written over, by kind."""

    interaction: Interaction
    found: tuple[str, ...]


def scrub(interaction: Interaction, api: Api, known: Collection[str] = ()) -> Scrubbed:
    """Return an interaction that may be written.

    Args:
        interaction: What was sent and received.
        api: Whose API it is.
        known: Secrets that were part of the request.

    Raises:
        LeakError: A secret is spread over the pieces of a stream, or written in a way in which it cannot be replaced.
    """
    found: list[str] = []

    def clean(text: str) -> str:
        text, kinds = cleaned(text, known)
        found.extend(kinds)
        return text

    request, kinds = cleaned_value(interaction.request, known)
    scrubbed = replace(
        interaction,
        uri=clean(_plain_uri(without_account(interaction.uri, api), api)),
        request=request,
        headers={name: clean(value) for name, value in interaction.headers.items() if name in KEPT_HEADERS},
        body=b"".join(_cleaned_frames(interaction, clean)),
    )
    places = _joined(scrubbed)
    for text in (*map("".join, places), "".join(piece for pieces in places for piece in pieces)):
        if any(secret in text or secret in unquote(text) for secret in _long(known)):
            raise LeakError("the answer has the key in pieces, or in a form that cannot be written over")
    for kind in (kind for pieces in places if len(pieces) > 1 for kind in secrets.masked("".join(pieces))[1]):
        raise LeakError(f"the answer has {kind} in pieces, over several frames of the stream")
    return Scrubbed(scrubbed, tuple(found + kinds))


def _cleaned_frames(interaction: Interaction, clean: Callable[[str], str]) -> Iterator[bytes]:
    """Yield an answer without secrets. Where frames have checksums, each is cleaned by itself and made anew."""
    if isinstance(interaction.framing, AwsEventStream):
        yield from (_cleaned_message(frame, clean) for frame in interaction.frames)
    else:
        yield _cleaned_bytes(interaction.body, clean)


def _cleaned_message(message: bytes, clean: Callable[[str], str]) -> bytes:
    try:
        headers, payload = aws_parts(message)
    except ValueError:  # it broke off there, or is of another form
        return _cleaned_payload(message, clean)
    made = {name: clean(value) for name, value in headers.items()}
    told = (_cleaned_chunk if headers.get(":event-type") == "chunk" else _cleaned_bytes)(payload, clean)
    return message if (made, told) == (headers, payload) else aws_message(made, told)


def _cleaned_chunk(payload: bytes, clean: Callable[[str], str]) -> bytes:
    try:
        fields, data = aws_chunk(payload)
    except ValueError:
        return _cleaned_payload(payload, clean)
    made = json.loads(clean(json.dumps({**fields, "bytes": ""})))
    told = aws_chunk_payload(made, _cleaned_bytes(data, clean))
    same = json.loads(told) == fields and _cleaned_bytes(payload, clean) == payload
    return payload if same else told


def _cleaned_payload(spoilt: bytes, clean: Callable[[str], str]) -> bytes:
    """Return what cannot be taken apart without secrets. Raises LeakError where its base64 has one, or is none."""
    if any(_cleaned_bytes(data, clean) != data for _, data in _texts(spoilt)[1:]):
        raise LeakError("the answer has a secret in base64, in a message that is cut off or spoilt")
    return _cleaned_bytes(spoilt, clean)


def _cleaned_bytes(told: bytes, clean: Callable[[str], str]) -> bytes:
    return clean(told.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def cleaned(text: str, known: Iterable[str]) -> tuple[str, list[str]]:
    """Return a text without secrets, known ones and what looks like one, and what they were."""
    found: list[str] = []
    for form in _forms(known):
        text, count = form.subn(lambda match: secrets.mask(len(match[0])), text)
        found += [SENT] * bool(count)
    text, kinds = secrets.masked(text)
    return text, found + kinds


def cleaned_value(value: Any, known: Collection[str]) -> tuple[Any, list[str]]:
    """Return a JSON value without secrets in any of its texts, and what they were."""
    if isinstance(value, str):
        return cleaned(value, known)
    if isinstance(value, Mapping):
        pairs = [(cleaned(str(key), known), cleaned_value(inner, known)) for key, inner in value.items()]
        return {key[0]: inner[0] for key, inner in pairs}, [kind for pair in pairs for part in pair for kind in part[1]]
    if isinstance(value, list | tuple):
        parts = [cleaned_value(inner, known) for inner in value]
        return [part[0] for part in parts], [kind for part in parts for kind in part[1]]
    return value, []


def without_account(uri: str, api: Api) -> str:
    """Return a URI with zeros in the place of what names an account: `{account_id}` in the row's base URLs."""
    for base in api.base_urls:
        host, _, path = base.partition("://")[2].partition("/")
        parts = re.split(r"\{\w+\}", f"{host}/{path}" if "{" in host else path)
        pattern = "([^/?]+)".join(map(re.escape, parts))
        if len(parts) > 1 and (match := re.search(pattern, uri)):
            for number in range(len(parts) - 1, 0, -1):
                start, end = match.span(number)
                uri = uri[:start] + "0" * (end - start) + uri[end:]
            return uri
    return uri


def _plain_uri(uri: str, api: Api) -> str:
    """Return a URI with no more of a query than the API's own path has: a key may stand there."""
    place = api.place(uri)
    if place is None:
        return uri
    path, own = place.path.partition("?")[0], place.template.partition("?")[2]
    return f"{place.base_url}{path}?{own}" if own else f"{place.base_url}{path}"


def _long(known: Iterable[str]) -> list[str]:
    """Return the secrets that can be looked for, the longest first: one may begin with another."""
    return sorted({each.strip() for each in known if len(each.strip()) >= _SHORTEST}, key=len, reverse=True)


def _forms(known: Iterable[str]) -> Iterator[re.Pattern[str]]:
    """Yield how a secret may be written: as it is, in JSON, in a URL, in base64 wherever it begins."""
    for secret in _long(known):
        for form in dict.fromkeys((secret, json.dumps(secret)[1:-1], json.dumps(secret)[1:-1].replace("/", "\\/"))):
            yield re.compile(re.escape(form))
        yield re.compile(re.escape(quote(secret, safe="")), re.IGNORECASE)
        for shift in range(3):
            core = re.escape(_core(secret.encode("utf-8"), shift))
            either = core.replace(r"\+", "[+-]").replace("/", "[/_]")
            yield re.compile(rf"[\w+/-]?{either}[\w+/-]?={{0,2}}", re.ASCII)


def _core(secret: bytes, shift: int) -> str:
    """Return the part of a secret's base64 that is the same whatever stands around it."""
    whole = base64.b64encode(b"\0" * shift + secret).decode("ascii")
    first = -(-shift * 8 // 6)
    return whole[first : (shift + len(secret)) * 8 // 6]


def _joined(interaction: Interaction) -> list[list[str]]:
    """Return what an answer says at each of its places, frame by frame, and all that is no JSON."""
    texts: dict[str, list[str]] = {}
    for part in interaction.frames:
        for path, data in _told(interaction.framing, part):
            try:
                _collect(json.loads(data), path, texts)
            except (ValueError, RecursionError):
                texts.setdefault("", []).append((data or part).decode("utf-8", "replace"))
    return list(texts.values())


def _told(framing: Framing | None, part: bytes) -> Iterable[tuple[str, bytes]]:
    if isinstance(framing, AwsEventStream):
        return _texts(part)
    return [("", framing.data(part) if framing else part)]


def _texts(message: bytes) -> list[tuple[str, bytes]]:
    try:
        return list(aws_texts(message))
    except ValueError as error:
        raise LeakError(f"what is cut off or spoilt of a stream may hide anything: {error}") from error


def _collect(value: Any, path: str, texts: dict[str, list[str]]) -> None:
    if isinstance(value, str):
        texts.setdefault(path, []).append(value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _collect(inner, f"{path}/{key}", texts)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, f"{path}/[]", texts)
