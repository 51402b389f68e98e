"""Making hostile files, and what the suite says about them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.cli import main
from llm_conformance.scenarios.cassette import save
from tests import miniature

MESSAGES = "messages: [{role: user, content: How many legs has a spider?}]"
URI = "https://api.openai.com/v1/chat/completions"
REQUEST = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
ANSWER = {
    "id": "chatcmpl-1",
    "model": "gpt-4o",
    "created": 1762247560,
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello."}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
}


def scenario(directory: Path, old: str, new: str, name: str = "spider") -> Path:
    """Write the miniature scenario with a part of its text replaced; return its scenario file."""
    assert old in miniature.SCENARIO
    return miniature.write(directory, name, miniature.SCENARIO.replace(old, new, 1))


def with_bodies(directory: Path, plain: bytes | None = None, stream: bytes | None = None) -> Path:
    """Write the miniature scenario with other recorded bodies; return its cassette."""
    miniature.write(directory)
    cassette = directory / "mini" / "spider.yaml"
    cassette.unlink()
    one, two = miniature.interactions()
    bodies = (one.body if plain is None else plain, two.body if stream is None else stream)
    save(cassette, miniature.PROVENANCE, [replace(one, body=bodies[0]), replace(two, body=bodies[1])])
    return cassette


def bare(directory: Path, name: str = "one.json", **changes: Any) -> Path:
    """Write a bare cassette of one answer; `changes` go to its request (`uri`, `method`) or its response."""
    request = {"method": "POST", "uri": URI, "body": json.dumps(REQUEST), "headers": {}}
    headers = {"content-type": ["application/json"]}
    response: dict[str, Any] = {"status": {"code": 200, "message": "OK"}, "headers": headers}
    response["body"] = {"string": json.dumps(ANSWER)}
    request |= {key: value for key, value in changes.items() if key in ("uri", "method")}
    response |= {key: value for key, value in changes.items() if key not in ("uri", "method")}
    path = directory / "mini" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"interactions": [{"request": request, "response": response}]}))
    return path


def imported(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Import a file, or a directory, and return what the command prints."""
    main.main(["import", str(path), f"--into={path.parent}-imported"])
    return "".join(capsys.readouterr())


def only_problem(directory: Path) -> str:
    """Return the one problem that the lint has with a directory."""
    (problem,) = miniature.problems(directory)
    return problem
