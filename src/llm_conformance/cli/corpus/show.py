"""`llm-conformance corpus show`: show a scenario beside its public recordings, or a recording alone."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from llm_conformance.cli.command import UsageError
from llm_conformance.cli.corpus import interaction_text
from llm_conformance.corpus import lookup, manifest, places
from llm_conformance.corpus.lookup import Found, LookupFailedError
from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios import load
from llm_conformance.scenarios.checks.references import references
from llm_conformance.scenarios.load import ScenarioFile
from llm_conformance.wording import did_you_mean, listed
from llm_conformance.yaml_files import BadFileError

_NARROW = 100
"""In columns. A narrower terminal shows the texts one after the other."""


def show(name: str, only_recording: bool, full: bool, plain: bool) -> int:
    """Print a scenario beside its public recordings, or a recording; return 1 if there is nothing to print.

    Args:
        name: The id of a scenario (`openai/refusal`), or of a recording (`langchain-openai/tests/...`).
        only_recording: Whether to leave out the scenario's own request and response.
        full: Whether to show everything at full length.
        plain: Whether to print one after the other even in a wide terminal.
    """
    try:
        if name.partition("/")[0] in {each.name for each in manifest.packages()}:
            return _show_recordings(name, full)
        return _show_scenario(_scenario(name), only_recording, full, plain)
    except (LookupFailedError, BadFileError) as error:
        print(interaction_text.visible(str(error)), file=sys.stderr)
        return 1


def _show_recordings(id: str, full: bool) -> int:
    found = lookup.by_id(id)
    if not found:
        raise UsageError(f"{interaction_text.visible(id)}: no such recording{did_you_mean(id, lookup.ids(), most=3)}")
    for each in found:
        print(*_heading(each), "", *interaction_text.lines(each.interaction, full), "", sep="\n")
    return 0


def _scenario(id: str) -> ScenarioFile:
    known = {load.id_of(path): path for path in load.find(CASSETTES)[0]}
    path = known.get(id)
    if path is None:
        names = [*known, *(each.name for each in manifest.packages())]
        raise UsageError(
            f"{interaction_text.visible(id)}: no such scenario or recording{did_you_mean(id, names, most=3)}\n"
            "`llm-conformance list scenarios` lists the scenarios, `llm-conformance corpus list` the packages"
        )
    return load.read(path, check=False)


def _show_scenario(file: ScenarioFile, only_recording: bool, full: bool, plain: bool) -> int:
    named = references(file.cassette.metadata)
    if not named:
        print("\n".join(_why_not(file)))
        return 1
    width = shutil.get_terminal_size((120, 24)).columns
    for mode, reference in named.items():
        found = lookup.by_reference(reference)
        shown = interaction_text.lines(found.interaction, full)
        print(f"{load.id_of(file.path)}, {mode}: {file.document['title']}")
        print(*_heading(found), "", sep="\n")
        own = [] if only_recording else interaction_text.lines(file.interaction(mode), full)
        print(*_beside(own, shown, width, is_plain=plain or width < _NARROW), "", sep="\n")
    missing = [mode for mode in file.modes if mode not in named]
    if missing:
        print(f"No public recording shows it in the mode {listed(missing)}.")
    return 0


def _beside(own: list[str], shown: list[str], width: int, is_plain: bool) -> Iterator[str]:
    if not own:
        yield from shown
    elif is_plain:
        yield from ("--- the scenario", *own, "", "--- the recording", *shown)
    else:
        rule = "-" * ((width - 3) // 2)
        left, right = ["THE SCENARIO", rule, *own], ["THE RECORDING", rule, *shown]
        at = [text.index("RESPONSE") for text in (left, right)]
        for text, place in zip((left, right), at, strict=True):  # so that both responses start in the same line
            text[place:place] = [""] * (max(at) - place)
        yield from interaction_text.side_by_side(left, right, width)


def _heading(found: Found) -> Iterator[str]:
    reference, package = found.reference, found.package
    yield interaction_text.visible(str(reference))
    yield f"    licence: {package.licence}; sha256 of {package.archive}: {package.sha256}"
    yield interaction_text.visible(f"    file: {_path(found)}")


def _path(found: Found) -> Path:
    return places.folder(found.package) / found.reference.file


def _why_not(file: ScenarioFile) -> Iterator[str]:
    metadata = file.cassette.metadata
    if metadata["provenance"] == "recorded":
        yield f"{load.id_of(file.path)} is a recording itself: {file.cassette.path}"
    else:
        yield f"No public recording is known that shows {load.id_of(file.path)}. Its grounds: {file.cassette.grounds}"
    yield f"    {metadata['source']}"
