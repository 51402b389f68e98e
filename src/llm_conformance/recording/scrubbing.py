"""What must not reach the disk: keys, accounts, cookies, addresses.

Headers are kept by a list of those that are allowed. In URLs and bodies the secrets that are known (the key that was
sent, the account that was asked) are written over in every form that they may take, and so is everything that looks
like one. What stands there instead is as long, so that offsets into a text and the framing of a stream stay true.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import quote

from llm_conformance import derivation, secrets
from llm_conformance.cassette import Interaction
from llm_conformance.providers import Provider

KEPT_HEADERS = frozenset({"content-type", "retry-after", "request-id", "x-request-id"})
_SHORTEST = 6
"""Code points that a secret has to have to be looked for: a shorter one would be found in every other word."""


class LeakError(Exception):
    """A secret that cannot be written over without making another answer of it."""


@dataclass(frozen=True)
class Scrubbed:
    """An interaction without secrets, and what was written over, by kind."""

    interaction: Interaction
    found: tuple[str, ...]


def scrub(interaction: Interaction, row: Provider, known: Collection[str] = ()) -> Scrubbed:
    """Return an interaction that may be written.

    Args:
        interaction: What was sent and received.
        row: Whose API it is.
        known: Secrets that were part of the request.

    Raises:
        LeakError: A known secret is spread over the pieces of a stream, where nothing can be put in its place.
    """
    found: list[str] = []

    def clean(text: str) -> str:
        text, kinds = cleaned(text, known)
        found.extend(kinds)
        return text

    body = clean(interaction.body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    scrubbed = replace(
        interaction,
        uri=clean(without_account(interaction.uri, row)),
        request=json.loads(clean(json.dumps(interaction.request, ensure_ascii=False))),
        headers={name: clean(value) for name, value in interaction.headers.items() if name in KEPT_HEADERS},
        body=body,
    )
    for text in _texts(scrubbed, row):
        if any(form in text for form in _forms(known)) or secrets.masked(text)[1]:
            raise LeakError("the answer repeats a secret in pieces, over several frames of the stream")
    return Scrubbed(scrubbed, tuple(found))


def cleaned(text: str, known: Iterable[str]) -> tuple[str, list[str]]:
    """Return a text without secrets, known ones and what looks like one, and what they were."""
    found: list[str] = []
    for form in _forms(known):
        if form in text:
            text = text.replace(form, secrets.mask(len(form)))
            found.append("a key or an account that was sent")
    text, kinds = secrets.masked(text)
    return text, found + kinds


def without_account(uri: str, row: Provider) -> str:
    """Return a URI with zeros in the place of what names an account: `{account_id}` in the row's base URLs."""
    for base in row.base_urls:
        parts = re.split(r"\{\w+\}", base)
        if len(parts) > 1 and (match := re.match("([^/?]+)".join(map(re.escape, parts)), uri)):
            for number in range(len(parts) - 1, 0, -1):
                start, end = match.span(number)
                uri = uri[:start] + "0" * (end - start) + uri[end:]
            return uri
    return uri


def _forms(known: Iterable[str]) -> Iterator[str]:
    """Yield how a secret may be written: as it is, in JSON, in a URL, in base64 wherever it begins."""
    for secret in known:
        if len(secret) >= _SHORTEST:
            yield from {secret, json.dumps(secret)[1:-1], quote(secret, safe="")}
            yield from {_core(secret.encode("utf-8"), shift) for shift in range(3)}


def _core(secret: bytes, shift: int) -> str:
    """Return the part of a secret's base64 that is the same whatever stands around it."""
    whole = base64.b64encode(b"\0" * shift + secret).decode("ascii")
    first = -(-shift * 8 // 6)
    return whole[first : (shift + len(secret)) * 8 // 6]


def _texts(interaction: Interaction, row: Provider) -> Iterator[str]:
    """Yield what an answer says when its pieces are put together."""
    try:
        facts = derivation.derive(interaction, row)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return  # of no known shape, and so in no pieces that anybody would join
    yield from (facts.text, facts.reasoning, facts.refusal, *(call[2] for call in facts.tool_calls))
