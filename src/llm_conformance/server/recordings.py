"""A server's answers, from which keys were removed, and the files that keep these answers.

A file is a VCR cassette in JSON with one interaction. Under `asked`, it has what a cassette has no place for.
`llm-conformance import` reads such files, so adapters can be judged by them, too.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance import schema
from llm_conformance.recording.scrubbing import SENT, LeakError, scrub
from llm_conformance.server.client import Raw
from llm_conformance.server.plan import Request
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError, FileProblem

SUFFIX = ".json"
TARGET = "server.json"
"""The file with the server and the capabilities that were claimed of it."""

ENCODING = "content-encoding"
_ENCODINGS = ("gzip", "x-gzip", "deflate", "compress", "x-compress", "br", "zstd", "dcb", "dcz")
"""The content codings of https://www.iana.org/assignments/http-parameters, except those for special formats."""


@dataclass(frozen=True)
class Recording:
    """A request and its answer without keys.

    Attributes:
        conversation: The id of the conversation.
        number: 1 for the first request; 2 for its repetition.
        request: The JSON body of the request.
        arrival: As in `Raw`.
        ended: As in `Raw`.
        repeats_key: Whether the answer contained the key. It is masked now.
        hidden: Why the answer is left out; "" if it is not left out. An answer is left out if it has the key and this
            cannot be masked. It is also left out if it is encoded, because nobody can then tell whether it has the key.
            An encoded answer is not decoded, because a few bytes may become gigabytes.
    """

    conversation: str
    mode: Mode
    number: int
    uri: str
    request: Mapping[str, Any]
    status: int
    headers: Mapping[str, str]
    body: bytes
    arrival: tuple[tuple[int, int], ...]
    ended: str
    milliseconds: int
    repeats_key: bool = False
    hidden: str = ""

    @property
    def label(self) -> str:
        """The conversation, with `#2` for the repetition."""
        return self.conversation + (f"#{self.number}" if self.number > 1 else "")

    @property
    def name(self) -> str:
        """The name of its file, without the suffix."""
        return f"{self.conversation}.{self.mode}" + (f".{self.number}" if self.number > 1 else "")


def recorded(request: Request, uri: str, raw: Raw, api: Api, known: Collection[str]) -> Recording:
    """Return an answer without secrets. `known` are the key and the secrets of the environment."""
    common: dict[str, Any] = {
        "conversation": request.conversation.id,
        "mode": request.mode,
        "number": request.number,
        "status": raw.status,
        "arrival": raw.arrival,
        "ended": raw.ended,
        "milliseconds": raw.milliseconds,
    }
    encoding = _encoding(raw.headers)
    whole = Interaction(uri, request.body, raw.status, raw.headers, b"" if encoding else raw.body)
    try:
        scrubbed = scrub(whole, api, known)
    except LeakError as error:
        bare = scrub(Interaction(uri, request.body, raw.status, {}, b""), api, known).interaction
        return Recording(uri=bare.uri, request=bare.request, headers={}, body=b"", hidden=str(error), **common)
    if encoding:
        common["hidden"] = f"it has the content encoding {encoding}, and the request accepts none"
    clean = scrubbed.interaction
    return Recording(
        uri=clean.uri,
        request=clean.request,
        headers={**clean.headers, **({ENCODING: encoding} if encoding else {})},
        body=clean.body,
        repeats_key=SENT in scrubbed.masked,
        **common,
    )


def _encoding(headers: Mapping[str, str]) -> str:
    """Return the first content coding that changes the body; "" for none. As in clients, unknown words are ignored."""
    words = (word.strip().lower() for word in headers.get(ENCODING, "").split(","))
    return next((word for word in words if word in _ENCODINGS), "")


def save(folder: Path, recording: Recording, api: Api) -> None:
    """Write a recording to a file in a folder. `llm-conformance import` will find `api` in the file. Raises OSError."""
    path = folder / f"{recording.name}{SUFFIX}"
    path.write_text(json.dumps(_document(recording, api), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _document(recording: Recording, api: Api) -> dict[str, Any]:
    try:
        body = {"string": recording.body.decode("utf-8")}
    except UnicodeDecodeError:
        body = {"base64_string": base64.b64encode(recording.body).decode("ascii")}
    asked = ("conversation", "mode", "number", "arrival", "ended", "milliseconds", "repeats_key", "hidden")
    return {
        "version": 1,
        "metadata": {"provider": api.provider, "api": api.name},
        "interactions": [
            {
                "request": {
                    "method": "POST",
                    "uri": recording.uri,
                    "body": json.dumps(recording.request, ensure_ascii=False),
                    "headers": {"content-type": ["application/json"]},
                },
                "response": {
                    "status": {"code": recording.status, "message": ""},
                    "headers": {name: [value] for name, value in recording.headers.items()},
                    "body": body,
                },
            }
        ],
        "asked": {name: getattr(recording, name) for name in asked},
    }


def load(folder: Path) -> Iterator[Recording]:
    """Yield the recordings in a folder, sorted by name. Raises BadFileError."""
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        if path.name != TARGET:
            try:
                found = _read(json.loads(path.read_text("utf-8")))
            except (OSError, ValueError, RecursionError) as error:
                message = f"is no recording of `llm-conformance server` ({type(error).__name__}: {error})"
                raise BadFileError(FileProblem(path, 1, message)) from error
            if path.stem != found.name:
                raise BadFileError(FileProblem(path, 1, f"is a recording of {found.name}, which its name must say"))
            yield found


def _read(document: Any) -> Recording:
    """Return the recording in a document. Raises ValueError if there is none."""
    for where, message in schema.problems("server-recording", document):
        raise ValueError(f"{schema.dotted(where) or 'the document'}: {message}")
    (pair,) = document["interactions"]
    request, response, asked = pair["request"], pair["response"], document["asked"]
    body, sent = response["body"], json.loads(request["body"])
    if not isinstance(sent, dict):
        raise ValueError("the body of the request is no JSON object")
    return Recording(
        uri=request["uri"],
        request=sent,
        status=response["status"]["code"],
        headers={name: ", ".join(values) for name, values in response["headers"].items()},
        body=base64.b64decode(body["base64_string"])
        if "base64_string" in body
        else body.get("string", "").encode("utf-8"),
        **{**asked, "arrival": tuple((size, at) for size, at in asked["arrival"])},
    )
