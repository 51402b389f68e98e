"""SRV-6 and SRV-7: JSON mode and JSON schemas."""

from __future__ import annotations

import json
from typing import Any

from llm_conformance import schema
from llm_conformance.compare import show
from llm_conformance.rules.violation import Vacuous, fail
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule

_APIS = ("chat", "responses", "ollama")
_FILTERED = "content_filter"


@rule("SRV-6", harm="wrong", needs=("json",), apis=_APIS)
def json_mode_gives_json(exchange: Exchange) -> None:
    """In JSON mode the text of an answer that is not cut off is a JSON object.

    Programs that ask for JSON mode parse the text.

    Source: https://platform.openai.com/docs/api-reference/chat/create ("response_format": "enables JSON mode, which
    ensures the message the model generates is valid JSON");
    https://platform.openai.com/docs/api-reference/responses/create ("text.format"); https://github.com/ollama/ollama/blob/main/docs/api.md
    ("When format is set to json, the output will always be a well-formed JSON object").
    """
    if not exchange.api.asks_for_json(exchange.request):
        raise Vacuous("the request does not ask for it")
    _json_object(exchange)


@rule("SRV-7", harm="wrong", needs=("json_schema",), apis=_APIS)
def schema_is_kept(exchange: Exchange) -> None:
    """With a strict JSON schema, the text of an answer that is not cut off is JSON that is valid against the schema.

    Programs that give a schema read the text without checks of their own.

    Source: https://platform.openai.com/docs/guides/structured-outputs ("ensures the model will always generate
    responses that adhere to your supplied JSON Schema"); https://docs.ollama.com/capabilities/structured-outputs
    ("enforce a JSON schema on model responses").
    """
    given = exchange.api.schema_asked(exchange.request)
    if given is None:
        raise Vacuous("the request does not ask for it")
    value = _json_object(exchange)
    for where, message in schema.violations(schema.of(given), value):
        fail("JSON of the given schema", f"{schema.dotted(where) if where else 'the text'}: {message}")


def _json_object(exchange: Exchange) -> dict[str, Any]:
    """Return the text as a JSON object. Raises Vacuous if the documentation allows another text here."""
    answer = exchange.answer
    if answer.is_cut:
        raise Vacuous("the limit on tokens has cut the answer off")
    if answer.is_refusal or _FILTERED in answer.finish:
        raise Vacuous("the model refuses to answer, or a filter has cut the answer off")
    try:
        value = json.loads(answer.text)
    except (ValueError, RecursionError):
        fail("JSON", show(answer.text))
    if not isinstance(value, dict):
        fail("a JSON object", show(answer.text))
    return value
