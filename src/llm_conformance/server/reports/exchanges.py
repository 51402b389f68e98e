"""The requests and answers that findings show, as texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from llm_conformance import secrets
from llm_conformance.server.findings import Finding
from llm_conformance.server.recordings import Recording

EXAMPLES = 3
"""At most this many failures of a finding are shown with their bytes."""
_SHOWN = 20_000
"""How many code points of a request or an answer are shown at most."""


def of_findings(findings: Iterable[Finding], kept: Iterable[Recording]) -> Iterator[Mapping[str, Any]]:
    """Yield the exchanges of the first failures of each finding, each once, as JSON values."""
    shown = {(each.scenario, each.mode) for finding in findings for each in finding.failures[:EXAMPLES]}
    names = {scenario.partition("/")[2]: scenario for scenario, _ in shown}
    for recording in kept:
        scenario = names.get(recording.label)
        if scenario is not None and (scenario, recording.mode) in shown:
            yield _shown(scenario, recording)


def _shown(scenario: str, recording: Recording) -> Mapping[str, Any]:
    request = json.dumps(recording.request, ensure_ascii=False)
    body = recording.body.decode("utf-8", "backslashreplace")
    return {
        "conversation": scenario,
        "mode": recording.mode,
        "request": secrets.hide(request)[:_SHOWN],
        "status": recording.status,
        "headers": dict(recording.headers),
        "body": secrets.hide(body)[:_SHOWN],
        "left_out": max(0, len(request) - _SHOWN) + max(0, len(body) - _SHOWN),
        "ended": recording.ended,
        "milliseconds": recording.milliseconds,
    }
