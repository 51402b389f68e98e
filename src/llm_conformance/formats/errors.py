"""Write the errors of the provider table into responses, and recognise them in responses."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.formats.gateways import GATEWAYS, Gateway
from llm_conformance.pointers import placed
from llm_conformance.wire import answers
from llm_conformance.wire.framings.aws_event_stream import AwsEventStream
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.errors import PLACEHOLDERS, StatusError, StreamError, filled, fits

_OPEN = {name: name for name in PLACEHOLDERS - {"$type", "$code", "$status"}}


def error_body(api: Api, error: StatusError, values: Mapping[str, Any]) -> Any:
    """Return the body of an error as a JSON value. The error gives type and code; `values` has the rest."""
    code = error.status if error.code is None and api.error_code == "number" else error.code
    known = {"$type": error.type or None, "$code": code, "$status": error.status, **values}
    template = error.body or api.error_body
    if template:
        return filled(template, known)
    body: Any = {}
    for name, path in api.error.items():
        if known[f"${name}"] is not None:
            body = placed(body, f"/{path}", known[f"${name}"])
    return body


def known_error(api: Api, interaction: Interaction) -> StatusError | StreamError | Gateway | None:
    """Return the error in a response; None if it is an answer or an unknown error."""
    if interaction.status == 200 and interaction.streamed:
        return _stream_error(api, interaction)
    sent = interaction.status, interaction.headers.get("content-type", ""), interaction.body
    with contextlib.suppress(ValueError):
        body = json.loads(interaction.body)
        same_status = (each for each in api.statuses if each.status == interaction.status)
        fitting = (each for each in same_status if fits(error_body(api, each, _OPEN), body))
        own = next((each for each in fitting if _has_headers(interaction, each)), None)
        if own is not None:
            return own
    return next((each for each in GATEWAYS if (each.status, each.content_type, each.body) == sent), None)


def _has_headers(interaction: Interaction, error: StatusError) -> bool:
    """Return True if a response has the headers that the error is known to have."""
    stated = {"content-type": "application/json", **error.headers}
    sent = dict(interaction.headers)
    if ";" not in stated["content-type"] and "content-type" in sent:
        sent["content-type"] = sent["content-type"].partition(";")[0]
    return all(sent.get(name, value) == value for name, value in stated.items())


def _stream_error(api: Api, interaction: Interaction) -> StreamError | None:
    templates = [(each, _as_document(api, each)) for each in api.stream_errors]
    found = (
        error
        for document, framed in _documents(interaction)
        for error, template in templates
        if error.framed == framed and fits(template, document)
    )
    return next(found, None)


def _as_document(api: Api, error: StreamError) -> Any:
    template = json.loads(error.data)
    return {error.event: template} if error.event and isinstance(api.framing, AwsEventStream) else template


def _documents(interaction: Interaction) -> Iterator[tuple[Any, bool]]:
    """Yield (document, True) for each frame of a stream, and (document, False) for JSON between frames."""
    with contextlib.suppress(ValueError):
        yield from ((document, True) for document in answers.documents(interaction))
    for frame in interaction.frames:
        with contextlib.suppress(ValueError):
            yield json.loads(frame), False
