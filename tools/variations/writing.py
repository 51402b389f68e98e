"""Add what a row lacks to the file of its provider. What is there stays unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomlkit

from llm_conformance.formats.recognisers import BACKEND
from llm_conformance.locations import PROVIDERS
from llm_conformance.wire.providers.api import Api
from tools.variations.id_forms import forms
from tools.variations.seen import Seen

_MOST_MODELS = 3
"""The number of models that are written for each think profile at most."""
_NO_WAY = "id of the"


def write(api: Api, seen: Seen) -> Path:
    """Add models, forms of ids and ways that the row of an API lacks. Returns the file."""
    path = PROVIDERS / f"{api.provider}.toml"
    document = tomlkit.parse(path.read_text("utf-8"))
    row: Any = document["api"][api.name]
    if "models" not in row:
        row["models"] = _models(api, seen)
    ids = {kind: forms(found) for kind, found in seen.ids.items() if found and kind not in api.ids}
    if ids:
        row.setdefault("ids", tomlkit.table()).update(ids)
    for variation, way in seen.common_first():
        stated = api.varies.get(variation, {})
        if way in stated or variation == BACKEND or variation.startswith(_NO_WAY):
            continue
        varies = row.setdefault("varies", tomlkit.table(is_super_table=True))
        varies.setdefault(variation, tomlkit.table())[way] = seen.source(variation, way)
    path.write_text(tomlkit.dumps(document), "utf-8")
    return path


def _models(api: Api, seen: Seen) -> Any:
    table = tomlkit.table()
    written: dict[str, int] = {}
    for (asked, answered), _ in seen.models.most_common():
        profile = api.think_profile(asked)
        if not asked or asked in table or written.get(profile, 0) >= _MOST_MODELS:
            continue
        written[profile] = written.get(profile, 0) + 1
        table[asked] = answered if answered != asked else ""
    return table
