"""A suite of one scenario, and running it as a user would: what the tests of the machinery work on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.reports import files
from llm_conformance.scenarios import lint
from llm_conformance.scenarios.cassette import save
from llm_conformance.wire.interaction import Interaction
from llm_conformance.yaml_files import BadFileError
from tests import inline

URI = "https://api.deepseek.com/chat/completions"
REQUEST = {"model": "deepseek-reasoner", "messages": [{"role": "user", "content": "How many legs has a spider?"}]}
USAGE = {
    "prompt_tokens": 12,
    "completion_tokens": 30,
    "total_tokens": 42,
    "prompt_cache_hit_tokens": 0,
    "prompt_cache_miss_tokens": 12,
    "completion_tokens_details": {"reasoning_tokens": 20},
}
# No rule puts canaries into a generated answer. The adapters of the tests return a fixed answer without canaries.
PROVENANCE = {"provenance": "generated", "source": "the tests"}
SCENARIO = """\
title: Reasoning beside the answer
provider: deepseek
api: chat
call:
  model: deepseek-reasoner
  messages: [{role: user, content: How many legs has a spider?}]
recordings: {json: 0, stream: 1, same_content: true}
expected:
  id: a-1
  model: deepseek-reasoner
  created: "2025-01-21T17:35:52Z"
  message: Eight.
  reasoning: Spiders are arachnids, so not six.
  segments:
  - {type: reasoning, content: "Spiders are arachnids, so not six."}
  - {type: text, content: Eight.}
  annotations: []
  tool_calls: []
  usage: {prompt_tokens: 12, completion_tokens: 30, total_tokens: 42, cached_tokens: 0, reasoning_tokens: 20}
  finish_reason: stop
  raw_finish_reason: stop
"""


def body() -> bytes:
    """Return the plain answer."""
    message = {"role": "assistant", "content": "Eight.", "reasoning_content": "Spiders are arachnids, so not six."}
    return json.dumps(
        {
            "id": "a-1",
            "object": "chat.completion",
            "created": 1737480952,
            "model": "deepseek-reasoner",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": USAGE,
        }
    ).encode()


def stream_body() -> bytes:
    """Return the same answer as a stream."""
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "reasoning_content": ""},
        {"content": None, "reasoning_content": "Spiders are "},
        {"content": None, "reasoning_content": "arachnids, so not six."},
        {"content": "Ei", "reasoning_content": None},
        {"content": "ght.", "reasoning_content": None},
        {"content": "", "reasoning_content": None},
    ]
    chunks = [
        {
            "id": "a-1",
            "object": "chat.completion.chunk",
            "created": 1737480952,
            "model": "deepseek-reasoner",
            "choices": [{"index": 0, "delta": delta, "finish_reason": "stop" if delta is deltas[-1] else None}],
        }
        for delta in deltas
    ]
    chunks[-1]["usage"] = USAGE
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode() + b"data: [DONE]\n\n"


def interactions() -> list[Interaction]:
    """Return both recordings."""
    plain = Interaction(URI, REQUEST, 200, {"content-type": "application/json"}, body())
    streamed = Interaction(URI, REQUEST | {"stream": True}, 200, {"content-type": "text/event-stream"}, stream_body())
    return [plain, streamed]


def write(directory: Path, name: str = "spider", scenario: str = SCENARIO) -> Path:
    """Write the scenario `mini/<name>` below `directory`; return its scenario file."""
    folder = directory / "mini"
    save(folder / f"{name}.yaml", PROVENANCE, interactions())
    path = folder / f"{name}.scenario.yaml"
    path.write_text(scenario, "utf-8")
    return path


def run(pytester: pytest.Pytester, *arguments: str, apart: bool = False) -> tuple[pytest.RunResult, dict[str, Any]]:
    """Run the suite's rules on the miniature scenario; return result and report.

    `apart` is that of `inline.run`.
    """
    cassettes = pytester.path / "more"
    if not cassettes.exists():
        write(cassettes)
    report = pytester.path / "report.json"
    result = inline.run(
        pytester,
        str(RULES),
        f"--conformance-cassettes={cassettes}",
        "--conformance-scenario=mini/*",
        f"--conformance-report={report}",
        *arguments,
        apart=apart,
    )
    return result, files.read(report) if report.exists() else {}


RULES = Path(__file__).parent.parent / "conformance"
HALF_WRONG = """
from adapters import ReferenceAdapters

class conformance_adapter(ReferenceAdapters):
    def parse(self, http, call):
        return {}
"""
"""An adapter whose `parse` fails, and whose other methods pass."""


def problems(directory: Path) -> list[str]:
    """Return the problems found below `directory` as `file name:line: message`."""
    try:
        lint.load_all([directory])
    except BadFileError as bad:
        return [str(problem).removeprefix(f"{directory}/mini/") for problem in bad.problems]
    return []
