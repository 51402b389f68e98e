"""Convert the files of other recorders to the form of vcrpy.

| recorder | a document has | an interaction has |
|---|---|---|
| vcrpy | `interactions` | `uri`, `body: {string}`, `status: {code}`; in old files `content`, `status_code` |
| LangChain | `requests` and `responses` | the same |
| Ruby's and R's VCR | `http_interactions` | the same; bodies also as `base64_string`, `raw_gzip` (base64) |
| go-vcr | `interactions` | `url`, `body` as text, `code` |
| Polly.js, browsers | `log: {entries}` (HAR) | `url`, `postData`, `content: {text, encoding}`, lists of headers |
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from llm_conformance.scenarios.recorders.files import decompressed

_HEX = frozenset("0123456789abcdef")


_KEYS = re.compile(
    r"""^(?:(?:http_)?interactions|requests)\s*:|["'](?:(?:http_)?interactions|log)["']\s*:""", re.MULTILINE
)


def looks_recorded(text: str) -> bool:
    """Return True if a text contains a key that recorders write. The text need not be valid YAML or JSON."""
    return _KEYS.search(text) is not None


def interactions_of(document: Any) -> Any:
    """Return the interactions of a document, unconverted; None if no recorder writes such documents."""
    if not isinstance(document, Mapping):
        return None
    log = document.get("log")
    if isinstance(log, Mapping) and "entries" in log:
        return log["entries"]
    return document.get("interactions", document.get("http_interactions", _paired(document)))


def _paired(document: Mapping[str, Any]) -> Any:
    """Return requests and responses as pairs. LangChain writes them as two lists."""
    requests, responses = document.get("requests"), document.get("responses")
    if not isinstance(requests, list) or not isinstance(responses, list) or len(requests) != len(responses):
        return None
    return [{"request": request, "response": response} for request, response in zip(requests, responses, strict=True)]


def in_the_form_of_vcrpy(pair: Any) -> Any:
    """Return an interaction of any recorder, with URL, status, headers and bodies in the places of today's vcrpy.

    Parts in an unknown form stay unchanged. Raises ValueError for a body that cannot be decoded.
    """
    if not isinstance(pair, Mapping):
        return pair
    return {
        **pair,
        **{name: _side(pair[name]) for name in ("request", "response") if isinstance(pair.get(name), Mapping)},
    }


def _side(side: Mapping[str, Any]) -> Mapping[str, Any]:
    moved = {"uri": side["url"]} if "url" in side else {}
    moved |= _status(side)
    if "headers" in side:
        moved["headers"] = _headers(side["headers"])
    body = _body(side)
    return {**side, **moved, **({} if body is None else {"body": body})}


def _status(side: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the status in vcrpy's form. Other recorders have a number, or a text beside a number."""
    stated = side.get("status")
    if isinstance(stated, Mapping):
        code = stated.get("code", stated.get("status_code"))
        return {"status": {**stated, "code": int(code) if isinstance(code, str) and code.isdecimal() else code}}
    code = next((side[name] for name in ("status_code", "code") if name in side), stated)
    return {} if code is None else {"status": {"code": code}}


def _headers(headers: Any) -> Any:
    """Return headers as texts by name. HAR lists names and values, and YAML turns some values into numbers."""
    if isinstance(headers, Sequence) and not isinstance(headers, str | bytes):
        named: dict[str, list[str]] = {}
        for each in headers:
            if isinstance(each, Mapping) and isinstance(each.get("name"), str):
                named.setdefault(each["name"], []).append(_text(each.get("value")))
        return named
    if not isinstance(headers, Mapping):
        return headers
    return {
        name: [_text(each) for each in value] if isinstance(value, list) else _text(value)
        for name, value in headers.items()
    }


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else "" if value is None else str(value)


def _body(side: Mapping[str, Any]) -> Any:
    """Return the body as an object with a `string`; None if there is no body or if it already has this form."""
    if "parsed_body" in side:
        return {"string": json.dumps(side["parsed_body"], ensure_ascii=False)}
    for name in ("body", "content", "postData"):
        if name in side:
            given = side[name]
            if isinstance(given, Mapping):
                return _decoded(given)
            is_plain = isinstance(given, str | bytes) or name == "content"
            return {"string": given} if is_plain else given
    return None


def _decoded(body: Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(body.get("raw_gzip"), str | bytes):
        return {"string": _unpacked(_from_base64(body["raw_gzip"]))}
    if isinstance(body.get("base64_string"), str | bytes):
        return {"string": _from_base64(body["base64_string"])}
    if "string" in body or "text" not in body:
        return body
    return {"string": _of_har(body["text"], is_base64=body.get("encoding") == "base64")}


def _unpacked(body: bytes) -> bytes:
    try:
        return decompressed(body)
    except zlib.error as error:
        raise ValueError(f"a body that is not compressed with gzip: {error}") from error


def _of_har(text: Any, *, is_base64: bool) -> Any:
    """Decode the text of a HAR entry. Polly.js writes compressed bodies as a list of chunks in hex or base64."""
    chunks = _chunks(text) if isinstance(text, str) else None
    if chunks:
        is_hex = not is_base64 and all(_HEX.issuperset(chunk) for chunk in chunks)
        return b"".join(bytes.fromhex(chunk) if is_hex else _from_base64(chunk) for chunk in chunks)
    return _from_base64(text) if is_base64 and isinstance(text, str) else text


def _chunks(text: str) -> list[str] | None:
    """Return the chunks in a text; None if the text itself is an answer. No provider answers with a list of texts."""
    if not text.startswith('["'):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if all(isinstance(each, str) for each in value) else None


def _from_base64(text: str | bytes) -> bytes:
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"a body that is not base64: {error}") from error
