"""The replay server: it sends recorded responses over HTTP, frame by frame, and refuses any other request."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.replay.server import ReplayServer
from llm_conformance.scenarios import lint
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.framings.server_sent_events import EVENT_STREAM
from tests import miniature

KEYED = {"authorization": f"Bearer {CANARY_KEY}"}
REQUEST = miniature.REQUEST


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    miniature.write(tmp_path)
    (loaded,) = lint.load_all([tmp_path])
    return loaded


@pytest.fixture
def replay() -> Iterator[ReplayServer]:
    replay_server = ReplayServer()
    yield replay_server
    replay_server.shutdown()


def test_the_request_decides_between_json_and_stream(replay: ReplayServer, scenario: Scenario) -> None:
    exchange = replay.open(scenario)
    url = f"{exchange.base_url}/chat/completions"
    plain = httpx.post(url, json=REQUEST, headers=KEYED)
    assert (plain.headers["content-type"], plain.content) == ("application/json", miniature.body())
    streamed = httpx.post(url, json=REQUEST | {"stream": True}, headers=KEYED)
    assert (streamed.headers["content-type"], streamed.content) == ("text/event-stream", miniature.stream_body())
    assert exchange.mode == "stream"


def test_a_stream_goes_out_frame_by_frame(replay: ReplayServer, scenario: Scenario) -> None:
    exchange = replay.open(scenario)
    with httpx.stream(
        "POST", f"{exchange.base_url}/chat/completions", json=REQUEST | {"stream": True}, headers=KEYED
    ) as answer:
        assert list(answer.iter_raw()) == list(EVENT_STREAM.frames(miniature.stream_body()))


@pytest.mark.parametrize("base", ["", "/v1"])
def test_every_documented_base_url_is_accepted(replay: ReplayServer, scenario: Scenario, base: str) -> None:
    exchange = replay.open(scenario)
    assert (
        httpx.post(f"{exchange.base_url}{base}/chat/completions?beta=true", json=REQUEST, headers=KEYED).status_code
        == 200
    )


@pytest.mark.parametrize(
    ("path", "body", "why"),
    [
        ("/v2/chat/completions", b"{}", "sent POST {base_url}/v2/chat/completions; recorded was POST"),
        ("/chat/completions", b"{", "a body that is not JSON"),
        ("/chat/completions", b"[]", "a body that is JSON, but no object"),
        ("/chat/completions", b'{"model": "x"}', 'sent /model = "x"; recorded was /model = "deepseek-reasoner"'),
    ],
)
def test_another_request_is_refused_with_an_explanation(
    replay: ReplayServer, scenario: Scenario, path: str, body: bytes, why: str
) -> None:
    exchange = replay.open(scenario)
    answer = httpx.post(f"{exchange.base_url}{path}", content=body, headers=KEYED)
    assert answer.status_code == 400
    assert why in answer.json()["error"]["message"]
    assert why in str(exchange.difference)
    assert exchange.mode is None


def test_a_closed_exchange_is_not_served(replay: ReplayServer, scenario: Scenario) -> None:
    exchange = replay.open(scenario)
    replay.close(exchange)
    assert httpx.post(f"{exchange.base_url}/chat/completions", json=REQUEST, headers=KEYED).status_code == 404
    assert httpx.get(f"{exchange.base_url}/models").status_code == 404


def test_the_last_frame_waits_for_content(replay: ReplayServer, scenario: Scenario) -> None:
    exchange = replay.open(scenario, hold_s=5)
    received = b""
    request = REQUEST | {"stream": True}
    with httpx.stream("POST", f"{exchange.base_url}/chat/completions", json=request, headers=KEYED) as answer:
        for piece in answer.iter_raw():
            received += piece
            if b"Ei" in piece:
                assert b"[DONE]" not in received
                exchange.content_shown.set()
    assert received == miniature.stream_body()
    assert not exchange.buffered


def test_the_last_frame_is_sent_in_the_end_without_content(replay: ReplayServer, scenario: Scenario) -> None:
    exchange = replay.open(scenario, hold_s=0.05)
    answer = httpx.post(f"{exchange.base_url}/chat/completions", json=REQUEST | {"stream": True}, headers=KEYED)
    assert answer.content == miniature.stream_body()
    assert exchange.buffered
    assert exchange.held_s >= 0.05


def test_no_thread_is_left_behind(scenario: Scenario) -> None:
    before = threading.active_count()
    replay = ReplayServer()
    exchange = replay.open(scenario)
    for _ in range(20):
        httpx.post(f"{exchange.base_url}/chat/completions", json=REQUEST, headers=KEYED)
    replay.close(exchange)
    replay.shutdown()
    assert threading.active_count() <= before


def test_a_refused_path_points_to_the_other_transport(replay: ReplayServer, scenario: Scenario) -> None:
    exchange = replay.open(scenario)
    httpx.post(f"{exchange.base_url}/elsewhere", json=REQUEST, headers=KEYED)
    assert "--transport=vcr (with pytest: --conformance-transport=vcr)" in str(exchange.difference)
    origin = exchange.base_url.rpartition("/")[0]
    answer = httpx.post(f"{origin}/chat/completions", json=REQUEST, headers=KEYED)
    assert "send a call's requests to its call.base_url, and before it ends" in answer.text
