"""The command `llm-conformance server`, against the reference server and broken ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from llm_conformance import schema
from llm_conformance.cli.main import main
from llm_conformance.scenarios.cassette import BareInteraction, load_bare
from llm_conformance.server.apis.known import APIS
from llm_conformance.server.catalogue import catalogue
from llm_conformance.server.conversations import CAPABILITIES, conversations
from tests.servers.broken.answers import StreamWithoutCounts
from tests.servers.broken.framing import KeyRepeated, WithoutDone
from tests.servers.broken.ollama_wire import NoReason
from tests.servers.messages import MessagesReference
from tests.servers.reference import CONTEXT, KEY, MODEL, Reference, Reply, running
from tests.shell import ROOT

CLAIMED = [name for name in CAPABILITIES if name not in ("keys", "context")]
VARIABLE = "REFERENCE_KEY"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the key into the environment."""
    monkeypatch.setenv(VARIABLE, KEY)


def asked(url: str, *options: str) -> int:
    """Run the command for a server of which everything is claimed."""
    needed = [f"--model={MODEL}", f"--key-env={VARIABLE}", f"--context={CONTEXT}"]
    return main(["server", url, *needed, *options, "--capabilities", *CLAIMED])


def test_the_reference_server_is_green_and_its_report_is_valid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.json"
    with running(Reference()) as url:
        assert asked(url, f"--report={path}") == 0

    printed = capsys.readouterr().out
    assert printed.startswith("65 calls to http://127.0.0.1:")
    assert "tokens in answers, 60 s for each" in printed
    assert "0 findings: " in printed
    report = json.loads(path.read_text("utf-8"))
    assert list(schema.problems("server-report", report)) == []
    assert report["complete"]
    assert report["findings"] == []
    assert list(report["not_judged"]) == ["SRV-53"]


def test_a_server_of_messages_is_asked_with_its_own_headers_and_at_its_own_path(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with running(MessagesReference()) as url:
        assert asked(url, "--api=messages", "--conversation=tool*") == 0
        assert asked(url, "--api=messages", "--conversation=plain", "--dry-run") == 0

    printed = capsys.readouterr().out
    assert f"POST {url}/messages" in printed
    assert "anthropic-version: 2023-06-01\nx-api-key: ***" in printed


def test_a_finding_says_what_is_wrong_why_it_matters_and_how_to_see_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, path = tmp_path / "kept", tmp_path / "report.json"
    with running(WithoutDone()) as url:
        assert asked(url, f"--keep={kept}", f"--report={path}") == 1

    printed = capsys.readouterr().out
    assert "false success: WIRE-6: A stream ends with the last event of the format" in printed
    (finding,) = json.loads(path.read_text("utf-8"))["findings"]
    assert list(schema.problems("server-report", json.loads(path.read_text("utf-8")))) == []
    assert finding["command"].startswith(f"llm-conformance server --replay={kept} --rule=WIRE-6 --conversation=")
    assert f"  Reproduce  {finding['command']}" in printed
    words = finding["command"].split()[1:]

    assert main(words) == 1  # the server has gone

    again = capsys.readouterr().out
    assert "WIRE-6" in again
    assert '"finish_reason": "stop"' in again  # from the bytes that were kept
    assert "PARTIAL" in again


def test_what_is_kept_gives_the_same_verdicts_as_the_server(tmp_path: Path) -> None:
    live, replayed = tmp_path / "live.json", tmp_path / "replayed.json"
    with running(StreamWithoutCounts()) as url:
        assert asked(url, f"--keep={tmp_path / 'kept'}", f"--report={live}") == 1

    assert main(["server", f"--replay={tmp_path / 'kept'}", f"--report={replayed}"]) == 1

    one, other = (json.loads(path.read_text("utf-8")) for path in (live, replayed))
    assert one["results"] == other["results"]
    assert one["complete"] is other["complete"] is True


def test_a_server_of_ollama_is_asked_at_its_own_path_and_kept_lines_are_judged_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, live, replayed = tmp_path / "kept", tmp_path / "live.json", tmp_path / "replayed.json"
    with running(NoReason()) as url:
        assert asked(url, "--api=ollama", "--conversation=cut", "--dry-run") == 0
        assert asked(url, "--api=ollama", f"--keep={kept}", f"--report={live}") == 1

    printed = capsys.readouterr().out
    assert f"POST {url}/api/chat" in printed
    assert '"options": {"temperature": 0, "num_predict": 4, "seed": 20260101}, "stream": false' in printed
    assert "false success: WIRE-25" in printed
    assert main(["server", f"--replay={kept}", f"--report={replayed}"]) == 1
    one, other = (json.loads(path.read_text("utf-8")) for path in (live, replayed))
    assert one["results"] == other["results"]


def test_options_of_the_user_are_added_to_those_of_a_request(capsys: pytest.CaptureFixture[str]) -> None:
    params = '--params={"options": {"num_ctx": 4096}, "keep_alive": "1m"}'

    assert asked("http://127.0.0.1:9", "--api=ollama", "--conversation=stop", params, "--dry-run") == 0

    printed = capsys.readouterr().out
    assert (
        '"options": {"stop": ["four"], "temperature": 0, "num_predict": 256, "seed": 20260101, "num_ctx": 4096}'
        in printed
    )
    assert '"stream": true, "keep_alive": "1m"' in printed


def test_the_key_is_in_nothing_that_is_kept_or_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running(KeyRepeated()) as url:
        assert asked(url, f"--keep={tmp_path / 'kept'}", f"--report={tmp_path / 'report.json'}", "-v") == 1

    printed = capsys.readouterr().out
    assert "unsafe: SRV-3" in printed
    assert KEY not in printed
    for path in tmp_path.rglob("*.json"):
        assert KEY not in path.read_text("utf-8"), path.name


def test_what_is_kept_is_a_cassette_that_adapters_can_be_judged_by(tmp_path: Path) -> None:
    with running(Reference()) as url:
        asked(url, f"--keep={tmp_path / 'kept'}", "--conversation=turns")

    _, (found,) = load_bare(tmp_path / "kept" / "turns.stream.json")

    assert isinstance(found, BareInteraction)
    assert found.interaction.streamed
    assert found.interaction.request["messages"][-1]["content"] == "And of Italy? Answer with one word."


def test_a_known_deviation_is_expected_and_a_stale_one_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = tmp_path / "known.toml"
    entry = '[[deviation]]\nrule = "{}"\nscenario = "chat/*"\nreason = "r"\nlink = "https://example.com/a/issues/7"\n'
    known.write_text(entry.format("WIRE-6"), encoding="utf-8")
    with running(WithoutDone()) as url:
        assert asked(url, f"--deviations={known}") == 0
    assert "1 known" in capsys.readouterr().out

    with running(Reference()) as url:
        assert asked(url, f"--deviations={known}") == 1
    assert f"stale: {known}:1: no cell fails; remove the entry (WIRE-6 in chat/*)" in capsys.readouterr().out


class Gateway(Reference):
    """Is reached with a header that names what is behind it."""

    def respond_to(self, headers: Mapping[str, str], content: bytes) -> Reply:
        if headers.get("x-upstream") != "reference":
            return Reply(400, "application/json", [b'{"error": {"message": "no upstream", "type": "x"}}'])
        return super().respond_to(headers, content)


def test_further_headers_are_sent_with_every_request(capsys: pytest.CaptureFixture[str]) -> None:
    with running(Gateway()) as url:
        assert asked(url) == 4
        assert "no upstream" in capsys.readouterr().err

        assert asked(url, "--header=x-upstream=reference", "--conversation=turns") == 0


def test_a_dry_run_prints_the_requests_without_the_key_and_sends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked("http://127.0.0.1:9/v1", "--dry-run") == 0

    printed = capsys.readouterr().out
    assert "POST http://127.0.0.1:9/v1/chat/completions" in printed
    assert "authorization: Bearer ***" in printed
    assert KEY not in printed
    assert '"stream_options": {"include_usage": true}' in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model=m"], "give the base URL of the server"),
        (["http://127.0.0.1:9/v1"], "--model is missing"),
        (["http://127.0.0.1:9/v1?key=k", "--model=m"], "give the base URL of the server"),
        (["http://127.0.0.1:9/v1", "--model=m"], "no connection (ConnectError); is the server running there?"),
        (["http://127.0.0.1:9/v1", "--model=m", "--key-env=NO_SUCH"], "--key-env=NO_SUCH: this environment variable"),
        (["http://127.0.0.1:9/v1", "--model=m", "--rule=WIRE-66"], "no such rule; did you mean WIRE-6"),
        (["http://127.0.0.1:9/v1", "--model=m", "--conversation=plan"], "no such conversation; did you mean plain?"),
        (["http://127.0.0.1:9/v1", "--model=m", "--capabilities", "tool"], "tool is none; did you mean tools?"),
        (["http://127.0.0.1:9/v1", "--model=m", "--capabilities", "keys"], "keys is none: --key-env claims it"),
        (["http://127.0.0.1:9/v1", "--model=m", "--max-calls=3"], "more than --max-calls=3; raise it, or choose"),
        (["http://127.0.0.1:9/v1", "--model=m", "--params=[]"], "--params: must be a JSON object"),
        (["http://127.0.0.1:9/v1", "--model=m", "--header=name"], "--header: write NAME=VALUE"),
        (["http://127.0.0.1:9/v1", "--model=m", "--timeout=0"], "--timeout=0: must be more than 0"),
        (["http://127.0.0.1:9/v1", "--model=m", "--timeout=inf"], "--timeout=inf: must be at most a day, 86400 s"),
        (["http://127.0.0.1:9/v1", "--model=m", "--timeout=nan"], "--timeout=nan: must be at most a day"),
        (["http://127.0.0.1:9/v1", "--model=m", "--context=-5"], "--context=-5: must be from 0 to 10,000,000"),
        (["http://127.0.0.1:9/v1", "--model=m", f"--params={'[' * 100_000}"], "--params: is not JSON: "),
        (["https://example.com/v1", "--model=m"], "use --yes to send requests to another machine"),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(value[-1:])[:30].replace("/", "").replace(":", ""),
)
def test_a_wrong_command_says_what_to_change(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", _no_terminal)

    assert main(["server", *options]) == 4
    assert message in capsys.readouterr().err


def _no_terminal(*_: object) -> str:
    raise EOFError


def test_a_wrong_model_or_key_ends_the_run_at_the_first_request(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(Reference()) as url:
        assert main(["server", url, "--model=other", f"--key-env={VARIABLE}"]) == 4
        assert "the path or the model (other) may be wrong" in capsys.readouterr().err

        monkeypatch.setenv(VARIABLE, "some-other-key-123")
        assert asked(url) == 4
        assert "status 401" in capsys.readouterr().err


@contextmanager
def redirecting(location: str, seen: list[str]) -> Iterator[str]:
    """Run a server that redirects; `seen` gets the paths that are asked for."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.path)
            self.send_response(307)
            self.send_header("location", location)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_address[1]}/v1"
        http.shutdown()
        thread.join()


def test_no_redirect_is_followed(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []
    with redirecting("http://127.0.0.1:9/elsewhere", []) as other, redirecting(f"{other}/chat", seen) as url:
        assert asked(url) == 4

    assert seen == ["/v1/chat/completions"]
    assert "no key follows" in capsys.readouterr().err


def test_a_directory_without_recordings_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["server", f"--replay={tmp_path}"]) == 4
    assert "is not what `llm-conformance server --keep` writes" in capsys.readouterr().err


def test_the_page_lists_all_rules_capabilities_and_conversations() -> None:
    page = (ROOT / "docs" / "servers.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith(("| `WIRE", "| `SRV"))]

    assert rows == [
        f"| `{id}` | {rule.requirement} | {', '.join(rule.apis) or 'all'} | {rule.harm} |"
        for id, rule in catalogue().items()
    ]
    for name, meaning in CAPABILITIES.items():
        assert f"| `{name}` | {meaning} |" in page
    for api in APIS:
        for each in conversations(api).values():
            assert f"\n| `{each.id}` | " in page, each.id
