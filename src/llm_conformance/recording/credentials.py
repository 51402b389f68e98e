"""The credentials in the requests of a cassette.

A provider's answer may repeat them. The import can only remove credentials that it knows.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from llm_conformance import secrets, yaml_files
from llm_conformance.scenarios.recorders import files, forms

_HEADERS = re.compile(r"authorization|cookie|.*[-_]?(?:key|token|secret|signature)", re.IGNORECASE)
_PARAMETERS = re.compile(r".*(?:key|token|secret|sig|signature|password)", re.IGNORECASE)
_FIELDS = re.compile(
    r"(?:.*_)?(?:api_?key|access_?key|(?:access|auth|bearer|session)_?token|secret|password)", re.IGNORECASE
)
"""Fields of a request's body with credentials.

The values of other fields that end in `key` or `token` are names, not secrets (`prompt_cache_key`).
"""


def sent(path: Path) -> frozenset[str]:
    """Return the keys, tokens and passwords in the requests of any recorder's file. Raises BadFileError."""
    try:
        document = files.parse(path, yaml_files.read_text(path))
    except yaml_files.RefusedError:
        return frozenset()  # such a file is not imported
    recorded = forms.interactions_of(document)
    pairs = [pair for pair in recorded if isinstance(pair, Mapping)] if isinstance(recorded, list) else []
    requests = (pair["request"] for pair in pairs if isinstance(pair.get("request"), Mapping))
    return frozenset(each for request in requests for each in _of_request(request) if secrets.may_be_real(each))


def _of_request(request: Mapping[str, Any]) -> Iterator[str]:
    with contextlib.suppress(ValueError):  # a body that cannot be decoded; the headers are still read
        request = forms.in_the_form_of_vcrpy({"request": request})["request"]
    headers = request.get("headers")
    for name, values in headers.items() if isinstance(headers, Mapping) else ():
        if _HEADERS.fullmatch(str(name)):
            for value in values if isinstance(values, list) else [values]:
                yield from _parts(str(value))
    yield from _of_url(str(request.get("uri", "")))
    with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):  # not JSON
        body: Any = request.get("body")
        yield from _of_body(json.loads(body["string"] if isinstance(body, Mapping) else body))


def _of_body(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if isinstance(inner, str) and _FIELDS.fullmatch(str(name)):
                yield inner
            yield from _of_body(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _of_body(inner)


def _parts(value: str) -> Iterator[str]:
    """Yield the value of a header and the words in it: `Bearer KEY`, `name=KEY; other=KEY`."""
    yield value
    yield from re.split(r"[\s;,=]+", value)


def _of_url(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    yield from (value for name, value in parse_qsl(parts.query) if _PARAMETERS.fullmatch(name))
    yield from (unquote(part) for part in (parts.username, parts.password) if part)
