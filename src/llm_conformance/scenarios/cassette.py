"""Read and write cassettes: recorded HTTP conversations in the format of vcrpy.

This module does not use vcrpy, for two reasons. vcrpy's reader resolves the YAML aliases and dates of an untrusted
file, and importing vcrpy takes longer than reading all cassettes of a provider. The tests compare this module with
vcrpy.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from llm_conformance import limits, schema, yaml_files
from llm_conformance.scenarios.recorders import files, forms
from llm_conformance.wire.framings.registry import content_type_of
from llm_conformance.wire.interaction import Interaction
from llm_conformance.yaml_files import BadFileError, FileProblem

_VERSION = 1
"""The version of vcrpy's format."""


@dataclass(frozen=True)
class Cassette:
    """A cassette file: its text, its metadata and its interactions in order."""

    path: Path
    text: str = field(repr=False)
    metadata: Mapping[str, Any]
    interactions: tuple[Interaction, ...]

    @property
    def grounds(self) -> str | None:
        """The strongest evidence that the provider sends such bytes; None for a generated cassette.

        For a cassette that was recorded, transcribed or edited, this is `recording`, unless the cassette says
        otherwise.
        """
        assumed = None if self.metadata["provenance"] == "generated" else "recording"
        grounds: str | None = self.metadata.get("grounds", assumed)
        return grounds


@dataclass(frozen=True)
class BareInteraction:
    """An interaction of a cassette that this suite did not write.

    `fidelity` says what the recorder altered (`llm_conformance.scenarios.bare_expected`).
    """

    interaction: Interaction
    fidelity: str


@dataclass(frozen=True)
class Unreadable:
    """An interaction or a whole cassette that this suite cannot read; `why` is the reason."""

    why: str


NO_RECORDER = "they are in the form of no recorder"


class NoRecordingsError(Exception):
    """A file that could have had recordings has none; the message says why."""


def load(path: Path, check_form: bool = True) -> Cassette:
    """Read a cassette of this suite. With `check_form`, validate it against its schema.

    Raises BadFileError with every problem of the file.
    """
    text, document = _read(path, "cassette" if check_form else None)
    try:
        interactions = tuple(map(_interaction, document["interactions"]))
    except (ValueError, RecursionError) as error:
        raise BadFileError(FileProblem(path, 1, f"a recorded request body is not a JSON object: {error}")) from error
    if too_large := list(_too_large(path, text, interactions)):
        raise BadFileError(*too_large)
    return Cassette(path, text, document["metadata"], interactions)


def _too_large(path: Path, text: str, interactions: Iterable[Interaction]) -> Iterator[FileProblem]:
    for number, each in enumerate(interactions):
        if what := each.too_large:
            line = yaml_files.line_of(text, ("interactions", number, "response", "body"))
            yield FileProblem(path, line, f"{what}; shorten the recording")


def load_bare(path: Path, fidelity: str | None = None) -> tuple[Mapping[str, Any], list[BareInteraction | Unreadable]]:
    """Return the metadata and the interactions of any recorder's file, with decompressed bodies.

    `fidelity` is the fidelity of a cassette that does not state its own. Raises BadFileError for a damaged cassette,
    and NoRecordingsError for a file that is probably not a cassette.
    """
    text = yaml_files.read_text(path)
    is_of_recorder = files.is_always_a_cassette(path) or forms.looks_recorded(text)
    if not is_of_recorder:
        raise NoRecordingsError(NO_RECORDER)
    try:
        document = files.parse(path, text)
    except yaml_files.RefusedError as refused:
        if not forms.looks_recorded(text):
            raise
        return {}, [Unreadable(refused.problems[0].message)]
    found = forms.interactions_of(document)
    if found is None and not files.is_always_a_cassette(path):
        raise NoRecordingsError(NO_RECORDER)
    document = document if found is None else {**document, "interactions": found}
    problems = schema.file_problems("bare-cassette", path, text, document)
    if problems:
        raise BadFileError(*problems)
    if not found:
        raise NoRecordingsError("they have no interactions")
    if len(found) > limits.INTERACTIONS:
        what = f"has {len(found):,} interactions; at most {limits.INTERACTIONS:,} are allowed, split the file"
        raise BadFileError(FileProblem(path, 1, what))
    metadata = document.get("metadata") or {}
    return metadata, list(_bare_interactions(found, metadata.get("fidelity") or fidelity))


def _bare_interactions(pairs: Iterable[Any], fidelity: Any) -> Iterator[BareInteraction | Unreadable]:
    left = limits.BODIES
    for pair in pairs:
        found = _bare_interaction_or_why(pair, fidelity) if left > 0 else Unreadable(_BODIES)
        left -= len(found.interaction.body) if isinstance(found, BareInteraction) else 0
        yield found if left > 0 else Unreadable(_BODIES)


_BODIES = f"the bodies up to here are larger than {limits.BODIES // 2**20} MiB when they are unpacked"


def save(path: Path, metadata: Mapping[str, Any], interactions: Iterable[Interaction]) -> None:
    """Write a new cassette, with text bodies as readable blocks. Raises FileExistsError if the file exists."""
    document = {
        "version": _VERSION,
        "metadata": dict(metadata),
        "interactions": [_as_vcrpy_writes(interaction) for interaction in interactions],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(yaml.dump(document, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=10**9))


def digest(interactions: Iterable[Interaction]) -> str:
    """Return a SHA-256 over the bodies, in their order."""
    total = hashlib.sha256()
    for interaction in interactions:
        total.update(hashlib.sha256(interaction.body).digest())
    return f"sha256:{total.hexdigest()}"


def _read(path: Path, form: str | None) -> tuple[str, Any]:
    text = yaml_files.read_text(path)
    document = yaml_files.parse(path, text)
    problems = schema.file_problems(form, path, text, document) if form else []
    if problems:
        raise BadFileError(*problems)
    return text, document


def _interaction(pair: Mapping[str, Any]) -> Interaction:
    request, response = pair["request"], pair["response"]
    sent = json.loads(request["body"] or "{}")
    if not isinstance(sent, dict):
        raise ValueError("an object was expected")
    return Interaction(
        uri=request["uri"],
        request=sent,
        status=response["status"]["code"],
        headers=_headers(response["headers"]),
        body=_bytes("the body", response["body"]["string"]),
    )


def _bare_interaction_or_why(pair: Any, stated_fidelity: Any) -> BareInteraction | Unreadable:
    try:
        fidelity = str(stated_fidelity or _fidelity(pair))
        pair = forms.in_the_form_of_vcrpy(pair)
        for where, message in schema.problems("bare-cassette#/$defs/interaction", pair):
            return Unreadable(f"{schema.dotted(where)}: {message}")
        interaction = _bare_interaction(pair)
        return Unreadable(interaction.too_large) if interaction.too_large else BareInteraction(interaction, fidelity)
    except (ValueError, TypeError, RecursionError) as error:
        return Unreadable(f"an interaction of another form: {error}")


def _fidelity(pair: Any) -> str:
    """Return the fidelity of an interaction whose cassette states none.

    Recorders that write a `parsed_body` replace typographic quotation marks in it. That shifts offsets.
    """
    response = pair.get("response") if isinstance(pair, Mapping) else None
    return "json-asciified" if isinstance(response, Mapping) and "parsed_body" in response else "raw"


def _bare_interaction(pair: Mapping[str, Any]) -> Interaction:
    request, response = pair["request"], pair["response"]
    sent = request.get("body")
    sent = _bytes("the request body", sent.get("string") if isinstance(sent, Mapping) else sent)
    request_json = {}
    with contextlib.suppress(ValueError):
        request_json = json.loads(sent)
    recorded = {name.lower(): value for name, value in (response.get("headers") or {}).items()}
    headers = _headers(recorded)
    body = _bytes("the body", response["body"].get("string"))
    if _joined(recorded.get("content-encoding", "")) in ("gzip", "deflate"):
        with contextlib.suppress(zlib.error):  # vcrpy may have decompressed the body and kept the header
            body = files.decompressed(body)
    elif "content-encoding" in recorded:
        _expect_text(body, _joined(recorded["content-encoding"]))
    headers["content-type"] = content_type_of(headers.get("content-type", ""), body)
    is_post = request.get("method", "POST").upper() == "POST"
    return Interaction(
        uri=request["uri"],
        request=request_json if isinstance(request_json, dict) and is_post else {},
        status=response["status"]["code"],
        headers=headers,
        body=body,
    )


def _expect_text(body: bytes, encoding: str) -> None:
    """Raise ValueError if a body is still compressed because the suite does not read its encoding."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        if encoding.lower() not in ("", "identity"):
            raise ValueError(f"a body compressed with {encoding[:20]!r}") from None


def _bytes(what: str, recorded: Any) -> bytes:
    if not isinstance(recorded, str | bytes | None):
        raise ValueError(f"{what} is neither text nor bytes")
    return recorded.encode("utf-8") if isinstance(recorded, str) else recorded or b""


def _headers(recorded: Mapping[str, str | list[str]]) -> dict[str, str]:
    """Return the headers without content-encoding and content-length; the body is stored decompressed."""
    headers = {name.lower(): _joined(value) for name, value in recorded.items()}
    return {name: value for name, value in headers.items() if name not in ("content-encoding", "content-length")}


def _joined(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _as_vcrpy_writes(interaction: Interaction) -> dict[str, Any]:
    return {
        "request": {
            "method": "POST",
            "uri": interaction.uri,
            "body": json.dumps(interaction.request, ensure_ascii=False),
            "headers": {"content-type": ["application/json"]},
        },
        "response": {
            "status": {"code": interaction.status, "message": "OK" if interaction.status == 200 else ""},
            "headers": {name: [value] for name, value in interaction.headers.items()},
            "body": {"string": _text_if_utf8(interaction.body)},
        },
    }


def _text_if_utf8(body: bytes) -> str | bytes:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body


class _Dumper(yaml.SafeDumper):
    """The safe dumper, which writes text of several lines as a literal block."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


# YAML readers disagree on whether these characters break a line. Only a quoted, escaped form is exact.
_UNSAFE_BARE = frozenset("\x85\u2028\u2029\ufeff")


def _literal(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if _UNSAFE_BARE & set(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _literal)
