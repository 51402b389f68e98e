"""The page with the grounds of each scenario: the evidence that it rests on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios import load
from llm_conformance.scenarios.checks.references import Reference, references
from llm_conformance.scenarios.core_faults import CORE_FAULTS
from llm_conformance.scenarios.load import ScenarioFile
from llm_conformance.wording import counted

PUBLIC = "public recording"
"""The grounds of a scenario that names public recordings."""
GROUNDS: Mapping[str, str] = {
    PUBLIC: (
        "A recording in a source package of the registry shows what the scenario claims: "
        "[when it does](scenarios.md#public-recordings). `llm-conformance corpus show SCENARIO` prints both."
    ),
    "recording": "A recording of the provider has these fields, in this order.",
    "sdk": "The types of the provider's own SDK have them.",
    "documentation": "The provider's documentation shows them.",
    "report": "An issue, or a capture of somebody else, shows them.",
    "probe": "No provider is known to send this. The scenario tests robustness and counts in no verdict.",
}
_HEAD = """\
# Grounds

On what each scenario rests: the strongest evidence that its provider sends such bytes. The `metadata` of its cassette
names it.

"""
_LINK = re.compile(r"(https?://[^\s;,()]+[^\s;,().:])")


def page() -> str:
    """Return the whole page."""
    files = [load.read(path) for path in load.find(CASSETTES)[0]]
    sections = (line for grounds in GROUNDS for line in _section(grounds, files))
    return _HEAD + "\n".join((*_overview(files), "", *_core_faults(), *sections))


def _overview(files: Sequence[ScenarioFile]) -> Iterator[str]:
    counts = Counter((str(file.api), _grounds(file)) for file in files)
    total = Counter(map(_grounds, files))
    yield f"| API | {' | '.join(GROUNDS)} |"
    yield f"|---|{'---:|' * len(GROUNDS)}"
    for api in dict.fromkeys(str(file.api) for file in files):
        yield f"| `{api}` | {' | '.join(str(counts[api, each] or '') for each in GROUNDS)} |"
    yield f"| all {len(files)} | {' | '.join(str(total[each]) for each in GROUNDS)} |"


def _core_faults() -> Iterator[str]:
    yield from ("## Core faults", "", "Each API is judged by these, with the answer of one of its scenarios.", "")
    yield from ("| fault | | grounds | source |", "|---|---|---|---|")
    for name, fault in CORE_FAULTS.items():
        yield f"| `{name}` | {fault.title} | {fault.grounds} | {_linked(fault.source)} |"
    yield ""


def _section(grounds: str, files: Sequence[ScenarioFile]) -> Iterator[str]:
    found = [file for file in files if _grounds(file) == grounds]
    yield from (f"## {grounds.capitalize()}: {counted(len(found), 'scenario')}", "", GROUNDS[grounds], "")
    yield from ("| scenario | source |", "|---|---|")
    for file in found:
        path = file.path.relative_to(CASSETTES)
        shown = ", ".join(f"{mode}: {_cited(each)}" for mode, each in references(file.cassette.metadata).items())
        source = "; ".join(filter(None, [shown, _linked(file.cassette.metadata["source"])]))
        yield f"| [{load.id_of(file.path)}](repo:cassettes/{path}) | {source} |"
    yield ""


def _grounds(file: ScenarioFile) -> str:
    return PUBLIC if references(file.cassette.metadata) else str(file.cassette.grounds)


def _cited(reference: Reference) -> str:
    """Return a reference with a link to the package in the registry."""
    project = f"https://pypi.org/project/{reference.package}/{reference.version}/"
    file = reference.file.replace("|", "\\|")
    return f"[{reference.package} {reference.version}]({project}), `{file}`, interaction {reference.number}"


def _linked(source: str) -> str:
    return _LINK.sub(r"<\1>", " ".join(source.split()).replace("|", "\\|"))
