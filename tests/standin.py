"""A provider on the loopback: it wants its key, and answers what the wire writers write, changed as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, find, settings

from llm_conformance.cli import main
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.theme import THEMES
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers.api import Api

KEY = "sk-standin-0123456789abcdefghij"
Change = Callable[[Interaction], Interaction]

_ENOUGH = settings(
    max_examples=2000,
    database=None,
    derandomize=True,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


def written(api: Api, wanted: Callable[[Scenario], bool]) -> Scenario:
    """Return the smallest generated answer of a provider that is as wanted, plain and streamed."""
    (theme,) = (each for each in THEMES if each.name == "answers")
    return find(theme.scenarios(api, "stream"), lambda each: len(each.modes) == 2 and wanted(each), settings=_ENOUGH)


@dataclass
class StandIn:
    """The provider. `say` is what it answers, by mode; `change` what becomes of that; `asked` all requests."""

    api: Api
    url: str
    say: Mapping[Mode, Interaction]
    change: Change = lambda told: told
    asked: list[Mapping[str, Any]] = field(default_factory=list)

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> Interaction:
        """Answer a request."""
        request = json.loads(body)
        self.asked.append({"path": path, "headers": dict(headers), "body": request})
        names = self.api.key_headers
        if names and not any(KEY in headers.get(name, "") for name in names):
            return Interaction(path, {}, 401, {"content-type": "application/json"}, b'{"error": {"message": "who?"}}')
        streams = request.get("stream") or "stream" in path.rpartition(":")[2]
        return self.change(self.say["stream" if streams else "json"])


@contextmanager
def standing_in(api: Api, say: Mapping[Mode, Interaction]) -> Iterator[StandIn]:
    """Run a provider on the loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            told = provider.answer(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            self.send_response(told.status)
            for name, value in told.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(told.body)))
            self.end_headers()
            self.wfile.write(told.body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = StandIn(api, f"http://127.0.0.1:{server.server_address[1]}", say)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def draft(directory: Path, api: Api, name: str = "answer", **more: Any) -> Path:
    """Write a draft of a conversation with a provider."""
    path = directory / f"{name}.draft.yaml"
    document = {
        "title": "What the stand-in says",
        "provider": api.provider,
        "api": api.name,
        "call": {"model": "some-model", "messages": [{"role": "user", "content": "Say something"}]},
    }
    path.write_text(json.dumps(document | more), encoding="utf-8")  # JSON is YAML, and has no aliases
    return path


def told(scenario: Scenario) -> bool:
    """Whether an answer says something, and counts it."""
    expected = scenario.expected["json"]
    return bool(expected.message) and expected.usage is not None and expected.usage.prompt_tokens is not None


def run(*arguments: str | Path) -> int:
    return main.main([*map(str, arguments)])


def recorded(cassette_dir: Path, provider: StandIn, *options: str) -> int:
    """Record the draft's scenario, or once it is there, that."""
    target = f"{provider.api.provider}/answer"
    known = (cassette_dir / f"{target}.yaml").is_file()
    source = target if known else draft(cassette_dir, provider.api)
    home_option = f"--cassettes={cassette_dir}"
    return run("record", source, "--yes", f"--base-url={provider.url}", home_option, *options)


def accepted(cassette_dir: Path, provider: StandIn) -> Path:
    assert recorded(cassette_dir, provider) == 0
    assert run("accept", "--yes", f"--cassettes={cassette_dir}") == 0
    return cassette_dir / provider.api.provider / "answer.yaml"


def failing(status: int) -> Callable[[Interaction], Interaction]:
    body = json.dumps({"error": {"message": "not now", "type": "server_error", "code": None}}).encode()
    return lambda told: Interaction(told.uri, told.request, status, {"content-type": "application/json"}, body)
