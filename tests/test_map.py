"""The map and the walk in CONTRIBUTING.md are those of the code."""

from __future__ import annotations

import re
import tomllib
from pkgutil import resolve_name

from llm_conformance.locations import PACKAGE, ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def block(heading: str) -> list[str]:
    """Return the lines of the first text block below a heading."""
    return TEXT.partition(f"{heading}\n")[2].split("```text\n")[1].split("```")[0].splitlines()


def test_the_map_shows_the_packages_in_their_order() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    declared = [set(layer.split(" | ")) & packages for layer in contracts[0]["layers"]]
    drawn = [set(re.findall(r"\w+", line[:24])) & packages for line in block("## The map")]

    assert [layer for layer in drawn if layer] == [layer for layer in declared if layer]


def test_every_step_of_the_walk_is_in_the_code() -> None:
    walk = block("### The life of a scenario, from a file to a line in the report")

    assert len(walk) <= 15
    for line in walk:
        first, *others = line.strip().partition("  ")[0].split(", ")
        package = "" if first.startswith("conformance.") else "llm_conformance."
        resolve_name(f"{package}{first}")  # raises an error that names what is missing
        for other in others:
            resolve_name(f"{package}{first.rpartition('.')[0]}.{other}")
