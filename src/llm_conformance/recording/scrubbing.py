"""Remove keys, accounts, cookies and addresses from an interaction before it is written.

Of the headers, only allowed ones are kept. A URL loses its user and all query parameters but the API's own.
Everywhere else, three kinds of secrets are masked: known secrets (the key and the account of the request) in all forms
(plain, JSON, URL, base64), parts of keys in plain form, and everything that looks like a secret. A mask is as long as
the secret, so that offsets into a text and the framing of a stream stay right. If a secret cannot be masked, nothing is
written.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlsplit

from llm_conformance import secrets
from llm_conformance.recording.hidden import Finder, Piece, by_place, core_of_base64, places_of, texts_in
from llm_conformance.wire.framings.base import Clean, cleaned_text
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api

KEPT_HEADERS = frozenset({"content-type", "retry-after", "request-id", "x-request-id"})
SENT = "a key or an account of the request"


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
    scrubbed, kinds = _scrubbed(interaction, api, Finder(known))
    if kinds:  # masked pieces of a secret may hide the rest from the search; so search without masking them
        _scrubbed(interaction, api, Finder(known, only_whole=True))
    several = ("".join(pieces) for pieces in by_place(_places(scrubbed)).values() if len(pieces) > 1)
    for kind in (kind for text in several for kind in secrets.masked(text)[1]):
        raise LeakError(f"the response has {kind} in pieces, over several frames of the stream")
    return Scrubbed(scrubbed, tuple(kinds))


def _scrubbed(interaction: Interaction, api: Api, finder: Finder) -> tuple[Interaction, list[str]]:
    """Return (interaction with masks, kinds of masked secrets). Raises LeakError for a secret that cannot be masked."""
    found: list[str] = []

    def clean(text: str) -> str:
        text, kinds = _cleaned(text, finder)
        found.extend(kinds)
        return text

    request, kinds = _cleaned_value(interaction.request, finder)
    scrubbed = replace(
        interaction,
        uri=clean(_plain_uri(without_account(interaction.uri, api), api)),
        request=request,
        headers={name: clean(value) for name, value in interaction.headers.items() if name in KEPT_HEADERS},
        body=_cleaned_body(interaction, clean),
    )
    body = [("", scrubbed.body.decode("latin-1"))]  # raw, because parsed JSON lacks parts, such as a repeated key
    beside = list(texts_in([scrubbed.uri, scrubbed.request, scrubbed.headers]))
    if any(map(finder.finds, (_places(scrubbed), body, beside))):
        raise LeakError("the response has the key in pieces, or in a form that cannot be masked")
    return scrubbed, found + kinds


def _cleaned_body(interaction: Interaction, clean: Clean) -> bytes:
    if interaction.framing is None:
        return cleaned_text(interaction.body, clean)
    try:
        return interaction.framing.cleaned(interaction.body, clean)
    except ValueError as error:
        raise LeakError(f"an incomplete or corrupt part of the stream may hide a secret: {error}") from error


def cleaned(text: str, known: Collection[str]) -> tuple[str, list[str]]:
    """Return (text with known and likely secrets masked, kinds of masked secrets)."""
    return _cleaned(text, Finder(known))


def _cleaned(text: str, finder: Finder) -> tuple[str, list[str]]:
    found: list[str] = []
    lower = text.lower()
    for form in itertools.chain.from_iterable(map(_forms, finder.whole)):
        if any(each in lower for each in form.literals):
            text, count = form.pattern.subn(lambda match: secrets.mask(len(match[0])), text)
            found += [SENT] * bool(count)
    if finder.only_whole:
        return text, found
    for start, end in secrets.spans_of(finder.parts, text):
        text = text[:start] + secrets.mask(end - start) + text[end:]
        found.append(SENT)
    text, kinds = secrets.masked(text)
    return text, found + kinds


def cleaned_value(value: Any, known: Collection[str]) -> tuple[Any, list[str]]:
    """Return (JSON value with secrets in its texts and keys masked, kinds of masked secrets).

    Raises:
        LeakError: The value has a secret in a form that cannot be masked.
    """
    finder = Finder(known)
    result, kinds = _cleaned_value(value, finder)
    if finder.finds(list(texts_in(result))):
        raise LeakError("the scenario has the key in a form that cannot be masked")
    return result, kinds


def _cleaned_value(value: Any, finder: Finder) -> tuple[Any, list[str]]:
    if isinstance(value, str):
        return _cleaned(value, finder)
    if isinstance(value, Mapping):
        pairs = [(_cleaned(str(key), finder), _cleaned_value(inner, finder)) for key, inner in value.items()]
        return {key[0]: inner[0] for key, inner in pairs}, [kind for pair in pairs for part in pair for kind in part[1]]
    if isinstance(value, list | tuple):
        parts = [_cleaned_value(inner, finder) for inner in value]
        return [part[0] for part in parts], [kind for part in parts for kind in part[1]]
    return value, []


def without_account(uri: str, api: Api) -> str:
    """Return a URI with zeros in place of the account (`{account_id}` in the provider table)."""
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
    """Return a URI without a user and without query parameters other than the API's own. These may contain a key."""
    place = api.place(uri)
    if place is None:
        parts = urlsplit(uri)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    path, own = place.path.partition("?")[0], place.template.partition("?")[2]
    return f"{place.base_url}{path}?{own}" if own else f"{place.base_url}{path}"


@dataclass(frozen=True)
class _Form:
    """A way to write a secret: its pattern, and lower-case texts. Each match has one of them; they are fast to find."""

    pattern: re.Pattern[str]
    literals: tuple[str, ...]


@functools.cache
def _forms(secret: str) -> tuple[_Form, ...]:
    """Return the forms of a secret: plain, JSON, URL, and base64 at each of the three alignments."""
    in_json = json.dumps(secret)[1:-1]
    forms = [(re.compile(re.escape(form)), form) for form in (secret, in_json, in_json.replace("/", "\\/"))]
    in_url = quote(secret, safe="")
    forms.append((re.compile(re.escape(in_url), re.IGNORECASE), in_url))
    found = [_Form(pattern, (form.lower(),)) for pattern, form in forms]
    for shift in range(3):
        core = core_of_base64(secret.encode("utf-8"), shift)
        either = re.escape(core).replace(r"\+", "[+-]").replace("/", "[/_]")
        pattern = re.compile(rf"[\w+/-]?{either}[\w+/-]?={{0,2}}", re.ASCII)
        lower = core.lower()
        found.append(_Form(pattern, (lower, lower.replace("+", "-").replace("/", "_"))))
    return tuple(found)


def _places(interaction: Interaction) -> list[Piece]:
    try:
        return list(places_of(interaction.framing, interaction.frames))
    except ValueError as error:
        raise LeakError("an incomplete or corrupt part of the stream may hide a secret") from error
