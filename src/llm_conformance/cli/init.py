"""`llm-conformance init`: the files that a project needs to be judged, with nothing of its own overwritten."""

from __future__ import annotations

import keyword
import sys
from collections.abc import Sequence
from pathlib import Path

from llm_conformance import __version__
from llm_conformance.cli.command import Commands, Options, UsageError
from llm_conformance.templating import render


def add_to(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "init",
        help="write an adapter to fill in, a workflow and a file of deviations",
        description="Write the files that a project needs: an adapter for a package, to be filled in, a GitHub "
        "workflow, and an empty file of known deviations. What is there already is left as it is.",
    )
    parser.add_argument("package", metavar="PACKAGE", help="the package that is to be judged")
    parser.add_argument("--directory", type=Path, default=Path(), metavar="DIR", help="where (the working directory)")
    parser.set_defaults(command=run, passes_on=False)


def run(options: Options, _rest: Sequence[str]) -> int:
    """Write the files, all or none."""
    package: str = options.package
    if not package.isidentifier() or keyword.iskeyword(package):
        raise UsageError(f"{package!r} is no name of a Python package; give the name by which it is imported")
    directory: Path = options.directory
    if not directory.is_dir():
        raise UsageError(f"{directory}: no such directory")
    adapter = f"{package}_conformance.py"
    values = {"package": package, "adapter": adapter, "version": __version__}
    wanted = {
        directory / adapter: render("adapter.py.txt", **values),
        directory / "conformance-deviations.toml": render("deviations.toml", kept=[], made=[], quoted=repr),
        directory / ".github/workflows/conformance.yml": render("workflow.yml", **values),
    }
    there = [path for path in wanted if path.exists()]
    if there:
        raise UsageError(f"there already, and nothing was written: {', '.join(map(str, there))}")
    try:
        for path in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
        for path, text in wanted.items():
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
            print(f"wrote {path}")
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be written: {error.strerror}") from error
    print(f"Fill in {adapter}, then: llm-conformance smoke --adapter={adapter}", file=sys.stdout)
    return 0
