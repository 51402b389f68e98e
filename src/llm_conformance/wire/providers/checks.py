"""Checks of a provider's file that `schemas/provider.schema.json` cannot make."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from llm_conformance import pointers
from llm_conformance.locations import FORMATS
from llm_conformance.toml_files import Where
from llm_conformance.wire.framings.registry import FRAMINGS
from llm_conformance.wire.paths import compiled
from llm_conformance.wire.providers import errors
from llm_conformance.wire.providers.backend_checks import backend_problems
from llm_conformance.wording import did_you_mean

Columns = Mapping[str, Any]

_FIELD_PATH = re.compile(r"[^/\s]+(/[^/\s]+)*")
_ID_FORM = re.compile(r"(\[[^\]]+\](\{\d+(,\d+)?\})?|\{name\}|\{number\}|\\.|[^\[\]{}()*+?|^$\\])*")
_COUNT_PATH = re.compile(r"-?[^-?/\s][^?/\s]*(/[^?/\s]+)*\??")


def problems(stated: Columns, inherited: Columns) -> Iterator[tuple[Where, str]]:
    """Yield (path of the column, message) for each problem with the columns that an API states."""
    columns = {**inherited, **stated}
    for where, message in _problems(columns):
        if where[0] in stated:
            yield where, message
        elif where[0] == "backends" and "backends" not in stated:
            yield ("like",), f"{'.'.join(map(str, where))}: {message}; state the backends, too"


def like_problem(api: str, apis: Mapping[str, Columns]) -> str | None:
    """Return what is wrong with the `like` of an API; None if it leads to an API without `like`.

    Args:
        api: The API, `provider:api`.
        apis: The stated columns of all APIs, by `provider:api`.
    """
    seen = [api]
    while "like" in apis[seen[-1]]:
        other = apis[seen[-1]]["like"]
        if other in seen:
            return f"{' is like '.join([*seen, other])}; one of them has to state its columns"
        if other not in apis:
            return f"no such API: {other!r}; write provider:api{did_you_mean(other, apis)}"
        seen.append(other)
    return None


def _problems(columns: Columns) -> Iterator[tuple[Where, str]]:
    yield from _unknown("wire", "wire format", columns["wire"], [path.parent.name for path in FORMATS.glob("*/*.json")])
    if "framing" in columns:
        yield from _unknown("framing", "framing", columns["framing"], [framing.name for framing in FRAMINGS])
    yield from _url_problems(columns)
    yield from _error_problems(columns)
    for name, path in columns["error"].items():
        if not _FIELD_PATH.fullmatch(path):
            yield (
                ("error", name),
                f"{path!r} is not a path of fields; write it as in error/message, without a / in front",
            )
    for count, paths in columns["usage"].items():
        for path in paths:
            if not _COUNT_PATH.fullmatch(path):
                yield (
                    ("usage", count),
                    f"{path!r} is not a path of fields; write it as in total, details/cached?, -input",
                )
    for number, pointer in enumerate(columns.get("switches", ())):
        if not pointers.is_well_formed(pointer):
            yield ("switches", number), f"{pointer!r} is not a JSON pointer; write it as in /thinking/type"
    yield from _drawing_problems(columns)
    round_trip = columns["round_trip"]
    slot, policy = round_trip["slot"], round_trip["policy"]
    if slot and not pointers.is_well_formed(slot):
        yield ("round_trip", "slot"), f"{slot!r} is not a JSON pointer; write it as in /reasoning_content"
    elif bool(slot) == (policy in ("none", "ignored")):
        what_to_do = "leave it empty" if slot else "name the place where the reasoning goes"
        yield ("round_trip", "slot"), f"{slot!r} does not fit the policy {policy!r}; {what_to_do}"


def _drawing_problems(columns: Columns) -> Iterator[tuple[Where, str]]:
    """Yield (path of the column, message) for each problem with the columns from which generated inputs are drawn."""
    for column in ("speaking_models", "plain_models"):
        for number, model in enumerate(columns.get(column, ())):
            if model not in columns.get("models", {}):
                yield (column, number), f"{model!r} is not one of the models; add it there, too"
    for model in columns.get("blank_blocks", {}):
        if model not in columns.get("models", {}):
            yield ("blank_blocks", model), f"{model!r} is not one of the models; add it there, too"
    for kind, forms in columns.get("ids", {}).items():
        for form in forms:
            if not _ID_FORM.fullmatch(form):
                yield ("ids", kind), f"{form!r} is not the form of an id; write it as in call_[A-Za-z0-9]{{24}}"
    for variation, ways in columns.get("way_params", {}).items():
        for way in ways:
            if way not in columns.get("varies", {}).get(variation, {}):
                message = f"the row of the API has no varies.{variation}.{way}; add it there, too"
                yield ("way_params", variation, way), message
    yield from _further_problems(columns)
    yield from backend_problems(columns)
    for name, backend in columns.get("backends", {}).items():
        yield from ((("backends", name, *where), message) for where, message in _further_problems(backend))


def _further_problems(columns: Columns) -> Iterator[tuple[Where, str]]:
    for at, fields in columns.get("further", {}).items():
        try:
            compiled(at)
        except ValueError as error:
            yield ("further", at), f"{error}; write it as in choices/*/delta"
        try:
            is_object = isinstance(json.loads(fields), dict)
        except ValueError:
            is_object = False
        if not is_object:
            yield ("further", at), f"{fields!r} is not a JSON object; write it as in '{{\"logprobs\": null}}'"


def _error_problems(columns: Columns) -> Iterator[tuple[Where, str]]:
    for where, template in _templates(columns):
        try:
            found = set(errors.placeholders(json.loads(template)))
        except ValueError as error:
            yield where, f"{template!r} is not JSON: {error}"
            continue
        yield from ((where, f"no such placeholder: {name!r}") for name in sorted(found - errors.PLACEHOLDERS))
        if errors.MESSAGE not in found:
            yield where, f"{template!r} has no place for {errors.MESSAGE}"
    for number, each in enumerate(columns.get("statuses", ())):
        if "means" in each and each["status"] != 200:
            yield ("statuses", number, "means"), f"a status of {each['status']} means itself; leave it out"
        if "body" not in each and "error_body" not in columns:
            for name in sorted({"type", "code"} & each.keys() - columns["error"].keys()):
                yield ("statuses", number, name), f"the error body has no place for a {name}; state it in `error`"


def _templates(columns: Columns) -> Iterator[tuple[Where, str]]:
    if "error_body" in columns:
        yield ("error_body",), columns["error_body"]
    for number, each in enumerate(columns.get("statuses", ())):
        if "body" in each:
            yield ("statuses", number, "body"), each["body"]
    for number, each in enumerate(columns.get("stream_errors", ())):
        yield ("stream_errors", number, "data"), each["data"]


def _url_problems(columns: Columns) -> Iterator[tuple[Where, str]]:
    for number, url in enumerate(columns["base_urls"]):
        if not url.startswith(("https://", "http://")) or url.endswith("/"):
            yield ("base_urls", number), f"{url!r} has to begin with https:// or http:// and to end without a /"
    for name, paths in (
        ("path", [columns["path"]]),
        ("stream_path", [columns["stream_path"]] if "stream_path" in columns else []),
        ("other_paths", columns.get("other_paths", [])),
    ):
        for path in paths:
            if not path.startswith("/"):
                yield (name,), f"{path!r} has to begin with a /"
    for variable in columns.get("url_variables", ()):
        if not any(f"{{{variable}}}" in url for url in columns["base_urls"]):
            yield ("url_variables", variable), f"no base URL has {{{variable}}}"


def _unknown(column: str, kind: str, name: str, known: Collection[str]) -> Iterator[tuple[Where, str]]:
    if name not in known:
        yield (column,), f"no such {kind}: {name!r}; there are {', '.join(sorted(known))}{did_you_mean(name, known)}"
