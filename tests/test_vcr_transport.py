"""Replay within the process, for adapters whose base URL cannot be changed."""

from __future__ import annotations

import http.client
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.calling.certificates import cheap_certificates
from llm_conformance.replay.vcr_transport import VcrTransport
from llm_conformance.scenarios import lint
from tests import miniature

ADAPTER = """\
from adapters import ReferenceAdapters
from dataclasses import replace

class Adapter(ReferenceAdapters):
    providers = ["deepseek:chat"]
    {methods}

conformance_adapter = Adapter
"""
HARD_CODED = """
    def complete(self, call):
        return super().complete(replace(call, base_url="https://api.deepseek.com/v1"))

    def stream(self, call):
        return super().stream(replace(call, base_url="https://api.deepseek.com/v1"))
"""
ELSEWHERE = """
    def complete(self, call):
        return super().complete(replace(call, base_url="https://api.acme.test"))
"""
OTHER_MODEL = """
    def complete(self, call):
        return super().complete(replace(call, model="another"))
"""
STDLIB = """
    def complete(self, call):
        import http.client, json
        from llm_conformance.contract import HttpResponse
        connection = http.client.HTTPSConnection("api.deepseek.com")
        key = {"Authorization": f"Bearer {call.api_key}"}
        connection.request("POST", "/chat/completions", json.dumps(call.request), key)
        answer = connection.getresponse()
        return self.parse(HttpResponse(answer.status, dict(answer.headers), answer.read()), call)
"""
TELEMETRY = """
    def complete(self, call):
        import contextlib, urllib.request
        for body in (None, b"{}"):
            with contextlib.suppress(Exception):
                urllib.request.urlopen(urllib.request.Request("https://telemetry.acme.test/v1?key=1", body), timeout=1)
        return super().complete(call)
"""
RAISES_INSIDE = """
    def complete(self, call):
        import json, urllib.request
        body, key = json.dumps(call.request).encode(), {"authorization": call.api_key}
        request = urllib.request.Request(call.base_url + call.path, body, key, method="POST")
        with urllib.request.urlopen(request):
            raise RuntimeError("my own fault")
        return {}
"""
SOCKET = """
    def complete(self, call):
        import socket
        socket.create_connection(("192.0.2.1", 443), timeout=1)
"""

Judge = Callable[..., tuple[pytest.RunResult, dict[str, Any]]]


@pytest.fixture
def judge(pytester: pytest.Pytester) -> Judge:
    def run(methods: str, *arguments: str) -> tuple[pytest.RunResult, dict[str, Any]]:
        (pytester.path / "deepseek_client.py").write_text(ADAPTER.format(methods=methods))
        return miniature.run(pytester, "--adapter=deepseek_client", *arguments)

    return run


@pytest.mark.parametrize("methods", [HARD_CODED, STDLIB])
def test_a_hard_coded_url_is_served(judge: Judge, methods: str) -> None:
    result, report = judge(methods, "--conformance-transport=vcr")
    assert result.ret == 0
    judged = {(each["method"], each["status"]) for each in report["results"]}
    assert {("complete", "pass"), ("stream", "pass")} <= judged


def test_a_hard_coded_url_is_refused_by_the_replay_server(judge: Judge) -> None:
    result, report = judge(HARD_CODED, "--conformance-method=complete")
    assert result.ret == 1
    (message,) = {each["message"] for each in report["results"] if each["rule"] == "MSG-2"}
    assert "it tried api.deepseek.com" in message


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (
            ELSEWHERE,
            "it tried POST https://api.acme.test/chat/completions; recorded was POST {base_url}/chat/completions",
        ),
        (OTHER_MODEL, 'the adapter sent /model = "another"; recorded was /model = "deepseek-reasoner"'),
        (SOCKET, "192.0.2.1:443"),
        (RAISES_INSIDE, "raised RuntimeError: my own fault"),
    ],
)
def test_an_unrecorded_request_is_refused_with_an_explanation(judge: Judge, methods: str, message: str) -> None:
    result, report = judge(methods, "--conformance-transport=vcr", "--conformance-method=complete")
    assert result.ret == 1
    messages = {each["rule"]: each["message"] for each in report["results"]}
    assert message in messages["MSG-2"]


def test_a_request_to_another_host_is_named_even_if_the_adapter_hides_it(judge: Judge) -> None:
    result, report = judge(TELEMETRY, "--conformance-transport=vcr", "--conformance-method=complete")
    assert result.ret == 1
    failed = {each["rule"]: each["message"] for each in report["results"] if each["status"] == "fail"}
    assert set(failed) == {"PRV-11"}
    assert "it tried GET https://telemetry.acme.test/v1" in failed["PRV-11"]


def test_early_deltas_are_not_judged(judge: Judge) -> None:
    _, report = judge("pass", "--conformance-transport=vcr", "--conformance-rule=STR-7")
    assert {(each["method"], each["status"]) for each in report["results"] if each["mode"] == "stream"} == {
        ("stream", "vacuous"),
        ("parse_stream", "pass"),
    }


def test_a_late_request_of_a_hung_call_does_not_touch_the_open_exchange(tmp_path: Path) -> None:
    miniature.write(tmp_path)
    (scenario,) = lint.load_all([tmp_path])
    transport = VcrTransport()
    exchange = transport.open(scenario)
    refused: list[BaseException] = []

    def ask_late() -> None:
        transport.give_up(threading.get_ident())
        connection = http.client.HTTPSConnection("api.deepseek.com")
        connection.request("POST", "/chat/completions", '{"model": "another"}')
        try:
            connection.getresponse()
        except Exception as error:
            refused.append(error)

    late = threading.Thread(target=ask_late)
    late.start()
    late.join()
    transport.close(exchange)
    assert len(refused) == 1
    assert (exchange.mode, exchange.difference, exchange.foreign_requests) == (None, None, [])


@pytest.mark.parametrize("before", [None, "mine.pem"])
def test_certificates_are_replaced_only_within_the_block(monkeypatch: pytest.MonkeyPatch, before: str | None) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    if before:
        monkeypatch.setenv("SSL_CERT_FILE", before)
    with cheap_certificates():
        assert os.environ["SSL_CERT_FILE"].endswith("nobody.pem")
    assert os.environ.get("SSL_CERT_FILE") == before
    with cheap_certificates():
        del os.environ["SSL_CERT_FILE"]
    assert os.environ.get("SSL_CERT_FILE") == before
