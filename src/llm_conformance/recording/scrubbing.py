"""Removing keys, accounts, cookies and addresses from an interaction before it is written.

Only allowed headers are kept, and of a URL the path and the query parameters of the API itself. Elsewhere known secrets
(the key and the account of the request) are masked in every form that they may have (plain, JSON, URL, base64), and so
is everything that looks like a secret. A mask has the length of the secret, so that offsets into a text and the framing
of a stream stay right. If a secret cannot be masked, nothing is written.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, unquote

from llm_conformance import secrets
from llm_conformance.wire.framings.base import Clean, Framing, cleaned_text
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api

KEPT_HEADERS = frozenset({"content-type", "retry-after", "request-id", "x-request-id"})
SENT = "a key or an account of the request"
_SHORTEST = 6
"""In code points. Shorter known secrets are not looked for, as they would be found in ordinary words."""


class LeakError(Exception):
    """The response has a secret that cannot be masked; the message says where."""


@dataclass(frozen=True)
class Scrubbed:
    """An interaction without secrets, and the kinds of secrets that were masked."""

    interaction: Interaction
    masked: tuple[str, ...]


def scrub(interaction: Interaction, api: Api, known: Collection[str] = ()) -> Scrubbed:
    """Return the interaction without secrets.

    Args:
        interaction: The request and the response.
        api: The API that was called.
        known: Secrets of the request.

    Raises:
        LeakError: A secret is spread over several frames of a stream, or has a form that cannot be masked.
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
        body=_cleaned_body(interaction, clean),
    )
    places = _joined(scrubbed)
    for text in (*map("".join, places), "".join(piece for pieces in places for piece in pieces)):
        if any(secret in text or secret in unquote(text) for secret in _long(known)):
            raise LeakError("the response has the key in pieces, or in a form that cannot be masked")
    for kind in (kind for pieces in places if len(pieces) > 1 for kind in secrets.masked("".join(pieces))[1]):
        raise LeakError(f"the response has {kind} in pieces, over several frames of the stream")
    return Scrubbed(scrubbed, tuple(found + kinds))


def _cleaned_body(interaction: Interaction, clean: Clean) -> bytes:
    if interaction.framing is None:
        return cleaned_text(interaction.body, clean)
    try:
        return interaction.framing.cleaned(interaction.body, clean)
    except ValueError as error:
        raise LeakError(f"an incomplete or corrupt part of the stream may hide a secret: {error}") from error


def cleaned(text: str, known: Iterable[str]) -> tuple[str, list[str]]:
    """Return a text without known secrets and what looks like one, and the kinds of what was masked."""
    found: list[str] = []
    for form in _forms(known):
        text, count = form.subn(lambda match: secrets.mask(len(match[0])), text)
        found += [SENT] * bool(count)
    text, kinds = secrets.masked(text)
    return text, found + kinds


def cleaned_value(value: Any, known: Collection[str]) -> tuple[Any, list[str]]:
    """Return a JSON value without secrets in its strings, and the kinds of what was masked."""
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
    """Return a URI with zeros instead of the account: `{account_id}` in the base URLs of the provider table."""
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
    """Return a URI with only the query parameters of the API's path; others may contain a key."""
    place = api.place(uri)
    if place is None:
        return uri
    path, own = place.path.partition("?")[0], place.template.partition("?")[2]
    return f"{place.base_url}{path}?{own}" if own else f"{place.base_url}{path}"


def _long(known: Iterable[str]) -> list[str]:
    """Return the secrets that are long enough, longest first, as one may begin with another."""
    return sorted({each.strip() for each in known if len(each.strip()) >= _SHORTEST}, key=len, reverse=True)


def _forms(known: Iterable[str]) -> Iterator[re.Pattern[str]]:
    """Yield a pattern for each form of a secret: plain, JSON, URL, and base64 at each of the three alignments."""
    for secret in _long(known):
        for form in dict.fromkeys((secret, json.dumps(secret)[1:-1], json.dumps(secret)[1:-1].replace("/", "\\/"))):
            yield re.compile(re.escape(form))
        yield re.compile(re.escape(quote(secret, safe="")), re.IGNORECASE)
        for shift in range(3):
            core = re.escape(_core(secret.encode("utf-8"), shift))
            either = core.replace(r"\+", "[+-]").replace("/", "[/_]")
            yield re.compile(rf"[\w+/-]?{either}[\w+/-]?={{0,2}}", re.ASCII)


def _core(secret: bytes, shift: int) -> str:
    """Return the part of a secret's base64 that does not depend on the bytes around it."""
    encoded = base64.b64encode(b"\0" * shift + secret).decode("ascii")
    first = -(-shift * 8 // 6)
    return encoded[first : (shift + len(secret)) * 8 // 6]


def _joined(interaction: Interaction) -> list[list[str]]:
    """Return, for each JSON path, its strings frame by frame; what is not JSON is under the path ""."""
    texts: dict[str, list[str]] = {}
    for part in interaction.frames:
        for path, data in _parts(interaction.framing, part):
            try:
                _collect(json.loads(data), path, texts)
            except (ValueError, RecursionError):
                texts.setdefault("", []).append((data or part).decode("utf-8", "replace"))
    return list(texts.values())


def _parts(framing: Framing | None, part: bytes) -> list[tuple[str, bytes]]:
    try:
        return [("", part)] if framing is None else list(framing.texts(part))
    except ValueError as error:
        raise LeakError(f"an incomplete or corrupt part of the stream may hide a secret: {error}") from error


def _collect(value: Any, path: str, texts: dict[str, list[str]]) -> None:
    if isinstance(value, str):
        texts.setdefault(path, []).append(value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _collect(inner, f"{path}/{key}", texts)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, f"{path}/[]", texts)
