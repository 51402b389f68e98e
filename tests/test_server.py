"""The replay server: recorded answers over a real socket, frame by frame, and only to those who ask for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.replay import server
from llm_conformance.replay.server import ReplayServer
from llm_conformance.scenarios import lint
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.framings.server_sent_events import EVENT_STREAM
from tests import miniature

KEYED = {"authorization": f"Bearer {CANARY_KEY}"}
ASKED = miniature.REQUEST


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    miniature.write(tmp_path)
    (loaded,) = lint.load_all([tmp_path])
    return loaded


@pytest.fixture
def replay() -> Iterator[ReplayServer]:
    made = ReplayServer()
    yield made
    made.shutdown()


def test_the_request_decides_between_json_and_stream(replay: ReplayServer, scenario: Scenario) -> None:
    serving = replay.open(scenario)
    url = f"{serving.base_url}/chat/completions"
    plain = httpx.post(url, json=ASKED, headers=KEYED)
    assert (plain.headers["content-type"], plain.content) == ("application/json", miniature.body())
    streamed = httpx.post(url, json=ASKED | {"stream": True}, headers=KEYED)
    assert (streamed.headers["content-type"], streamed.content) == ("text/event-stream", miniature.stream_body())
    assert serving.mode == "stream"


def test_a_stream_goes_out_frame_by_frame(replay: ReplayServer, scenario: Scenario) -> None:
    serving = replay.open(scenario)
    with httpx.stream(
        "POST", f"{serving.base_url}/chat/completions", json=ASKED | {"stream": True}, headers=KEYED
    ) as answer:
        assert list(answer.iter_raw()) == list(EVENT_STREAM.frames(miniature.stream_body()))


@pytest.mark.parametrize("base", ["", "/v1"])
def test_every_documented_base_is_accepted(replay: ReplayServer, scenario: Scenario, base: str) -> None:
    serving = replay.open(scenario)
    assert (
        httpx.post(f"{serving.base_url}{base}/chat/completions?beta=true", json=ASKED, headers=KEYED).status_code == 200
    )


@pytest.mark.parametrize(
    ("path", "body", "why"),
    [
        ("/v2/chat/completions", b"{}", "asked for POST {base_url}/v2/chat/completions; recorded was POST"),
        ("/chat/completions", b"{", "a body that is not JSON"),
        ("/chat/completions", b"[]", "not a JSON object"),
        ("/chat/completions", b'{"model": "x"}', 'sent /model = "x"; recorded was "deepseek-reasoner"'),
    ],
)
def test_another_request_is_refused_with_an_explanation(
    replay: ReplayServer, scenario: Scenario, path: str, body: bytes, why: str
) -> None:
    serving = replay.open(scenario)
    answer = httpx.post(f"{serving.base_url}{path}", content=body, headers=KEYED)
    assert answer.status_code == 400
    assert why in answer.json()["error"]["message"]
    assert why in (serving.mismatch or "")
    assert serving.mode is None


def test_what_was_closed_is_not_served_any_more(replay: ReplayServer, scenario: Scenario) -> None:
    serving = replay.open(scenario)
    replay.close(serving)
    assert httpx.post(f"{serving.base_url}/chat/completions", json=ASKED, headers=KEYED).status_code == 404
    assert httpx.get(f"{serving.base_url}/models").status_code == 404


def test_the_last_frame_waits_for_content(replay: ReplayServer, scenario: Scenario) -> None:
    serving = replay.open(scenario, holds=True)
    received = b""
    asked = ASKED | {"stream": True}
    with httpx.stream("POST", f"{serving.base_url}/chat/completions", json=asked, headers=KEYED) as answer:
        for piece in answer.iter_raw():
            received += piece
            if b"Ei" in piece:
                assert b"[DONE]" not in received
                serving.content_seen.set()
    assert received == miniature.stream_body()
    assert not serving.buffered


def test_patience_ends(replay: ReplayServer, scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PATIENCE_S", 0.05)
    serving = replay.open(scenario, holds=True)
    answer = httpx.post(f"{serving.base_url}/chat/completions", json=ASKED | {"stream": True}, headers=KEYED)
    assert answer.content == miniature.stream_body()
    assert serving.buffered


def test_nothing_is_left_behind(scenario: Scenario) -> None:
    before = threading.active_count()
    replay = ReplayServer()
    serving = replay.open(scenario)
    for _ in range(20):
        httpx.post(f"{serving.base_url}/chat/completions", json=ASKED, headers=KEYED)
    replay.close(serving)
    replay.shutdown()
    assert threading.active_count() <= before
