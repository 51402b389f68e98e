"""The point of a scenario: which of its claims a recording has to show.

A recording always has to show what the answer has and how it ends, the order, the body of an error, unusual ways of
writing the bytes, and the parts of earlier answers in the request. Words from closed lists, fields that a read rule
reads, and counts belong to the point if they are rare both in the API and in its format: if fewer than a quarter, or
fewer than three, of the scenarios there have them. Another field belongs to the point if at most two scenarios of the
format have it, or if it is rare and the name, title or notes mention it. Letters, white space, tags, spans, arguments,
models, JSON, zeros and missing parts belong to the point if the name or the title mentions them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tools.promote.claims import Claim, Claims, Kind

_ALWAYS: frozenset[Kind] = frozenset({"answer", "error", "request", "bytes"})
_UNLESS_COMMON: frozenset[Kind] = frozenset({"word", "field", "count"})
_COMMON = 4
"""A claim is common if at least one in this many scenarios has it."""
_ENOUGH = 3
"""A claim that fewer scenarios have is unusual."""
_SPEAKS: Mapping[Kind, str] = {
    "letters": r"emoji|ascii|unicode|letter|byte|umlaut|separator|character|code point",
    "white space": r"space|newline|blank|begins with|ends with",
    "tags": r"\btags?\b",
    "spans": r"overlap|same|repeat|identical|order|link|nowhere|outside|beginning|second|last|no text",
    "arguments": r"argument|input|empty|same|of one tool",
    "model": r"model|alias|deployment|version",
    "json": r"json|object|schema",
}
"""The words of a title that mention values of a kind."""
_ZEROS: Mapping[str, str] = {
    "cached_tokens": r"\bcached?\b|\bhits?\b",
    "cache_write_tokens": r"\bcache\b|\bwritten\b",
    "reasoning_tokens": r"(reason|think|thought).*counted|counted.*(reason|think|thought)",
}
"""The words of a title that mention that a count is 0, or not 0."""
_ZERO = r"\bzero\b|\b0\b|counted"
"""The words of a title that mention that any other count is 0, or not 0."""
_ABSENCE = r"without|\bno\b|empty|hidden|omit|absent|alone|only|nothing|none|before any|lack|instead|missing|never|cut"
_PARTS: Mapping[str, str] = {
    "text": r"text|answer|content|nothing",
    "reasoning": r"reason|thinking|thought|trace|summar",
    "calls": r"calls?\b",
    "citations": r"citation|annotation|source",
    "a refusal": "refusal",
    "media": "audio|image|media|speech",
    "sealed data": r"sign|seal|encrypt",
    "a finish word": r"finish|terminal|end|stop|done|cut",
    "counts": r"count|usage|tokens",
    "an error": "error",
    "an id": r"\bids?\b",
    "a model": "model",
}
"""The words of a title that mention a part of the answer."""


@dataclass
class Scenarios:
    """The scenarios of an API, or of a wire format, in one mode: how many there are, and how many have each claim."""

    number: int = 0
    counts: Counter[Claim] = field(default_factory=Counter)

    def add(self, claims: Claims) -> None:
        """Count a scenario."""
        self.number += 1
        self.counts.update(claims.all)

    def has_often(self, claim: Claim) -> bool:
        """Return True if a claim is common among the scenarios."""
        return self.counts[claim] >= max(_ENOUGH, self.number / _COMMON)


def point(claims: Claims, title: str, notes: str, alike: Iterable[Scenarios]) -> Claims:
    """Return the claims that a recording has to show.

    `title` is the name and the title of the scenario. `alike` has the scenarios of its API, and those of its format.
    """
    alike, title = list(alike), title.lower()
    spoken = f"{title} {notes.lower()}"
    kept = (each for each in claims.all if _counts(each, title, spoken, alike))
    return Claims(frozenset(kept), claims.orders, claims.unsent)


def _counts(claim: Claim, title: str, spoken: str, alike: Iterable[Scenarios]) -> bool:
    if claim.kind in _ALWAYS:
        return True
    if claim.kind in _UNLESS_COMMON:
        return not any(each.has_often(claim) for each in alike)
    if claim.kind == "further field":
        is_usual = any(each.counts[claim] >= _ENOUGH for each in alike)
        return not is_usual or (_is_named(claim, title, spoken) and not any(each.has_often(claim) for each in alike))
    if claim.kind == "absence":
        part = claim.text.partition(" without ")[2]
        return bool(re.search(_ABSENCE, title) and re.search(_PARTS[part], title))
    if claim.kind == "zero":
        return re.search(_ZEROS.get(claim.text.partition(" ")[0], _ZERO), title) is not None
    return re.search(_SPEAKS[claim.kind], title) is not None


def _is_named(claim: Claim, title: str, spoken: str) -> bool:
    """Return True if a scenario mentions a field: its name, or all words of the name."""
    path = re.sub(r"\[.*?\]", "", re.split(": | = ", claim.text)[0])
    name = path.rpartition("/")[2]
    words = set(re.findall("[a-z]+", re.sub("([a-z])([A-Z])", r"\1 \2", name).lower()))
    if len(words) == 1:
        return re.search(rf"\b{re.escape(name.lower())}\b", title) is not None
    return name.lower() in spoken or words <= set(re.findall("[a-z]+", title))
