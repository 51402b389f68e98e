"""Find and hide what looks like a secret: API keys, bearer tokens, cookies, account ids, e-mail addresses.

Only the forms of the providers' credentials are matched. Long random texts are not enough: signatures of thinking
blocks, encrypted search results and base64 audio are long and random, too, and belong in a cassette.
"""

from __future__ import annotations

import bisect
import functools
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping

# If a pattern has a group, only the group is the secret. A repetition is bounded if it could make matching slow.
_PATTERNS = {
    "an API key": re.compile(
        r"(?<![A-Za-z0-9])(?:sk|pk|rk|xai|gsk|csk|hf|r8|pplx|tgp|fw)[-_](?:[A-Za-z0-9]{1,40}[-_]){0,6}[A-Za-z0-9]{16,}"
    ),
    "a Google API key": re.compile(r"\bAIza[0-9A-Za-z_-]{30,}"),
    "an AWS key": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "a token of a code host or a chat": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|xox[abprs]-[A-Za-z0-9-]{10,})"),
    "a private key": re.compile(
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[^-]{0,20000}-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
    ),
    "a bearer token": re.compile(r"\bBearer\s+[A-Za-z0-9._~+/-]{12,}"),
    "a JSON web token": re.compile(r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\."),
    "an organisation or project id": re.compile(r"\b(?:org|proj)-[A-Za-z0-9]{16,}"),
    "an AWS account": re.compile(  # but not the example accounts of AWS's documentation
        r"\barn(?::|%3A)aws[a-z-]{0,20}(?::|%3A)[a-z0-9-]{1,40}(?::|%3A)[a-z0-9-]{0,30}(?::|%3A)"
        r"((?!0{12}|123456789012|111122223333)[0-9]{12})(?![0-9])",
        re.IGNORECASE,
    ),
    "an e-mail address": re.compile(r"\b[\w.+-]{1,64}@(?!example\.)[\w-]{1,63}\.[A-Za-z]{2,}\b"),
}
# Headers of a cassette. Texts in answers are indented further.
_HEADERS = re.compile(
    r"^ {0,7}(authorization|x-api-key|api-key|cookie|set-cookie|openai-organization)\s*:", re.I | re.M
)


def scan(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, kind) for everything in a cassette that looks like a secret; lines count from 1."""
    yield from scan_text(text)
    ends = _line_ends(text)
    for match in _HEADERS.finditer(text):
        yield bisect.bisect_left(ends, match.start(1)) + 1, f"the header {match[1].lower()}"


def scan_text(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, kind) like `scan`, for a text without headers."""
    ends = _line_ends(text)
    for kind, pattern in _PATTERNS.items():
        for match in pattern.finditer(text):
            yield bisect.bisect_left(ends, match.start()) + 1, kind


def _line_ends(text: str) -> list[int]:
    return [match.start() for match in re.finditer("\n", text)]


_KEY_VARIABLES = re.compile(r"(?:^|_)(?:API_?KEY|ACCESS_KEY(?:_ID)?|TOKEN|SECRET|PASSWORD|PAT)$", re.IGNORECASE)
_SHORTEST = 8


def of_environment() -> list[str]:
    """Return the values of environment variables that are named like keys, the longest first."""
    values = {value.strip() for name, value in os.environ.items() if _KEY_VARIABLES.search(name)}
    return sorted(filter(may_be_real, values), key=len, reverse=True)


def may_be_real(credential: str) -> bool:
    """Return True unless a credential is a placeholder, such as `dummy`, `REDACTED` or `test-key`.

    Placeholders have no digit or fewer than eight code points. They would be found in any text.
    """
    return len(credential) >= _SHORTEST and any(each.isdigit() for each in credential)


_PART = 8
"""The length in code points of a part of a key that is as secret as the key. Providers show four at most."""
_PUBLIC = re.compile(r"\A(?:[a-z]{1,8}[0-9]{0,2}[-_])*(?:eyJ[\w-]*\.)?", re.ASCII)
"""The beginnings that many users' keys share: `sk-proj-`, `sk-ant-api03-`, the first third of a JSON web token."""
_MARKER = "T3BlbkFJ"
"""The middle of all OpenAI keys: "OpenAI" in base64."""
_TELLING = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9]{4})(?![A-Z]?[a-z]*[0-9]*(?![A-Za-z0-9]))(?![A-Z]+[0-9]*(?![A-Za-z0-9]))"
)
"""The beginning of four or more letters and digits that are neither a word, nor a number, nor a word and a number."""


@functools.cache
def parts_of(key: str) -> frozenset[str]:
    """Return all runs of eight code points of a key that give something of it away.

    Beginnings that other keys share are left out, and so are words and numbers, which would be found in any text.
    """
    start = _PUBLIC.match(key).end()  # type: ignore[union-attr]  # it matches at least ""
    windows = {key[at : at + _PART] for at in range(start, len(key) - _PART + 1)}
    return frozenset(part for part in windows if _TELLING.search(part) and part != _MARKER)


def spans_of(parts: Collection[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each place where a text consists of parts of a key."""
    start = end = -1
    for at in _starts_of(parts, text):
        if at > end:
            if end > 0:
                yield start, end
            start = at
        end = at + _PART
    if end > 0:
        yield start, end


_PIECE = 4
"""The length of a piece in code points.

A part of a key has pieces at five positions in a row. So to find a part in a text, it is enough to look for pieces at
every fifth position.
"""


def _starts_of(parts: Collection[str], text: str) -> Iterator[int]:
    """Yield where a text has one of the parts. Most texts have none, so only every fifth position is checked first."""
    pieces = _pieces_of(frozenset(parts))
    step = _PART - _PIECE + 1
    near = [at for at in range(0, len(text) - _PIECE + 1, step) if text[at : at + _PIECE] in pieces] if pieces else []
    for found in near:
        for at in range(max(0, found - step + 1), found + 1):
            if text[at : at + _PART] in parts:
                yield at


@functools.lru_cache(maxsize=8)
def _pieces_of(parts: frozenset[str]) -> frozenset[str]:
    return frozenset(part[at : at + _PIECE] for part in parts for at in range(_PART - _PIECE + 1))


def hide(text: str) -> str:
    """Return a text with everything that looks like a secret replaced by its kind, such as `[an API key]`.

    This includes the keys in the environment, whatever their form, and parts of these keys.
    """
    return hider()(text)


def hider() -> Callable[[str], str]:
    """Return a function like `hide` for many texts, which reads the keys in the environment only once."""
    keys = of_environment()
    parts = frozenset[str]().union(*map(parts_of, keys))

    def hidden(text: str) -> str:
        for key in keys:
            text = text.replace(key, "[a key of the environment]")
        for start, end in reversed(list(spans_of(parts, text))):
            text = f"{text[:start]}[a part of a key]{text[end:]}"
        for kind, pattern in _PATTERNS.items():
            text = pattern.sub(f"[{kind}]", text)
        return text

    return hidden


def masked(text: str) -> tuple[str, list[str]]:
    """Return (text with everything that looks like a secret overwritten, kinds of these secrets).

    The text keeps its length, so that offsets into it stay valid.
    """
    found: list[str] = []
    for kind, pattern in _PATTERNS.items():
        text, count = pattern.subn(_mask_of, text)
        found += [kind] * count
    return text, found


def _mask_of(match: re.Match[str]) -> str:
    kept = match.start(match.lastindex or 0) - match.start()
    return match[0][:kept] + mask(len(match[0]) - kept)


def mask(length: int) -> str:
    """Return `length` code points that do not look like a secret."""
    return ("redacted." * length)[:length]


def without_credentials(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers without those that have credentials or name an account."""
    return {name: value for name, value in headers.items() if not _HEADERS.match(f"{name}:")}
