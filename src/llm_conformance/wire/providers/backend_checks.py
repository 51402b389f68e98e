"""Check the backends of an API: each has only what the row has, and together they have everything that it has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from llm_conformance.toml_files import Where
from llm_conformance.wording import did_you_mean

_TABLES = {"ids": "form", "varies": "way"}


def backend_problems(columns: Mapping[str, Any]) -> Iterator[tuple[Where, str]]:
    """Yield (path of the column, message) for each problem with the backends of an API."""
    backends = columns.get("backends", {})
    for name, backend in backends.items():
        for number, model in enumerate(backend.get("models", ())):
            yield from _unknown(("backends", name, "models", number), "model", model, columns.get("models", {}))
        for column, kind in _TABLES.items():
            known = columns.get(column, {})
            for key, stated in backend.get(column, {}).items():
                if key not in known:
                    message = f"the row of the API has no {column}.{key}{did_you_mean(key, known)}"
                    yield ("backends", name, column, key), message
                    continue
                for number, each in enumerate(stated):
                    yield from _unknown(("backends", name, column, key, number), kind, each, known[key])
    for column in ("statuses", "stream_errors"):
        for number, error in enumerate(columns.get(column, ())):
            if "backend" in error and error["backend"] not in backends:
                hint = did_you_mean(error["backend"], backends)
                yield (column, number, "backend"), f"{error['backend']!r} is not one of the backends{hint}"
    if backends:
        yield from _of_no_backend(columns, backends)


def _of_no_backend(columns: Mapping[str, Any], backends: Mapping[str, Any]) -> Iterator[tuple[Where, str]]:
    """Yield a problem for what the row has and no backend has, because no answer would be generated with it."""
    if all("models" in backend for backend in backends.values()):
        had = {model for backend in backends.values() for model in backend["models"]}
        for model in columns.get("models", {}):
            if model not in had:
                yield ("models", model), "no backend has this model; add it to one"
    for column, kind in _TABLES.items():
        for key, known in columns.get(column, {}).items():
            stated = [backend.get(column, {}).get(key) for backend in backends.values()]
            missing = [each for each in known if all(some is not None and each not in some for some in stated)]
            for each in missing:
                where = (column, key, each) if isinstance(known, Mapping) else (column, key)
                yield where, f"no backend has the {kind} {each!r}; add it to one"


def _unknown(where: Where, kind: str, name: str, known: Collection[str]) -> Iterator[tuple[Where, str]]:
    if name not in known:
        yield where, f"{name!r} is not a {kind} of the row of the API{did_you_mean(name, known)}"
