"""The adapters in the documents do what the documents say: they call a library, and what they return is right."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.locations import SCHEMAS
from tests.shell import sh

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
ADAPTERS = (ROOT / "docs" / "adapters.md").read_text("utf-8")
ITEMS = ("segment", "annotation", "attachment", "tool_call")
ENVIRONMENT = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}

LIBRARY = '''
"""The library of somebody who has done their work: texts, finish words and counts of OpenAI's chat API."""

import json
from types import SimpleNamespace

import httpx

FINISH = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "content_filter": "content_filter"}
FINISH["function_call"] = "tool_calls"


class APIError(Exception):
    def __init__(self, message, status_code=None):
        super().__init__(message)
        self.status_code = status_code


def _request(model, messages, api_key, params):
    headers = {"authorization": f"Bearer {api_key}"}
    return {"headers": headers, "json": {"model": model, "messages": messages, **params}}


def chat(model, messages, base_url, api_key, timeout=5, **params):
    asked = _request(model, messages, api_key, params)
    answer = httpx.post(f"{base_url}/chat/completions", timeout=timeout, **asked).json()
    choice, usage = answer["choices"][0], answer["usage"]
    return SimpleNamespace(
        model=answer["model"],
        text=choice["message"]["content"] or "",
        finish_reason=FINISH.get(choice["finish_reason"]),
        input_tokens=usage["prompt_tokens"],
        output_tokens=usage["completion_tokens"],
        total_tokens=usage["total_tokens"],
    )


def stream(model, messages, base_url, api_key, timeout, **params):
    url, client = f"{base_url}/chat/completions", httpx.Client(timeout=timeout)
    params |= {"stream": True, "stream_options": {"include_usage": True}}
    with client, client.stream("POST", url, **_request(model, messages, api_key, params)) as answer:
        if answer.status_code != 200:
            raise APIError("no answer", answer.status_code)
        ended = refused = False
        for frame in _frames(answer):
            if frame == "[DONE]":
                return
            chunk = json.loads(frame)
            if "error" in chunk:
                raise APIError(chunk["error"].get("message"))
            piece = _piece(chunk)
            refused = refused or bool(piece.refusal)
            if piece.finish_reason is not None:
                ended = True
                if refused and piece.finish_reason == "stop":
                    piece.finish_reason = "content_filter"
            yield piece
        if not ended:
            raise APIError("the stream ended before the answer")


def _frames(answer):
    rest = b""
    for data in answer.iter_bytes():
        *lines, rest = (rest + data).split(b"\\n")
        yield from (line[5:].strip().decode() for line in lines if line.startswith(b"data:"))


def _piece(chunk):
    choice = next((each for each in chunk["choices"] if each["index"] == 0), {"delta": {}})
    delta = choice["delta"]
    return SimpleNamespace(
        text=delta.get("content") or "",
        refusal=delta.get("refusal"),
        finish_reason=FINISH.get(choice.get("finish_reason")),
        usage=chunk.get("usage"),
    )
'''


def schema(name: str) -> dict[str, Any]:
    """Return one of the schemas of the contract."""
    found: dict[str, Any] = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    return found


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Return a directory with the library."""
    (tmp_path / "mypkg.py").write_text(LIBRARY, "utf-8")
    return tmp_path


def test_the_adapter_in_the_readme_calls_its_library(directory: Path) -> None:
    (directory / "mypkg_conformance.py").write_text(README.split("```python\n")[1].split("```")[0], "utf-8")
    commands = re.findall(r"^\$ (llm-conformance (smoke|run) --adapter=mypkg_conformance\.py) +#", README, re.M)
    assert [verb for _, verb in commands] == ["smoke", "run"]
    smoke = sh("bash", "-c", commands[0][0], cwd=directory, **ENVIRONMENT)
    assert smoke.returncode == 0, smoke.stdout + smoke.stderr
    judged = sh("bash", "-c", f"{commands[1][0]} --examples=0 --rule=MSG-2", cwd=directory, **ENVIRONMENT)
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert "openai:chat" in judged.stdout
    shaped = f"{commands[1][0]} --examples=0 --scenario=openai/tokens-written-to-the-cache --rule=SHP-1 --rule=USE-1"
    judged = sh("bash", "-c", shaped, cwd=directory, **ENVIRONMENT)
    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_the_page_on_adapters_names_every_field_of_a_response() -> None:
    table = ADAPTERS.partition("## The response")[2].partition("\n## ")[0]
    fields = re.findall(r"^\| (`[^|]+) \|", table, re.M)
    response = schema("response")
    assert sorted(name for each in fields for name in re.findall(r"`(\w+)`", each)) == sorted(response["properties"])
    first = [name for each in fields[:4] for name in re.findall(r"`(\w+)`", each)]
    assert sorted(first) == sorted(response["required"])
    parts = response["$defs"]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|$", table, re.M))
    for field, part in (*((f"{name}s", name) for name in ITEMS), ("provider_meta", "provider_meta")):
        (named,) = re.findall(r"`\{(.+?)\}`", rows[field])
        assert named.split(", ") == list(parts[part]["properties"]), field
    counts = set(parts["usage"]["properties"])
    assert counts <= set(re.findall(r"`(\w+)`", rows["usage"]))


def test_the_page_on_adapters_names_every_event_with_the_field_that_it_needs() -> None:
    table = ADAPTERS.partition("## Stream events")[2].partition("```python")[0]
    rows = dict(re.findall(r"^\| `(response\.[\w.]+)` \| ([^|]+) \|$", table, re.M))
    event = schema("stream-event")
    assert list(rows) == event["properties"]["event_type"]["enum"]
    for condition in event["allOf"]:
        which = condition["if"]["properties"]["event_type"]
        for each in which.get("enum", [which.get("const")]):
            assert rows[each].startswith(f"`{condition['then']['required'][0]}`: ")
    assert [name for name in event["properties"] if f"`{name}`" not in table] == []


def test_the_streaming_adapter_passes(directory: Path) -> None:
    (example,) = (each for each in ADAPTERS.split("```python\n")[1:] if "def stream(" in each)
    (directory / "mypkg_conformance.py").write_text(example.partition("```")[0], "utf-8")
    command = "llm-conformance run --adapter=mypkg_conformance.py --examples=0"
    judged = sh("bash", "-c", command, cwd=directory, **ENVIRONMENT)
    assert judged.returncode == 0, judged.stdout + judged.stderr
