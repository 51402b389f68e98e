"""Narrow an API to each of its backends, so that no generated answer mixes the ways of two backends.

    [api.chat.backends."llama.cpp"]
    source = "measured: 15 recordings"
    models = ["openai/gpt-oss-20b"]
    varies."reasoning fields" = ["reasoning_content"]

A generator gets a narrowed API. It does not know about backends.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.backend import Backend
from llm_conformance.wire.providers.errors import StatusError, StreamError

Failure = TypeVar("Failure", StatusError, StreamError)


@functools.cache
def backends(api: Api) -> Mapping[str, Api]:
    """Map the name of each backend to the API narrowed to this backend; {} if the row has no backends."""
    return {name: _narrowed(api, name, backend) for name, backend in api.backends.items()}


def _narrowed(api: Api, name: str, backend: Backend) -> Api:
    had = api.models if backend.models is None else backend.models
    models = {model: answered for model, answered in api.models.items() if model in had}
    varies = {
        variation: {way: ways[way] for way in backend.varies.get(variation, ways)}
        for variation, ways in api.varies.items()
    }
    further = {
        at: {**api.further.get(at, {}), **backend.further.get(at, {})} for at in {**api.further, **backend.further}
    }
    return replace(
        api,
        backends={},
        models=models,
        reasoning_fields=api.reasoning_fields if models.keys() - {*api.plain_models} else (),
        speaking_models=tuple(model for model in api.speaking_models if model in models),
        plain_models=tuple(model for model in api.plain_models if model in models),
        ids={kind: forms for kind, forms in {**api.ids, **backend.ids}.items() if forms},
        varies=varies,
        further=further,
        statuses=_of(name, api.statuses),
        stream_errors=_of(name, api.stream_errors),
    )


def _of(backend: str, errors: tuple[Failure, ...]) -> tuple[Failure, ...]:
    return tuple(error for error in errors if error.backend in ("", backend))
