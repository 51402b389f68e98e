"""The models of a row: every generated call names one that this provider has."""

from __future__ import annotations

from collections.abc import Iterator

from llm_conformance.contract.call import ThinkProfile
from llm_conformance.wire.providers.api import Api


def models(api: Api, profile: ThinkProfile = "off", speaks: bool = False) -> tuple[str, ...]:
    """Return the models of an API that have a think profile. Models that speak are apart."""
    return tuple(
        model
        for model in api.models
        if api.think_profile(model) == profile and (model in api.speaking_models) == speaks
    )


def reasoning_models(api: Api) -> tuple[str, ...]:
    """Return the models of an API that show reasoning in a field of its own.

    Their think profile makes no difference: beside such reasoning, think tags are text.
    """
    return tuple(model for model in api.models if model not in (*api.plain_models, *api.speaking_models))


def profiles(api: Api) -> Iterator[ThinkProfile]:
    """Yield each think profile that a model of an API has, once."""
    yield from dict.fromkeys(api.think_profile(model) for model in api.models if model not in api.speaking_models)
