"""Where a scenario is in the repository, as a Markdown link."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios import core_faults, load


def scenario(id: str) -> str:
    """Return the id of a scenario.

    It is a link to the file if the scenario is the suite's; recordings have no file here.

    A core fault has no file of its own. So its link leads to the scenario that is replayed with the fault.
    """
    path = _files().get(id)
    return f"[`{id}`](repo:{CASSETTES.name}/{path.relative_to(CASSETTES).as_posix()})" if path else f"`{id}`"


@functools.cache
def _files() -> Mapping[str, Path]:
    paths, _ = load.find(CASSETTES)
    faulty = {id: path for path in paths for id in core_faults.ids_in(path)}
    return {**faulty, **{load.id_of(path): path for path in paths}}
