"""Load the provider table: one TOML file a provider, one table in it an API."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from typing import Any

from llm_conformance.locations import PROVIDERS
from llm_conformance.wire.providers.api import POLICIES, Api, Place, RoundTrip


@functools.cache
def table() -> Mapping[tuple[str, str], Api]:
    """Return all APIs by (provider, name)."""
    apis = (
        _api(file.removesuffix(".toml"), name, columns)
        for file, document in _documents().items()
        for name, columns in document["api"].items()
    )
    return {(api.provider, api.name): api for api in apis}


def recognise(uri: str) -> tuple[Api, Place] | None:
    """Return the API that a recorded request was made to; None if the table has none."""
    for api in table().values():
        place = api.place(uri)
        if place is not None:
            return api, place
    return None


@functools.cache
def _documents() -> Mapping[str, Mapping[str, Any]]:
    return {path.name: tomllib.loads(path.read_text("utf-8")) for path in sorted(PROVIDERS.glob("*.toml"))}


def _api(provider: str, name: str, stated: Mapping[str, Any]) -> Api:
    stated = {**_inherited(stated), **stated}
    columns: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in stated.items() if key != "like"
    }
    columns["usage"] = {count: tuple(pointers) for count, pointers in stated["usage"].items()}
    columns["finish"] = {word: reason or None for word, reason in stated["finish"].items()}
    columns["round_trip"] = RoundTrip(
        **stated["round_trip"] | {"fields": tuple(stated["round_trip"].get("fields", ()))}
    )
    columns.setdefault("stream_path", stated["path"])
    made = Api(provider=provider, name=name, **columns)
    if made.round_trip.policy not in POLICIES:
        raise ValueError(f"{made}: no such round-trip policy: {made.round_trip.policy}")
    return made


def _inherited(stated: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the columns of the API that this one is `like`."""
    if "like" not in stated:
        return {}
    provider, name = stated["like"].split(":")
    other: Mapping[str, Any] = _documents()[f"{provider}.toml"]["api"][name]
    return {**_inherited(other), **other}
