"""Recording: from a draft to a cassette that replays, and what happens when the provider has changed."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any

import pytest
import yaml

from llm_conformance.recording import client
from llm_conformance.scenarios import build, cassette, lint, load
from llm_conformance.scenarios.scenario import LONGEST_REPLAY_S, Scenario, as_it_arrived
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.table import table
from tests import standin
from tests.shell import ROOT, sh
from tests.standin import KEY, StandIn, accepted, failing, has_counted_text, recorded, run

# One API for each way to send a request; other differences do not matter for recording.
APIS = list(
    {
        (api.wire, api.framing, api.names_model_in_path, api.key_headers, bool(api.url_variables)): api
        for api in reversed(list(table().values()))
    }.values()
)


@pytest.mark.usefixtures("impatient")
def test_every_kind_of_provider_is_recorded_accepted_and_replayed(tmp_path: Path) -> None:
    cassette_dir = tmp_path / "cassettes"
    cassette_dir.mkdir()
    for api in APIS:
        answers = standin.written(api, has_counted_text).interactions
        with standin.standing_in(api, answers) as provider:
            name = f"{api.name}-answer"
            # On Bedrock the model in the path tells which API it is.
            model = "some-model" if api.provider != "bedrock" else next(iter(api.models))
            call = {"model": model, "messages": [{"role": "user", "content": "Say something"}]}
            assert (
                run(
                    "record",
                    standin.draft(cassette_dir, api, name, call=call),
                    "--yes",
                    f"--base-url={provider.url}",
                    f"--cassettes={cassette_dir}",
                )
                == 0
            )
            sent = {request["path"].partition("?")[0] for request in provider.requests}
            assert sent == {api.path_for(mode, model).partition("?")[0] for mode in (False, True)}
    assert run("review", f"--cassettes={cassette_dir}") == 0
    assert run("accept", "--yes", f"--cassettes={cassette_dir}") == 0
    assert len(lint.load_all([cassette_dir])) == len(APIS)
    options = ["--adapter=adapters", f"--conformance-cassettes={cassette_dir}", "--conformance-scenario=*/*-answer"]
    options += ["--conformance-examples=0", "-q", "-p", "no:cacheprovider"]
    done = sh(sys.executable, "-m", "pytest", "conformance", *options, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    assert re.search(r"right: (\d+) of \1 recorded", done.stdout), done.stdout


def test_a_new_recording_has_its_source_in_the_metadata(cassette_dir: Path, provider: StandIn, chat: Scenario) -> None:
    loaded = cassette.load(accepted(cassette_dir, provider))
    metadata = dict(loaded.metadata)
    assert metadata["provenance"] == "recorded"
    assert metadata["endpoint"] == f"{provider.url}/chat/completions"
    assert metadata["model_asked"] == "some-model"
    assert metadata["model_answered"] == chat.expected["json"].model
    assert metadata["digest"] == cassette.digest(loaded.interactions)
    assert [sum(each["bytes"]) for each in metadata["arrival"]] == [len(each.body) for each in loaded.interactions]
    assert loaded.interactions[0].uri == "https://api.openai.com/v1/chat/completions"


def test_a_busy_provider_is_retried(cassette_dir: Path, provider: StandIn) -> None:
    def busy_at_first(response: Interaction) -> Interaction:
        return failing(429)(response) if len(provider.requests) < 3 else response

    provider.change = busy_at_first
    assert recorded(cassette_dir, provider) == 0
    notes = json.loads((cassette_dir / "openai/answer.proposed/notes.json").read_text("utf-8"))
    assert notes["attempts"] == [3, 1]


def test_a_wrong_key_is_not_retried(
    cassette_dir: Path, provider: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-0123456789abcdefghij")
    assert recorded(cassette_dir, provider) == 1
    assert "answers with status 401; check OPENAI_API_KEY" in capsys.readouterr().out
    assert len(provider.requests) == 1
    assert not list(cassette_dir.rglob("*.proposed"))


def test_without_a_key_nothing_is_sent(
    cassette_dir: Path, provider: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert recorded(cassette_dir, provider) == 1
    assert "OPENAI_API_KEY is not set: 1 scenario of 1 not recorded" in capsys.readouterr().out
    assert not provider.requests


def test_record_asks_before_it_sends_requests(
    cassette_dir: Path, provider: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    accepted(cassette_dir, provider)
    provider.requests.clear()
    monkeypatch.setattr("builtins.input", lambda _prompt: "n")
    assert run("record", "openai/answer", f"--base-url={provider.url}", f"--cassettes={cassette_dir}") == 1
    output = capsys.readouterr().out
    assert "2 calls for 1 scenario:" in output
    assert "Prices: https://platform.openai.com/docs/pricing" in output
    assert not provider.requests
    monkeypatch.setattr("builtins.input", lambda _prompt: "y")
    assert run("record", "openai/answer", f"--base-url={provider.url}", f"--cassettes={cassette_dir}") == 0
    assert len(provider.requests) == 2


def test_a_dry_run_prints_the_requests_without_the_key(
    cassette_dir: Path, provider: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    assert recorded(cassette_dir, provider, "--dry-run") == 0
    output = capsys.readouterr().out
    assert output.count(f"POST {provider.url}/chat/completions") == 2
    assert '"model": "some-model"' in output
    assert "authorization: Bearer ***" in output
    assert KEY not in output
    assert not provider.requests


def test_another_model_is_requested(cassette_dir: Path, provider: StandIn) -> None:
    accepted(cassette_dir, provider)
    assert recorded(cassette_dir, provider, "--model=other-model") == 0
    assert provider.requests[-1]["body"]["model"] == "other-model"
    proposed = yaml.safe_load((cassette_dir / "openai/answer.proposed/answer.scenario.yaml").read_text("utf-8"))
    assert proposed["call"]["model"] == "other-model"


def test_only_old_recordings_are_recorded_again(
    cassette_dir: Path, provider: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    path = accepted(cassette_dir, provider)
    everything = [
        "record",
        "--all",
        "--yes",
        "--older-than=90d",
        f"--base-url={provider.url}",
        f"--cassettes={cassette_dir}",
    ]
    assert run(*everything) == 0
    assert "recorded scenario of a hosted provider that is old enough" in capsys.readouterr().out
    assert run("age", "--older-than=90d", f"--cassettes={cassette_dir}") == 0
    path.write_text(re.sub(r"date: '[\d-]+'", "date: '2020-02-29'", path.read_text("utf-8")), "utf-8")
    assert run("age", "--older-than=90d", f"--cassettes={cassette_dir}") == 1
    assert re.search(r"\d+ days  2020-02-29  openai/answer", capsys.readouterr().out)
    assert run(*everything) == 0
    assert run("accept", "--yes", f"--cassettes={cassette_dir}") == 0
    assert "2020-02-29" not in path.read_text("utf-8")


def test_pytest_can_record(cassette_dir: Path, provider: StandIn) -> None:
    accepted(cassette_dir, provider)
    provider.requests.clear()
    command = [sys.executable, "-m", "pytest", f"--conformance-cassettes={cassette_dir}"]
    done = sh(*command, "--conformance-record=openai/other", cwd=cassette_dir)
    assert done.returncode == 4
    assert "openai/other: no scenario in" in done.stderr
    done = sh(*command, "--conformance-record=openai/answer", cwd=cassette_dir)
    assert "2 calls for 1 scenario" in done.stdout
    assert "cannot ask without a terminal" in done.stderr
    assert not provider.requests


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["record"], "give the ids of scenarios"),
        (["record", "nobody/*"], "--cassettes=DIR is missing"),
        (["record", "nobody/*", "--cassettes=."], "nobody/*: no scenario in"),
        (["record", "--all", "--older-than=soon", "--cassettes=."], "give days, weeks, months or years"),
        (["record", "--all", "--base-url=localhost:8080", "--cassettes=."], "must be an http:// or https:// URL"),
        (["review", "nobody/*", "--cassettes=."], "no proposed recording in"),
        (["age", "--cassettes=/nowhere"], "no such directory"),
        (["import", "/nowhere.yaml", "--into=x"], "/nowhere.yaml: no such file"),
        (["import", ".", "--into=x", "--provider=openai"], "choose one of openai:chat, openai:responses"),
    ],
)
def test_a_usage_error_is_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == 4
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_a_draft_is_read_strictly(cassette_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = standin.draft(cassette_dir, APIS[0], expected={}, modes=["plain"])
    assert run("record", path, f"--cassettes={cassette_dir}") == 4
    error = capsys.readouterr().err
    assert f"{path}:" in error
    assert 'must be "json" or "stream", and is "plain"' in error
    assert "expected: no such key" in error


def test_a_draft_needs_no_cassette(cassette_dir: Path, provider: StandIn) -> None:
    accepted(cassette_dir, provider)
    assert lint.main([str(cassette_dir)]) == 0


def test_faults_cannot_be_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("record", "deepseek/connection-refused", "--yes", "--dry-run") == 0
    assert "no provider can be asked for" in capsys.readouterr().out


CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}


def two_turns(provider: StandIn) -> Interaction:
    """Answer with a call whose id is new each time, and then with a text that repeats what the tool said."""
    messages = provider.requests[-1]["body"]["messages"]
    message: dict[str, Any]
    if messages[-1]["role"] == "tool":
        assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"]
        message = {"role": "assistant", "content": f"{messages[2]['tool_call_id']} said {messages[2]['content']}"}
    else:
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [CALL | {"id": f"call_{len(provider.requests)}"}],
        }
    finish = "tool_calls" if "tool_calls" in message else "stop"
    body = {
        "id": f"chatcmpl-{len(provider.requests)}",
        "object": "chat.completion",
        "created": 1763000000,
        "model": "some-model",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
    }
    return Interaction("", {}, 200, {"content-type": "application/json"}, json.dumps(body).encode())


def test_a_later_turn_is_recorded_with_the_new_answer_before_it(cassette_dir: Path, provider: StandIn) -> None:
    provider.change = lambda _told: two_turns(provider)
    ask = {"role": "user", "content": "What is the weather in Oslo?"}
    tool = {"role": "tool", "tool_call_id": "call_1", "content": "Rain"}
    first = standin.draft(cassette_dir, provider.api, "first", modes=["json"], call={"model": "m", "messages": [ask]})
    where = (f"--base-url={provider.url}", f"--cassettes={cassette_dir}")
    assert run("record", first, "--yes", *where) == 0
    assert run("accept", "--yes", where[1]) == 0
    request = {"model": "m", "messages": [ask, {"role": "assistant", "tool_calls": [CALL]}, tool]}
    call = {"model": "m", "messages": [ask, {"answer_of": "first"}, tool]}
    replay = {"source": "https://example.com/tools", "sent": {"/messages/1/tool_calls/0/id": "call_1"}}
    second = standin.draft(
        cassette_dir, provider.api, "second", modes=["json"], call=call, request=request, round_trip=replay
    )
    assert run("record", second, "--yes", *where) == 0
    assert run("accept", "--yes", where[1]) == 0
    assert run("record", "openai/second", "--yes", *where) == 0  # this also records the first
    new = yaml.safe_load((cassette_dir / "openai/second.proposed/second.scenario.yaml").read_text("utf-8"))
    assert new["expected"]["message"] == "call_3 said Rain"
    assert new["call"]["messages"][2]["tool_call_id"] == "call_3"
    assert new["round_trip"]["sent"] == {"/messages/1/tool_calls/0/id": "call_3"}
    assert run("review", where[1]) == 0
    assert run("accept", "openai/second", "--yes", where[1]) == 4  # alone, it does not fit the old first answer
    assert run("reject", "openai/second", where[1]) == 0
    assert run("review", where[1]) == 1  # nor does the first alone fit the old second
    assert run("record", "openai/second", "--yes", *where) == 0
    assert run("accept", "--yes", where[1]) == 0
    assert [load.id_of(each.path) for each in lint.load_all([cassette_dir])] == ["openai/first", "openai/second"]


def test_a_stream_can_be_replayed_as_it_arrived(cassette_dir: Path, provider: StandIn) -> None:
    accepted(cassette_dir, provider)
    scenario = build.build(load.read(cassette_dir / "openai/answer.scenario.yaml"), cassette_dir)
    response = scenario.interactions["stream"]
    rest = len(response.body) - 10
    scenario = replace(scenario, arrival=((10, 5), (rest, 9000)))
    paced = as_it_arrived(scenario)
    assert [len(piece) for piece in paced.pieces(response)] == [10, rest]
    assert paced.pauses_s == (0.0, LONGEST_REPLAY_S)
    assert as_it_arrived(replace(scenario, arrival=())).cuts is None


def test_a_provider_that_never_answers_is_reported(
    cassette_dir: Path, provider: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    provider.url = "http://127.0.0.1:1"
    assert recorded(cassette_dir, provider) == 1
    output = capsys.readouterr().out
    assert "openai/answer: not recorded: ConnectError at http://127.0.0.1:1" in output
    assert "next: llm-conformance review" not in output


@pytest.mark.parametrize("key", [f"{KEY}\n", f"  {KEY} "])
def test_white_space_around_a_key_is_stripped(
    cassette_dir: Path, provider: StandIn, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    assert recorded(cassette_dir, provider) == 0


def test_an_invalid_key_is_reported_without_the_key(
    cassette_dir: Path, provider: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", os.fsdecode("sk-schl\u00fcssel-0123456789".encode()))  # in any locale
    assert recorded(cassette_dir, provider) == 4
    output = capsys.readouterr()
    assert "OPENAI_API_KEY has characters that a key cannot have" in output.err
    assert "schl" not in output.out + output.err


def test_an_error_instead_of_an_answer_is_accepted_only_with_errors(
    cassette_dir: Path, provider: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    accepted(cassette_dir, provider)
    provider.change = failing(500)
    assert recorded(cassette_dir, provider) == 0
    assert "(an error: json status 500, stream status 500)" in capsys.readouterr().out
    assert run("accept", "--yes", f"--cassettes={cassette_dir}") == 4
    assert "the provider answered with an error" in capsys.readouterr().err
    assert run("accept", "--yes", "--errors", f"--cassettes={cassette_dir}") == 0


def test_retry_after_is_an_expected_value(cassette_dir: Path, provider: StandIn) -> None:
    wait = {"content-type": "application/json", "retry-after": "41"}
    provider.change = lambda response: replace(failing(429)(response), headers=wait)
    assert recorded(cassette_dir, provider) == 0
    expected = yaml.safe_load((cassette_dir / "openai/answer.proposed/answer.scenario.yaml").read_text("utf-8"))[
        "expected"
    ]
    assert expected == {"error": "RateLimitError", "retry_after": "41"}


def test_a_draft_with_an_earlier_answer_needs_a_request(
    cassette_dir: Path, provider: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    call = {"model": "m", "messages": [{"role": "user", "content": "Hi"}, {"answer_of": "first"}]}
    draft = standin.draft(cassette_dir, provider.api, call=call)
    assert run("record", draft, "--yes", f"--base-url={provider.url}", f"--cassettes={cassette_dir}") == 1
    assert "add `request:` with the body to send" in capsys.readouterr().out
    assert not provider.requests


@contextmanager
def raw_server(*pieces: bytes) -> Iterator[str]:
    """Send the pieces in answer to each request, and then a byte every tenth of a second; yield the URL."""

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            for piece in pieces:
                self.request.sendall(piece)
            with suppress(OSError):  # the client has gone
                while True:
                    self.request.sendall(b"x")
                    time.sleep(0.1)

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def test_headers_that_do_not_end_are_not_waited_for(
    cassette_dir: Path, provider: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(client, "WHOLE_S", 0.5)
    with raw_server(b"HTTP/1.1 200 OK\r\nx-slow: ") as provider.url:
        assert recorded(cassette_dir, provider) == 1
    assert "openai/answer: not recorded: it has not sent its headers within 0.5 seconds" in capsys.readouterr().out


def test_a_body_that_does_not_end_is_proposed_as_far_as_it_has_come(
    cassette_dir: Path, provider: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "WHOLE_S", 0.5)
    with raw_server(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n") as provider.url:
        assert recorded(cassette_dir, provider) == 0
    notes = json.loads((cassette_dir / "openai/answer.proposed/notes.json").read_text("utf-8"))
    assert notes["broke_off"] == ["it took longer than 0.5 seconds"] * 2


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(
    cassette_dir: Path, provider: StandIn, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with standin.standing_in(provider.api, provider.answers) as other:
        headers = {"location": f"{other.url}/v1?key={KEY}"}
        provider.change = lambda response: replace(response, status=status, headers=headers)
        assert recorded(cassette_dir, provider) == 1
        assert not other.requests
    output = capsys.readouterr().out
    assert f"redirects to {other.url.removeprefix('http://')} (status {status}), where no key is sent" in output
    assert KEY not in output
    assert len(provider.requests) == 1
    assert not list(cassette_dir.rglob("*.proposed"))


@pytest.mark.parametrize("account", ["a\x01b", "evil.example/", "evil.example?", "me@evil.example", "a b", "a\nb"])
def test_an_account_that_cannot_be_one_is_refused_before_anything_is_sent(
    cassette_dir: Path, account: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    api = table()["vertex", "generate"]
    monkeypatch.setenv(api.key_variables[0], KEY)
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "us-central1")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", account)
    draft = standin.draft(cassette_dir, api)
    assert run("record", draft, "--yes", f"--cassettes={cassette_dir}") == 4
    output = capsys.readouterr()
    assert "GOOGLE_CLOUD_PROJECT has characters that an account or a region cannot have" in output.err
    assert account not in output.out + output.err


@pytest.mark.parametrize("url", ["http://[::1/", "http://h:port/", f"http://h/?key={KEY}", "http:///v1"])
def test_a_base_url_that_is_none_is_refused_and_not_repeated(
    cassette_dir: Path, provider: StandIn, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = standin.draft(cassette_dir, provider.api)
    assert run("record", draft, "--yes", f"--base-url={url}", f"--cassettes={cassette_dir}") == 4
    error = capsys.readouterr().err
    assert "--base-url must be an http:// or https:// URL" in error
    assert KEY not in error


def test_what_is_secret_in_the_base_url_is_not_shown(
    cassette_dir: Path, provider: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda _prompt: "n")
    secret = ("somebody", "quiet-27-river", "a1b2c3d4e5f6a7b8")
    url = f"--base-url=http://{secret[0]}:{secret[1]}@127.0.0.1:1/{secret[2]}/v1"
    draft = standin.draft(cassette_dir, provider.api)
    for option in ("--dry-run", "--drafts"):
        run("record", draft, option, url, f"--cassettes={cassette_dir}")
    output = capsys.readouterr()
    assert output.out.count("127.0.0.1:1/***/v1") >= 2
    assert not [each for each in secret if each in output.out + output.err]
