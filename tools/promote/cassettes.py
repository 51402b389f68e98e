"""Write references into the metadata of cassettes. Nothing else of a file changes, so its digests stay right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from llm_conformance.scenarios.checks.references import KEY, Reference
from llm_conformance.wire.interaction import MODES, Mode

_METADATA = re.compile(r"^metadata:\n(?:  .*\n)*", re.MULTILINE)
_STATED = re.compile(rf"^  {KEY}:\n(?:    .*\n)*", re.MULTILINE)
_GROUNDS = re.compile(r"^  grounds: .*\n", re.MULTILINE)
_PROVENANCE = re.compile(r"^  provenance: .*\n", re.MULTILINE)


def write(path: Path, references: Mapping[Mode, Reference]) -> bool:
    """Replace the references of a cassette. Return True if the file has changed.

    With a reference, the grounds of the cassette become `recording`. If the last reference goes, the grounds stay as
    they are, and somebody has to look at them.
    """
    text = path.read_text("utf-8")
    found = _METADATA.search(text)
    if found is None:
        raise ValueError(f"{path}: no metadata, or not as `cassette.save` writes them")
    changed = text[: found.start()] + _with(found[0], references) + text[found.end() :]
    if changed == text:
        return False
    path.write_text(changed, "utf-8", newline="\n")
    return True


def _with(metadata: str, references: Mapping[Mode, Reference]) -> str:
    without = _STATED.sub("", metadata)
    if not references:
        return without
    lines = [f"  {KEY}:", *(f"    {mode}: {_quoted(str(references[mode]))}" for mode in MODES if mode in references)]
    own = "".join(["  grounds: recording\n", *(f"{line}\n" for line in lines)])
    if _GROUNDS.search(without):
        return _GROUNDS.sub(lambda _: own, without, count=1)
    return _PROVENANCE.sub(lambda found: found[0] + own, without, count=1)


def _quoted(text: str) -> str:
    dumped: str = yaml.safe_dump(text, allow_unicode=True, width=10**9)
    return dumped.removesuffix("...\n").strip()
