"""A gateway behind the line protocol: `python -m llm_conformance.shims.gateway FILE.toml API_KEY`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from llm_conformance.shims.gateway import answers, client, requests
from llm_conformance.shims.gateway.process import NotStartedError, Process, filled
from llm_conformance.shims.gateway.settings import Settings, load
from llm_conformance.shims.gateway.upstream import Upstream
from llm_conformance.yaml_files import BadFileError

Line = dict[str, Any]

ERRORS = {
    "MalformedAnswerError": "ValidationError",
    "UnreadableAnswerError": "ValidationError",
    "OutOfTimeError": "TimeoutError",
    "BrokenOffError": "ServiceUnavailableError",
    "TransportError": "ServiceUnavailableError",
    # The types of errors within a stream in OpenAI's form. Such errors have no status.
    **{"rate_limit_error": "RateLimitError", "insufficient_quota": "RateLimitError"},
    **{"overloaded_error": "ServiceUnavailableError", "api_error": "ServiceUnavailableError"},
    **{"server_error": "ServiceUnavailableError", "internal_server_error": "ServiceUnavailableError"},
    **{"authentication_error": "AuthenticationError", "invalid_request_error": "InvalidRequestError"},
    **{"timeout_error": "TimeoutError", "StreamError": "LLMError"},
}


class Gateway:
    """Answers the questions of the line protocol by asking a gateway."""

    def __init__(self, settings: Settings, api_key: str) -> None:
        self._settings, self._api_key = settings, api_key
        self._upstream = Upstream()
        self._process: Process | None = None

    def replies(self, question: Mapping[str, Any]) -> Iterator[Line]:
        """Yield the lines that answer a question."""
        if question["op"] == "describe":
            self._running()
            yield self._description()
            return
        call = question["call"]
        try:
            with self._upstream.leads_to(call["base_url"]):
                yield from self._whole(call) if question["op"] == "complete" else self._stream(call)
        except Exception as error:  # the protocol has an answer for every error
            yield {"error": self._reported(error)}

    def _description(self) -> Line:
        own = self._settings
        return {
            "name": own.name,
            "version": own.version,
            "providers": list(own.apis),
            "capabilities": list(own.capabilities),
            "errors": ERRORS,
        }

    def _whole(self, call: Mapping[str, Any]) -> Iterator[Line]:
        own = self._settings.apis[f"{call['provider']}:{call['api']}"]
        document = self._client(call).whole(requests.body(call, own, stream=False))
        yield {"response": answers.whole(document, self._asked(call), self._settings.reasoning), "native": document}

    def _stream(self, call: Mapping[str, Any]) -> Iterator[Line]:
        own = self._settings.apis[f"{call['provider']}:{call['api']}"]
        fold = answers.Fold(self._asked(call), self._settings.reasoning)
        chunks, is_done = [], False
        for chunk in self._client(call).chunks(requests.body(call, own, stream=True)):
            is_done = is_done or chunk is None
            if chunk is not None:
                chunks.append(chunk)
                for event in fold.add(chunk):
                    yield {"event": event}
        if not (is_done or fold.has_ended):
            raise client.BrokenOffError("the stream ended without a finish reason and without [DONE]")
        yield {"event": fold.end(self._settings.reasoning), "native": chunks}
        yield {"done": True}

    def _asked(self, call: Mapping[str, Any]) -> answers.Asked:
        own = self._settings
        return answers.Asked(call["provider"], call["api"], call["params"], own.capabilities, own.finish)

    def _client(self, call: Mapping[str, Any]) -> client.Client:
        own = self._settings.apis[f"{call['provider']}:{call['api']}"]
        limit = call["timeout_s"]
        places = {**self._places(), "timeout_s": f"{limit:g}", "timeout_ms": f"{limit * 1000:.0f}"}
        headers = {**self._settings.headers, **own.headers}
        headers = {name: filled(value, places) for name, value in headers.items()}
        return client.Client(f"{self._running().url}{self._settings.path}", headers, limit)

    def _running(self) -> Process:
        if self._process is None or not self._process.is_running:
            self._process = Process(self._settings, self._places())
        return self._process

    def _places(self) -> Mapping[str, str]:
        return {"upstream": self._upstream.url, "api_key": self._api_key}

    def _reported(self, error: Exception) -> Line:
        """Return an error in the form of the protocol."""
        said: Line = {"error_type": type(error).__name__, "message": str(error), "original_error": repr(error)}
        match error:
            case client.StatusError():
                said |= {"status_code": error.status, "headers": dict(error.headers)}
                is_unreadable = error.status >= 500
                if not self._upstream.requests and error.status in (400, 422):
                    said["error_type"] = "NotImplementedError"  # the gateway says that it cannot send this
            case client.StreamError():
                word, code = error.error.get("type"), error.error.get("code")
                is_unreadable = not (word or code)
                status = int(str(code)) if str(code).isdigit() else None
                said |= {"error_type": str(word or code or "StreamError"), "status_code": status}
            case httpx.TransportError():
                is_unreadable = False
                said["error_type"] = "TransportError"
            case _:
                is_unreadable = False
        if is_unreadable and self._upstream.answered_whole:
            # OpenAI's form has no other way to say that the upstream's answer is unreadable.
            said |= {"error_type": "UnreadableAnswerError", "status_code": None}
        return said


def main(arguments: Sequence[str]) -> int:
    """Answer the lines of the standard input; return the exit code."""
    path, api_key = arguments
    try:
        gateway = Gateway(load(Path(path)), api_key)
        for line in sys.stdin.buffer:
            for reply in gateway.replies(json.loads(line)):
                print(json.dumps(reply), flush=True)
    except (BadFileError, NotStartedError) as error:
        print(json.dumps({"error": {"error_type": type(error).__name__, "message": str(error)}}), flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
