"""Gateways are started with the replay as their upstream, asked as OpenAI chat, and blamed for what they do alone."""

from __future__ import annotations

import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.reports import files
from llm_conformance.shims.gateway import answers, requests
from llm_conformance.shims.gateway.process import NotStartedError, Process
from llm_conformance.shims.gateway.settings import Settings, load
from llm_conformance.shims.gateway.settings import Upstream as Own
from llm_conformance.shims.gateway.upstream import Upstream
from llm_conformance.yaml_files import BadFileError
from tests import inline
from tests.miniature import RULES

PROGRAM = Path(__file__).parent / "programs" / "gateway.py"


def gateway(folder: Path, fault: str = "") -> str:
    """Write a gateway's file; return its SPEC."""
    (folder / "gateway.toml").write_text(
        f"""name = "own"
version = "1"
command = ['{sys.executable}', '{PROGRAM}', "{{port}}", "{{upstream}}", "{fault}"]
capabilities = ["streaming", "tools", "errors", "provenance"]

[finish]
aborted = "error"

[headers]
authorization = "Bearer {{api_key}}"

[apis."deepseek:chat"]
params = ["thinking"]
""",
        "utf-8",
    )
    return "gateway:gateway.toml"


def judged(pytester: pytest.Pytester, fault: str, scenario: str) -> dict[str, Any]:
    """Return the report on a gateway."""
    inline.run(
        pytester,
        str(RULES),
        f"--adapter={gateway(pytester.path, fault)}",
        f"--conformance-scenario={scenario}",
        "--conformance-method=complete",  # the suite would wait some seconds for the text of a stream
        "--conformance-examples=0",
        "--conformance-report=report.json",
        "-q",
    )
    return files.read(pytester.path / "report.json")


def statuses(report: dict[str, Any], rule: str) -> set[str]:
    """Return how the cells of a rule ended, without those that have nothing to check."""
    return {each["status"] for each in report["results"] if each["rule"] == rule} - {"vacuous"}


def test_a_gateway_that_hands_on_everything_passes(pytester: pytest.Pytester) -> None:
    spec = gateway(pytester.path)
    result = inline.run(
        pytester,
        str(RULES),
        f"--adapter={spec}",
        "--conformance-scenario=deepseek/reasoning-beside-content",
        "--conformance-scenario=deepseek/core-chat-*",
        "--conformance-scenario=deepseek/generation-aborted",
        "--conformance-method=complete",
        "--conformance-examples=0",
        "-q",
    )
    assert result.ret == 0, result.stdout.str()
    result.stdout.fnmatch_lines(["own 1", "deepseek:chat *", "cells: * pass*"])


def test_a_gateway_that_drops_the_text_is_blamed(pytester: pytest.Pytester) -> None:
    report = judged(pytester, "drops", "deepseek/reasoning-beside-content")
    assert statuses(report, "MSG-2") == {"fail"}


def test_a_call_that_a_gateway_refuses_is_unsupported(pytester: pytest.Pytester) -> None:
    report = judged(pytester, "refuses", "deepseek/call-directly-behind-the-reasoning")
    assert statuses(report, "TOOL-1") == {"unsupported"}


def test_a_file_with_mistakes_is_refused_with_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "gateway.toml"
    path.write_text('name = "own"\ncommand = "node"\nredy = "/"\n[apis."openai:chat"]\nmodell = "m"\n', "utf-8")
    with pytest.raises(BadFileError) as raised:
        load(path)
    said = str(raised.value)
    assert f"{path}:2: `command` has to be a list" in said
    assert f"{path}:3: `redy` is unknown; did you mean ready?" in said
    assert f"{path}:5: `modell` is unknown; did you mean model?" in said


def test_a_gateway_that_is_not_installed_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gateway.toml"
    path.write_text('name = "own"\nversion = { distribution = "nowhere-at-all" }\ncommand = []\n[apis]\n', "utf-8")
    with pytest.raises(BadFileError, match=r"gateway\.toml:2: .*is the gateway installed"):
        load(path)


def test_a_gateway_that_ends_says_what_it_wrote(tmp_path: Path) -> None:
    command = (sys.executable, "-c", "raise SystemExit('no master key is set')")
    with pytest.raises(NotStartedError, match="no master key is set"):
        Process(Settings("own", None, command, tmp_path, {}), {})


def test_a_gateway_ends_with_the_program_that_asks_it(tmp_path: Path) -> None:
    gateway(tmp_path)
    process = Process(load(tmp_path / "gateway.toml"), {"upstream": "http://127.0.0.1:1", "api_key": "k"})
    port = int(process.url.rpartition(":")[2])
    stdin = process._process.stdin
    assert stdin is not None
    stdin.close()  # as the kernel does when a process is killed
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                break
        time.sleep(0.05)
    else:
        pytest.fail("the gateway still answers")
    process.close()


@contextmanager
def server(answer: bytes, *, reset: bool = False) -> Iterator[str]:
    """Yield the URL of a server that sends these bytes to one request."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            client, _ = listening.accept()
            client.recv(65536)
            client.sendall(answer)
            if reset:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/exchange-1"


def ask(upstream: Upstream) -> bytes:
    """Send a request to an upstream, as a gateway does; return what comes back."""
    with socket.create_connection(("127.0.0.1", int(upstream.url.rpartition(":")[2]))) as client:
        client.sendall(b"POST /v1/chat HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\n{}")
        return b"".join(iter(lambda: client.recv(65536), b""))


@pytest.mark.parametrize(
    ("answer", "is_whole"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", True),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}", False),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n", False),
        (b"HTTP/1.1 529 No\r\ncontent-length: 2\r\n\r\n{}", False),
    ],
)
def test_the_upstream_sends_what_the_replay_sends(answer: bytes, is_whole: bool) -> None:
    upstream = Upstream()
    with server(answer) as url, upstream.leads_to(url):
        assert ask(upstream) == answer
        for _ in range(100):
            if upstream.answered_whole == is_whole and upstream.requests == 1:
                break
            time.sleep(0.01)
        assert (upstream.answered_whole, upstream.requests) == (is_whole, 1)


def test_the_upstream_resets_where_the_replay_does() -> None:
    upstream = Upstream()
    with server(b"HTTP/1.1 200 OK\r\n", reset=True) as url, upstream.leads_to(url), pytest.raises(ConnectionResetError):
        ask(upstream)


def test_the_upstream_answers_nothing_between_calls() -> None:
    assert ask(Upstream()) == b""


def test_a_call_is_asked_in_openais_form() -> None:
    call = {
        "model": "m",
        "messages": [
            {"role": "user", "content": [{"text": "What?"}, {"inlineData": {"mimeType": "image/png", "data": "AA"}}]},
            {"message": "", "extras": {"gateway": {"role": "assistant", "content": "So."}}},
        ],
        "tools": [],
        "params": {
            "generationConfig": {"maxOutputTokens": 9, "thinkingConfig": {"includeThoughts": True}},
            "tool_choice": {"type": "tool", "name": "f"},
            "stop_sequences": ["x"],
        },
    }
    assert requests.body(call, Own(model="google/{model}", params=["thinking"]), stream=False) == {
        "model": "google/m",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
                ],
            },
            {"role": "assistant", "content": "So."},
        ],
        "max_tokens": 9,
        "thinking": {"type": "enabled"},
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "stop": ["x"],
    }


@pytest.mark.parametrize(
    "more",
    [
        {"params": {"container": "c"}},
        {"params": {"tools": [{"type": "web_search_20250305"}]}},
        {"params": {"generationConfig": {"thinkingConfig": {"thinkingLevel": "HIGH"}}}},
        {"messages": [{"role": "user", "content": [{"type": "document"}]}]},
    ],
)
def test_what_openais_form_cannot_say_is_not_asked(more: dict[str, Any]) -> None:
    call = {"model": "m", "messages": [], "tools": [], "params": {}, **more}
    with pytest.raises(NotImplementedError):
        requests.body(call, Own(params=["thinking"]), stream=False)


def test_a_tool_that_the_gateway_does_not_know_is_not_asked() -> None:
    upstream = Own(has_hosted_tools=True, unknown_tools=["*toolset*"])

    def tools(kind: str) -> Any:
        call = {"model": "m", "messages": [], "tools": [], "params": {"tools": [{"type": kind}]}}
        return requests.body(call, upstream, stream=False)["tools"]

    assert tools("web_search_20250305") == [{"type": "web_search_20250305"}]
    with pytest.raises(NotImplementedError, match="mcp_toolset"):
        tools("mcp_toolset")


def test_chunks_are_folded_as_openais_sdk_does() -> None:
    whole: dict[str, Any] = {}
    for delta in (
        {"role": "assistant", "content": "a", "tool_calls": [{"index": 1, "id": "c", "function": {"arguments": "{"}}]},
        {"content": "b", "tool_calls": [{"index": 1, "id": "c", "function": {"arguments": "}"}}], "blocks": [1]},
        {"content": None, "blocks": [2]},
    ):
        answers.accumulate(whole, delta)
    assert whole == {
        "role": "assistant",
        "content": "ab",
        "tool_calls": [{"index": 1, "id": "c", "function": {"arguments": "{}"}}],
        "blocks": [1, 2],
    }


@pytest.mark.parametrize(("api", "created"), [("chat", "1970-01-01T00:00:09+00:00"), ("messages", None)])
def test_the_time_of_an_answer_is_the_gateways_own_where_the_upstream_sends_none(api: str, created: str | None) -> None:
    asked = answers.Asked("some", api, {}, ("streaming",), {})
    fold = answers.Fold(asked, ["reasoning_content"])
    for chunk in (
        {"id": "", "model": "", "choices": []},
        {"id": "c-1", "model": "m", "created": 9, "choices": [{"index": 0, "delta": {"content": "So."}}]},
        {"id": "c-1", "model": "m", "created": 9, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ):
        list(fold.add(chunk))
    response = fold.end([])["response"]
    assert (response["id"], response["model"], response["message"]) == ("c-1", "m", "So.")
    assert response["created"] == created
