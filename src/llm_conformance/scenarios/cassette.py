"""Cassettes: recorded HTTP conversations in vcrpy's format, read strictly and never changed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from vcr.request import Request
from vcr.serialize import deserialize, serialize

from llm_conformance import schema, yaml_files
from llm_conformance.wire.framings.registry import looks_like
from llm_conformance.wire.interaction import Interaction
from llm_conformance.yaml_files import BadFileError, FileProblem


@dataclass(frozen=True)
class Cassette:
    """A cassette file: its text, its metadata (provenance first of all) and its interactions in order."""

    path: Path
    text: str = field(repr=False)
    metadata: Mapping[str, Any]
    interactions: tuple[Interaction, ...]


def load(path: Path) -> Cassette:
    """Read a cassette of this suite. Raises BadFileError with every problem of the file."""
    text, document = _read(path, "cassette")
    requests, responses, metadata = deserialize(text, _Loaded(document))
    try:
        interactions = tuple(_interaction(*pair) for pair in zip(requests, responses, strict=True))
    except ValueError as error:
        raise BadFileError(FileProblem(path, 1, f"a recorded request body is not a JSON object: {error}")) from error
    return Cassette(path, text, metadata, interactions)


@dataclass(frozen=True)
class Unreadable:
    """An interaction, or a whole cassette, of a form that is not read; `why` says what is in the way."""

    why: str


def load_bare(path: Path) -> tuple[Mapping[str, Any], list[Interaction | Unreadable]]:
    """Return metadata and interactions of anybody's cassette: recorded by vcrpy or a kin of it, bodies unpacked.

    Raises BadFileError for a file that is none.
    """
    try:
        text, document = _read(path, "bare-cassette")
    except yaml_files.RefusedError as refused:
        if not re.search(r"^interactions:", yaml_files.read_text(path), re.MULTILINE):
            raise
        return {}, [Unreadable(refused.problems[0].message)]
    interactions = [_any_interaction(pair) for pair in document["interactions"]]
    # Who writes bodies anew for readers also straightens quotation marks, which moves what offsets count.
    assumed = {"fidelity": "json-asciified"} if "parsed_body" in text else {}
    return {**assumed, **(document.get("metadata") or {})}, interactions


def _any_interaction(pair: Any) -> Interaction | Unreadable:
    try:
        pair = _as_written_today(pair)
        for where, message in schema.problems("bare-cassette#/$defs/interaction", pair):
            return Unreadable(f"{schema.dotted(where)}: {message}")
        return _bare_interaction(pair)
    except (ValueError, TypeError, RecursionError) as error:
        return Unreadable(f"an interaction of another form: {error}")


def _as_written_today(pair: Any) -> Any:
    """Return an interaction with the status and the body where vcrpy has them, and not where others and it had them.

    For httpx it wrote `status_code` and `content` at first; recorders that care for readers write `parsed_body`.
    """
    if not isinstance(pair, Mapping):
        return pair
    return {name: _side(side) if isinstance(side, Mapping) else side for name, side in pair.items()}


def _side(side: Mapping[str, Any]) -> Mapping[str, Any]:
    moved: dict[str, Any] = {}
    if "status_code" in side:
        moved["status"] = {"code": side["status_code"]}
    if "parsed_body" in side:
        moved["body"] = {"string": json.dumps(side["parsed_body"], ensure_ascii=False)}
    elif "content" in side:
        moved["body"] = {"string": side["content"]}
    return {**moved, **side}


def _read(path: Path, form: str) -> tuple[str, Any]:
    text = yaml_files.read_text(path)
    document = yaml_files.parse(path, text)
    found = schema.file_problems(form, path, text, document)
    if found:
        raise BadFileError(*found)
    return text, document


def _bare_interaction(pair: Mapping[str, Any]) -> Interaction:
    request, response = pair["request"], pair["response"]
    sent = request.get("body")
    sent = _bytes("the request body", sent.get("string") if isinstance(sent, Mapping) else sent)
    asked = {}
    with contextlib.suppress(ValueError):
        asked = json.loads(sent)
    recorded = {name.lower(): value for name, value in (response.get("headers") or {}).items()}
    headers = _headers(recorded)
    body = _bytes("the body", response["body"].get("string"))
    if _first(recorded.get("content-encoding", "")) in ("gzip", "deflate"):
        with contextlib.suppress(zlib.error):  # vcrpy may have unpacked it, and left the header
            body = unpacked(body, yaml_files.MAX_BYTES)
    if "/" not in headers.get("content-type", ""):  # missing, or redacted by the recorder
        headers["content-type"] = looks_like(body)
    return Interaction(
        uri=request["uri"],
        request=asked if isinstance(asked, dict) and request.get("method", "POST").upper() == "POST" else {},
        status=response["status"]["code"],
        headers=headers,
        body=body,
    )


def _bytes(what: str, recorded: Any) -> bytes:
    if not isinstance(recorded, str | bytes | None):
        raise ValueError(f"{what} is neither text nor bytes")
    return recorded.encode("utf-8") if isinstance(recorded, str) else recorded or b""


def unpacked(body: bytes, most: int) -> bytes:
    """Return what was packed by gzip or deflate, so many bytes of it at `most`. Raises zlib.error."""
    return zlib.decompressobj(_ANY_WINDOW).decompress(body, most)


_ANY_WINDOW = 32 + zlib.MAX_WBITS
"""Has zlib find out by itself whether it is given gzip or deflate."""


class _Loaded:
    """A vcrpy serializer over a document that has been read already, by the strict reader."""

    def __init__(self, document: Any) -> None:
        self._document = document

    def deserialize(self, _text: str) -> Any:
        return self._document


def save(path: Path, metadata: Mapping[str, Any], interactions: Iterable[Interaction]) -> None:
    """Write a new cassette through vcrpy, text bodies as readable blocks. Raises FileExistsError; never overwrites."""
    pairs = [_vcr_pair(interaction) for interaction in interactions]
    document = {
        "requests": [request for request, _ in pairs],
        "responses": [response for _, response in pairs],
        "metadata": dict(metadata),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(serialize(document, _Readable))


def digest(interactions: Iterable[Interaction]) -> str:
    """Return a SHA-256 over bodies, in their order."""
    total = hashlib.sha256()
    for each in interactions:
        total.update(hashlib.sha256(each.body).digest())
    return f"sha256:{total.hexdigest()}"


def _vcr_pair(interaction: Interaction) -> tuple[Any, dict[str, Any]]:
    sent = json.dumps(interaction.request, ensure_ascii=False).encode("utf-8")
    request = Request("POST", interaction.uri, sent, {"content-type": "application/json"})
    response = {
        "status": {"code": interaction.status, "message": "OK" if interaction.status == 200 else ""},
        "headers": {name: [value] for name, value in interaction.headers.items()},
        "body": {"string": interaction.body},
    }
    return request, response


class _Readable:
    """A vcrpy serializer that writes text of several lines as a literal block, as far as YAML can."""

    @staticmethod
    def serialize(document: dict[str, Any]) -> str:
        ordered = {key: document[key] for key in ("version", "metadata", "interactions")}
        text: str = yaml.dump(ordered, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=10**9)
        return text


class _Dumper(yaml.SafeDumper):
    """The safe dumper, with literal blocks."""


# YAML readers take these for line breaks, or do not, and fold or indent them: only a quoted, escaped form is exact.
_UNSAFE_BARE = frozenset("\x85\u2028\u2029\ufeff")


def _literal(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if _UNSAFE_BARE & set(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _literal)


def _interaction(request: Any, response: Any) -> Interaction:
    sent = json.loads(request.body or b"{}")
    if not isinstance(sent, dict):
        raise ValueError("an object was expected")
    return Interaction(
        uri=request.uri,
        request=sent,
        status=response["status"]["code"],
        headers=_headers(response["headers"]),
        body=response["body"]["string"] or b"",
    )


def _headers(recorded: Mapping[str, str | list[str]]) -> dict[str, str]:
    """Return what is still true of an unpacked body: who believes in a packed one unpacks it again, in vain."""
    named = {name.lower(): _first(value) for name, value in recorded.items()}
    return {name: value for name, value in named.items() if name not in ("content-encoding", "content-length")}


def _first(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)
