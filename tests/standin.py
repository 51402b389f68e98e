"""A stand-in for a provider: a local server that checks the key and answers with generated or altered responses."""

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
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers.api import Api
from tests.draws import theme_named

KEY = "sk-standin-0123456789abcdefghij"
Change = Callable[[Interaction], Interaction]

_ENOUGH = settings(
    max_examples=5000,
    database=None,
    derandomize=True,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


def written(api: Api, wanted: Callable[[Scenario], bool], name: str = "answers") -> Scenario:
    """Return the smallest generated scenario of an API and a theme, plain and streamed, that `wanted` accepts."""
    theme = theme_named(name)
    return find(theme.scenarios(api, "stream"), lambda each: len(each.modes) == 2 and wanted(each), settings=_ENOUGH)


@dataclass
class StandIn:
    """The stand-in.

    Attributes:
        answers: The responses by mode.
        change: Alters each response.
        requests: The requests so far.
    """

    api: Api
    url: str
    answers: Mapping[Mode, Interaction]
    change: Change = lambda answer: answer
    requests: list[Mapping[str, Any]] = field(default_factory=list)

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> Interaction:
        """Answer a request."""
        request = json.loads(body)
        self.requests.append({"path": path, "headers": dict(headers), "body": request})
        names = self.api.key_headers
        if names and not any(KEY in headers.get(name, "") for name in names):
            return Interaction(path, {}, 401, {"content-type": "application/json"}, b'{"error": {"message": "who?"}}')
        streams = request.get("stream") or "stream" in path.rpartition(":")[2]
        return self.change(self.answers["stream" if streams else "json"])


@contextmanager
def standing_in(api: Api, answers: Mapping[Mode, Interaction]) -> Iterator[StandIn]:
    """Run a stand-in for a provider."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            answer = provider.answer(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = StandIn(api, f"http://127.0.0.1:{server.server_address[1]}", answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def draft(directory: Path, api: Api, name: str = "answer", **more: Any) -> Path:
    """Write a draft."""
    path = directory / f"{name}.draft.yaml"
    document = {
        "title": "What the stand-in says",
        "provider": api.provider,
        "api": api.name,
        "call": {"model": "some-model", "messages": [{"role": "user", "content": "Say something"}]},
    }
    path.write_text(json.dumps(document | more), encoding="utf-8")  # JSON is YAML
    return path


def has_counted_text(scenario: Scenario) -> bool:
    """Return True if the answer has a message and, where the API counts tokens, a prompt token count."""
    expected = scenario.expected["json"]
    is_counted = expected.usage is not None and expected.usage.prompt_tokens is not None
    return bool(expected.message) and (is_counted or not scenario.api.count_paths)


def run(*arguments: str | Path) -> int:
    return main.main([*map(str, arguments)])


def recorded(cassette_dir: Path, provider: StandIn, *options: str) -> int:
    """Record a draft the first time, then the scenario that was made from it."""
    target = f"{provider.api.provider}/answer"
    known = (cassette_dir / f"{target}.yaml").is_file()
    source = target if known else draft(cassette_dir, provider.api)
    cassettes = f"--cassettes={cassette_dir}"
    return run("record", source, "--yes", f"--base-url={provider.url}", cassettes, *options)


def accepted(cassette_dir: Path, provider: StandIn) -> Path:
    assert recorded(cassette_dir, provider) == 0
    assert run("accept", "--yes", f"--cassettes={cassette_dir}") == 0
    return cassette_dir / provider.api.provider / "answer.yaml"


def failing(status: int) -> Callable[[Interaction], Interaction]:
    body = json.dumps({"error": {"message": "not now", "type": "server_error", "code": None}}).encode()
    return lambda answer: Interaction(answer.uri, answer.request, status, {"content-type": "application/json"}, body)
