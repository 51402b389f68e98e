"""The models of an API in the provider table. Every generated call names one of them."""

from __future__ import annotations

import functools

from llm_conformance.contract.call import ThinkProfile
from llm_conformance.wire.providers.api import Api


@functools.cache
def models(api: Api, profile: ThinkProfile = "off", speaks: bool = False) -> tuple[str, ...]:
    """Return the models of an API that have the think profile. `speaks` says whether they speak.

    Only the provider table decides which models think between tags. Models of the same family may do so at other APIs.
    """
    return tuple(
        model
        for model in _unprompted(api)
        if api.think_profile(model) == profile
        and (model in api.speaking_models) == speaks
        and (profile == "off" or api.stated_profile(model) is not None)
    )


@functools.cache
def reasoning_models(api: Api) -> tuple[str, ...]:
    """Return the models of an API that show reasoning in a field of its own.

    Their think profile makes no difference: beside reasoning in a field, think tags are text.
    """
    return tuple(model for model in _unprompted(api) if model not in (*api.plain_models, *api.speaking_models))


@functools.cache
def models_with_blank_blocks(api: Api, profile: ThinkProfile) -> tuple[str, ...]:
    """Return an API's models that have a think profile and may send a blank think block."""
    return tuple(model for model in api.models if model in api.blank_blocks and api.stated_profile(model) == profile)


def _unprompted(api: Api) -> tuple[str, ...]:
    """Return the models of an API without those that are drawn only for blank think blocks."""
    return tuple(model for model in api.models if not api.blank_blocks.get(model))


def answers_plainly(api: Api) -> bool:
    """Return True if an API, or one of its backends, has a model that answers without think tags."""
    return bool(models(api) or reasoning_models(api))


@functools.cache
def profiles(api: Api) -> tuple[ThinkProfile, ...]:
    """Return the think profiles of an API's models, those with think tags first."""
    return tuple(profile for profile in ("leading", "prefilled", "anywhere", "off") if models(api, profile))
