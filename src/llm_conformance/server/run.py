"""Ask a server, or read its recordings."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from llm_conformance import secrets
from llm_conformance.server import plan, recordings
from llm_conformance.server.apis.known import APIS
from llm_conformance.server.client import Client, NoAnswerError
from llm_conformance.server.conversations import CAPABILITIES
from llm_conformance.server.plan import Request, Target
from llm_conformance.server.recordings import TARGET, Recording
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from llm_conformance.yaml_files import BadFileError, FileProblem

_FIRST = "plain"


class NoServerError(Exception):
    """There is no server at the URL, or it refuses the simplest request; the message says what to do."""


def api_of(target: Target) -> Api:
    """Return the row of the provider table for the scrubbing of a server's recordings."""
    return table()[APIS[target.api].row]


def url_of(target: Target) -> str:
    """Return the URL to which requests are sent."""
    return target.url.rstrip("/") + APIS[target.api].path


def ask(
    target: Target,
    requests: Sequence[Request],
    client: Client,
    done: Callable[[Recording], object] = lambda _: None,
) -> list[Recording]:
    """Send the requests one after the other. Return the answers without secrets.

    Raises:
        NoServerError: There is no connection, or the server does not answer the simplest request. A wrong URL, model or
            key is then likely, and would look like many faults.
    """
    known = [*([client.key] if client.key else []), *secrets.of_environment()]
    kept: list[Recording] = []
    for request in requests:
        try:
            raw = client.ask(request)
        except NoAnswerError as error:
            raise NoServerError(f"{target.url}: {error}") from error
        recording = recordings.recorded(request, client.url, raw, api_of(target), known)
        if request.conversation.id == _FIRST and not kept and raw.status != 200:
            location = secrets.hide(_without(known, raw.headers.get("location", "")))
            raise NoServerError(_first_refused(target, recording, location))
        kept.append(recording)
        done(recording)
    return kept


def _without(known: Sequence[str], text: str) -> str:
    """Return a text with asterisks in place of secrets."""
    for secret in known:
        text = text.replace(secret, "***")
    return text


def _first_refused(target: Target, answer: Recording, location: str) -> str:
    """Return how the server refused the simplest request, and what to do. `ask` has removed the secrets."""
    if answer.status == 0:
        why = f" within {answer.milliseconds} ms" if answer.ended == "open" else f" that is HTTP ({answer.ended})"
        tls = "; if it does not speak TLS, it is at http:// instead" if target.url.startswith("https:") else ""
        return f"{target.url} answers the simplest request with nothing{why}{tls}"
    start = secrets.hide(" ".join(answer.body[:300].decode("utf-8", "replace").split())) or answer.hidden
    advice = {
        401: "name the environment variable with the key by --key-env",
        403: "name the environment variable with the key by --key-env",
        404: f"the path or the model ({target.model}) may be wrong",
    }.get(answer.status, "")
    if 300 <= answer.status < 400:
        advice = f"it redirects to {location[:200] or 'no place'}, and no key follows; name that URL"
    got = f"{target.url} answers the simplest request with status {answer.status}" + (f": {start}" if start else "")
    return got + (f"; {advice}" if advice else "")


def save_target(folder: Path, target: Target) -> None:
    """Write the server of the recordings into their folder. Raises OSError."""
    document = {
        "url": target.url,
        "api": target.api,
        "model": target.model,
        "capabilities": sorted(target.claims),
    }
    (folder / TARGET).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def load_target(folder: Path) -> Target:
    """Return the server whose recordings a folder has. Raises BadFileError."""
    path = folder / TARGET
    try:
        document: dict[str, Any] = json.loads(path.read_text("utf-8"))
        claims = frozenset(document["capabilities"])
        if document["api"] not in APIS or not claims <= CAPABILITIES.keys():
            raise ValueError("an unknown format or capability")
        return Target(document["url"], document["api"], document["model"], claims)
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"is not what `llm-conformance server --keep` writes ({type(error).__name__}: {error})"
        raise BadFileError(FileProblem(path, 1, message)) from error


def recordings_of(folder: Path, target: Target) -> list[Recording]:
    """Return the recordings in a folder, in the order in which they were asked.

    Raises BadFileError if there are none, or if one is of an unknown conversation.
    """
    known = {each.id for each in plan.selected(target.api, ())}
    found = list(recordings.load(folder))
    if not found:
        raise BadFileError(FileProblem(folder, 1, "has no recordings"))
    for each in found:
        if each.conversation not in known:
            path = folder / f"{each.name}{recordings.SUFFIX}"
            raise BadFileError(FileProblem(path, 1, f"is of an unknown conversation, {each.conversation}"))
    return sorted(found, key=lambda each: plan.place(target.api, each.label, each.mode))


def tokens(requests: Collection[Request]) -> int:
    """Return the highest number of tokens that all answers may have together."""
    return sum(each.tokens * (2 if each.cancels else 1) for each in requests)


def calls(requests: Collection[Request]) -> int:
    """Return the number of requests that are sent, including dropped requests."""
    return sum(2 if each.cancels else 1 for each in requests)
